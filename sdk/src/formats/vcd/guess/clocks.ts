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

/** The clock-like signal that most scopes have; of equal ones the outermost. Null: nothing is called like a clock and rises. */
export function guessClock(
  signals: readonly VcdSignal[],
  activity: ReadonlyMap<number, Activity>,
): VcdSignal | null {
  const uses = new Map<number, number>();
  const clocks = signals.filter((signal) => signal.width === 1 && CLOCK.test(nameOf(signal)));
  for (const { code } of clocks) uses.set(code, (uses.get(code) ?? 0) + 1);
  const running = clocks.filter(({ code }) => (activity.get(code)?.rises ?? 0) >= 2);
  const best = running.reduce<VcdSignal | null>((a, b) => {
    if (!a) return b;
    const difference = (uses.get(b.code) ?? 0) - (uses.get(a.code) ?? 0);
    if (difference !== 0) return difference > 0 ? b : a;
    const faster = (activity.get(b.code)?.rises ?? 0) - (activity.get(a.code)?.rises ?? 0);
    if (b.code !== a.code && faster !== 0) return faster > 0 ? b : a;
    return depthOf(b) < depthOf(a) ? b : a;
  }, null);
  return best;
}

/** The reset-like signal that most scopes have, that is at rest in the end. */
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
  const uses = new Map<number, number>();
  for (const { code } of resets) uses.set(code, (uses.get(code) ?? 0) + 1);
  const best = resets.reduce<VcdSignal | null>((a, b) => {
    if (!a) return b;
    const difference = (uses.get(b.code) ?? 0) - (uses.get(a.code) ?? 0);
    if (difference !== 0) return difference > 0 ? b : a;
    return depthOf(b) < depthOf(a) ? b : a;
  }, null);
  return best && { signal: best, isLow: ACTIVE_LOW.test(nameOf(best)) };
}
