/** What the single bits of a waveform do in its beginning: clocks rise all the time, resets once, and the valid of an RVFI that is driven at all. */
import { ChangeReader, type StepListener } from '../read/changes.js';
import { codeTable, nextPiece, storeFor } from '../read/followed.js';
import type { VcdHeader, VcdSignal } from '../read/header.js';
import type { SignalStore } from '../read/signal-store.js';

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
