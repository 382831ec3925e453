/** Reads the beginning of a waveform until the periods of its clocks are known: a schema needs them before the first item. */
import { ChangeReader, type StepListener } from '../read/changes.js';
import { codeTable, nextPiece, storeFor } from '../read/followed.js';
import type { VcdHeader } from '../read/header.js';
import type { SignalStore } from '../read/signal-store.js';
import type { WavePlan } from './map.js';

/** Rising edges of each clock that are looked at. */
const EDGES = 16;
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_PERIOD_PS = 0xffff_ffff;

export class ClockProbe implements StepListener {
  /** Why the file ends in its beginning; null: it does not. */
  damage: string | null = null;
  private readonly store: SignalStore;
  private readonly rises: number[][];

  constructor(
    private readonly header: VcdHeader,
    private readonly plan: WavePlan,
  ) {
    this.store = storeFor(plan.followed);
    this.rises = plan.clocks.map(() => []);
  }

  /** The pieces that were read, to be read again. */
  async read(pieces: AsyncIterator<Uint8Array>): Promise<Uint8Array[]> {
    const reader = new ChangeReader(
      codeTable(this.header, this.plan.followed),
      this.store,
      this,
      this.header.end,
    );
    const read: Uint8Array[] = [];
    for (let bytes = 0; bytes < MAX_BYTES && !this.isDone(); ) {
      const piece = await nextPiece(pieces);
      if (piece === null) break;
      if (typeof piece === 'string') {
        this.damage = piece;
        break;
      }
      // The piece's memory may be reused by its source.
      const kept = Uint8Array.prototype.slice.call(piece);
      read.push(kept);
      bytes += kept.length;
      if (!this.tryFeed(reader, kept)) break;
    }
    return read;
  }

  /** In ps; 0 where a clock does not rise twice. */
  periods(): number[] {
    return this.plan.clocks.map(({ periodPs }, index) => periodPs || this.measured(this.rises[index]));
  }

  step(time: number): void {
    const { bits, nextBits, offsets, isDirty, unknown, nextUnknown } = this.store;
    this.plan.clocks.forEach(({ signal }, index) => {
      const at = this.rises[index];
      if (isDirty[signal.signal] === 0 || at.length >= EDGES) return;
      const word = offsets[signal.signal] + (signal.from >>> 5);
      const mask = 1 << (signal.from & 31);
      if (((bits[word] | unknown[word]) & mask) === 0 && (nextBits[word] & ~nextUnknown[word] & mask) !== 0)
        at.push(time);
    });
    this.store.settle();
  }

  dumping(): void {
    // Edges before and after are not of one distance; the smallest distance counts.
  }

  private isDone(): boolean {
    return this.plan.clocks.every(({ periodPs }, index) => periodPs > 0 || this.rises[index].length >= EDGES);
  }

  /** What is wrong with the changes is found again, and reported, by the pass that records. */
  private tryFeed(reader: ChangeReader, piece: Uint8Array): boolean {
    try {
      reader.feed(piece);
      return true;
    } catch {
      return false;
    }
  }

  private measured(times: readonly number[]): number {
    const { numerator, denominator } = this.header;
    const distances = times.slice(1).map((time, index) => time - times[index]);
    const shortest = Math.min(...distances);
    const ps = Math.round((shortest * numerator) / denominator);
    return Number.isFinite(ps) && ps > 0 && ps <= MAX_PERIOD_PS ? ps : 0;
  }
}
