/**
 * Reads the beginning of a waveform until the periods of its clocks are known, and which signals have texts or reals whatever their
 * declaration says: a schema needs both before the first item.
 */

import { MAX_PERIOD_PS } from '../../../schema/limits.js';
import { ChangeReader, type StepListener } from '../read/changes.js';
import { isReal, isText, type VcdHeader, type VcdSignal } from '../read/header.js';
import { codeTable, nextPiece, type SignalStore, storeFor } from '../read/signal-store.js';
import type { WavePlan } from './map.js';

/** Rising edges of each clock that are looked at. */
const EDGES = 16;
const MAX_BYTES = 16 * 1024 * 1024;

export class ClockProbe implements StepListener {
  /** Why the file ends in its beginning; null: it does not. */
  damage: string | null = null;
  private readonly store: SignalStore;
  private readonly rises: number[][];
  /** By code: declared as bits, but texts or reals. */
  private readonly others = new Map<number, Pick<VcdSignal, 'kind' | 'width'>>();

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

  /** In ps; 0 where a clock does not rise twice, or where a trace cannot hold it. */
  periods(): number[] {
    return this.plan.clocks.map(({ periodPs }, index) => {
      const ps = Math.round(periodPs || this.distance(index));
      return ps <= MAX_PERIOD_PS ? ps : 0;
    });
  }

  /** The shortest distance of two edges of a clock in ps, 0 where there is none. */
  distance(clock: number): number {
    const { numerator, denominator } = this.header;
    const shortest = this.rises[clock].reduce(
      (least, time, index, times) => (index === 0 ? least : Math.min(least, time - times[index - 1])),
      Number.POSITIVE_INFINITY,
    );
    return Number.isFinite(shortest) ? (shortest * numerator) / denominator : 0;
  }

  /** The signals as their changes are, or null when all are as they are declared. */
  corrected(signals: readonly VcdSignal[]): VcdSignal[] | null {
    if (this.others.size === 0) return null;
    return signals.map((signal) => ({ ...signal, ...this.others.get(signal.code) }));
  }

  step(time: number): void {
    const { bits, nextBits, offsets, isDirty, unknown, nextUnknown } = this.store;
    this.notice();
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

  private notice(): void {
    const { dirty, dirtyCount, nextOthers } = this.store;
    for (let i = 0; i < dirtyCount; i++) {
      const value = nextOthers[dirty[i]];
      const signal = this.plan.followed[dirty[i]];
      if (value === '' || signal === undefined || isReal(signal) || isText(signal)) continue;
      // A signal that has both is text, which holds both.
      if (typeof value === 'string') this.others.set(signal.code, { kind: 'string', width: 0 });
      else if (!this.others.has(signal.code)) this.others.set(signal.code, { kind: 'real', width: 64 });
    }
  }

  private isDone(): boolean {
    return this.rises.every((times) => times.length >= EDGES);
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
}
