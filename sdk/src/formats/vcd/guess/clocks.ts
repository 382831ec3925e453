/** Clock and reset of a waveform, by their names and by what they do. */
import type { VcdSignal } from '../read/header.js';
import type { Activity } from './activity.js';

const CLOCK = /(^|_)(a|h|p|wb_|sys_|core_)?(clk|clock)(_|\d|i$|$)/i;
const RESET = /(^|_|n)(a|h|p|wb_|sys_|core_)?(rst|reset)(_?n)?(_?[io])?\d?$/i;
const ACTIVE_LOW = /(^n_?(rst|reset))|((rst|reset)_?n(_?[io])?\d?$)/i;
/** A reset changes at the beginning, and perhaps a few times more. */
const MAX_RESET_RISES = 16;

export const isClockName = (name: string): boolean => CLOCK.test(name);

export interface GuessedReset {
  readonly signal: VcdSignal;
  readonly isLow: boolean;
}

const nameOf = ({ path }: VcdSignal): string => path.slice(path.lastIndexOf('.') + 1);
const depthOf = ({ path }: VcdSignal): number => path.split('.').length;

/** Single bits that are called like a clock or a reset. */
export function candidates(signals: readonly VcdSignal[]): VcdSignal[] {
  return signals.filter(
    (signal) => signal.width === 1 && (CLOCK.test(nameOf(signal)) || RESET.test(nameOf(signal))),
  );
}

/** A gated clock, and one that was dumped a little later, rise a little less often. */
const SAME_RATE = 0.98;

export const isSameRate = (a: number, b: number): boolean => Math.min(a, b) >= SAME_RATE * Math.max(a, b);

/**
 * Of the signals that are called like a clock, those that rise about equally often are taken for one: simulators give the nets of a clock in
 * several scopes different codes. The clock is the outermost of those that most scopes have. Null: none rises.
 */
export function guessClock(
  signals: readonly VcdSignal[],
  activity: ReadonlyMap<number, Activity>,
): VcdSignal | null {
  const rises = ({ code }: VcdSignal): number => activity.get(code)?.rises ?? 0;
  const clocks = signals.filter(
    (signal) => signal.width === 1 && CLOCK.test(nameOf(signal)) && rises(signal) >= 2,
  );
  const groups: VcdSignal[][] = [];
  for (const clock of [...clocks].sort((a, b) => rises(b) - rises(a))) {
    const last = groups.at(-1);
    if (last && isSameRate(rises(last[0]), rises(clock))) last.push(clock);
    else groups.push([clock]);
  }
  const most = groups.reduce<VcdSignal[]>((a, b) => (b.length > a.length ? b : a), []);
  return outermost(most);
}

/** The outermost signal that is called like a reset, was active in the beginning, and is at rest in the end. */
export function guessReset(
  signals: readonly VcdSignal[],
  activity: ReadonlyMap<number, Activity>,
): GuessedReset | null {
  const resets = signals.filter((signal) => {
    if (signal.width !== 1 || !RESET.test(nameOf(signal)) || CLOCK.test(nameOf(signal))) return false;
    const seen = activity.get(signal.code);
    const rest = ACTIVE_LOW.test(nameOf(signal)) ? 1 : 0;
    return (
      seen !== undefined &&
      seen.rises <= MAX_RESET_RISES &&
      seen.last === rest &&
      (rest === 1 ? seen.rises > 0 : seen.wasSet)
    );
  });
  const best = outermost(resets);
  return best && { signal: best, isLow: ACTIVE_LOW.test(nameOf(best)) };
}

function outermost(signals: readonly VcdSignal[]): VcdSignal | null {
  return signals.reduce<VcdSignal | null>((a, b) => (a && depthOf(a) <= depthOf(b) ? a : b), null);
}
