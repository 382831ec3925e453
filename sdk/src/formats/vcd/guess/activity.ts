/** What the single bits of a waveform do in its beginning: clocks rise all the time, resets once, and the valid of an RVFI that is driven at all. */
import { ChangeReader, type StepListener } from '../read/changes.js';
import type { VcdHeader, VcdSignal } from '../read/header.js';
import { codeTable, nextPiece, type SignalStore, storeFor } from '../read/signal-store.js';

/** Bytes of changes that are looked at. */
const MAX_BYTES = 32 * 1024 * 1024;

export interface Activity {
  /** How often the lowest bit went from 0 to 1. */
  readonly rises: number;
  /** Some bit was 1. */
  readonly wasSet: boolean;
  /** The lowest bit at the end; null: unknown. */
  readonly last: 0 | 1 | null;
}

/** By code. @param of the signals of interest, one for each code */
export async function activityOf(
  header: VcdHeader,
  of: readonly VcdSignal[],
  pieces: AsyncIterator<Uint8Array>,
): Promise<Map<number, Activity>> {
  const store = storeFor(of);
  const counter = new Counter(store, of.length);
  const reader = new ChangeReader(codeTable(header, of), store, counter, header.end);
  let bytes = 0;
  for (
    let piece = await nextPiece(pieces);
    piece instanceof Uint8Array && bytes < MAX_BYTES;
    piece = await nextPiece(pieces)
  ) {
    reader.feed(piece);
    bytes += piece.length;
  }
  reader.finish();
  return new Map(of.map(({ code }, signal) => [code, counter.activity(signal)]));
}

class Counter implements StepListener {
  private readonly rises: Uint32Array;
  private readonly wasSet: Uint8Array;

  constructor(
    private readonly store: SignalStore,
    signals: number,
  ) {
    this.rises = new Uint32Array(signals);
    this.wasSet = new Uint8Array(signals);
  }

  step(): void {
    const { bits, unknown, nextBits, nextUnknown, offsets, dirty, dirtyCount } = this.store;
    for (let i = 0; i < dirtyCount; i++) {
      const signal = dirty[i];
      const word = offsets[signal];
      const now = nextBits[word] & ~nextUnknown[word];
      if (now !== 0) this.wasSet[signal] = 1;
      if ((now & 1) === 1 && ((bits[word] | unknown[word]) & 1) === 0) this.rises[signal]++;
    }
    this.store.settle();
  }

  dumping(): void {
    // What is switched off does not rise.
  }

  activity(signal: number): Activity {
    const { bits, unknown, offsets } = this.store;
    const word = offsets[signal];
    const last = unknown[word] & 1 ? null : ((bits[word] & 1) as 0 | 1);
    return { rises: this.rises[signal], wasSet: this.wasSet[signal] === 1, last };
  }
}

// Clock and reset of a waveform, by their names and by what they do.

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
