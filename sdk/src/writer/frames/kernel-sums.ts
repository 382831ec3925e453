/**
 * The per-cycle sums of a summarizer, kept by the compiled inner loop (sdk/kernel/sums.h): frames that it takes cost it a few additions,
 * frames on the writer's plain path come in here op by op.
 */
import type { TraceSummary } from '../../format/tsum.js';
import type { Action } from '../../format/types.js';
import type { SumExports } from '../../native/kernel-exports.js';
import type { StateLayout } from '../../state/layout.js';
import type { CycleSums, Summarizer } from './summarizer.js';

/** Words of `struct sum`, in its order; all but the last two are low halves of u64. */
enum Sum {
  PERIOD = 0,
  CYCLE = 2,
  CYCLE_END = 4,
  TOTAL = 8,
  BUCKET_END = 10,
  MIN = 12,
  MAX = 14,
  SUM = 16,
  COUNTS = 18,
  WORDS = 20,
}
export const SUM_BYTES = Sum.WORDS * 4;
/** As in sums.h. */
const BUCKET_CYCLES = 1024;
const WORD = 2 ** 32;
const MAX_U64 = 0xffff_ffff_ffff_ffffn;

export class KernelSums implements Summarizer {
  readonly watched: Uint8Array;
  /** Per field of the layout: the source that sums it plus one, 0 none. */
  private readonly sourceOf: Uint16Array;
  private exports!: SumExports;

  /** @param words the `struct sum`s, one per summed field, zeroed */
  constructor(
    private readonly inner: Summarizer,
    private readonly sums: CycleSums,
    private readonly layout: StateLayout,
    private readonly words: Uint32Array,
    private readonly run: number,
  ) {
    this.watched = inner.watched;
    this.sourceOf = new Uint16Array(layout.sizes.length);
    sums.fields.forEach((summed, source) => {
      this.sourceOf[layout.fieldBase[summed.storageId] + summed.field] = source + 1;
      this.start(source);
    });
  }

  bind(exports: SumExports): void {
    this.exports = exports;
  }

  /** Goes on in the cycle the summarizer is in: after a restart it has seen what the file holds. */
  private start(source: number): void {
    const { periodPs, counts } = this.sums.fields[source];
    const open = this.sums.takeOpenCycle(source);
    const cycle = open?.cycle ?? 0n;
    const end = (cycle + 1n) * BigInt(periodPs);
    this.put(source, Sum.PERIOD, BigInt(periodPs));
    this.put(source, Sum.CYCLE, cycle);
    this.put(source, Sum.CYCLE_END, end > MAX_U64 ? MAX_U64 : end);
    this.put(source, Sum.TOTAL, open?.sum ?? 0n);
    this.put(source, Sum.MIN, MAX_U64);
    this.words[source * Sum.WORDS + Sum.COUNTS] = counts ? 1 : 0;
  }

  private put(source: number, member: Sum, value: bigint): void {
    const at = source * Sum.WORDS + member;
    this.words[at] = Number(value & 0xffff_ffffn);
    this.words[at + 1] = Number(value >> 32n);
  }

  /** Source that sums a field, by its place in the layout. */
  source(fieldRow: number): number {
    return Math.max(0, this.sourceOf[fieldRow] - 1);
  }

  /** The compiled code has a bucket to hand on. */
  takeBucket(source: number): void {
    const { words } = this;
    const at = source * Sum.WORDS;
    const first = words[at + Sum.BUCKET_END] + words[at + Sum.BUCKET_END + 1] * WORD - BUCKET_CYCLES;
    this.sums.addBucket(
      source,
      first,
      words[at + Sum.MIN],
      words[at + Sum.MIN + 1],
      words[at + Sum.MAX],
      words[at + Sum.MAX + 1],
      words[at + Sum.SUM],
      words[at + Sum.SUM + 1],
    );
  }

  watchedAction(storageId: number, field: number): Action | 0 {
    return this.inner.watchedAction(storageId, field);
  }

  op(action: Action, storageId: number, _slot: number, field: number, lo: number, hi: number): void {
    if (this.inner.watchedAction(storageId, field) !== action) return;
    this.exports.sums_add(this.run, this.source(this.layout.fieldBase[storageId] + field), lo, hi);
  }

  endFrame(timeLo: number, timeHi: number): void {
    this.exports.sums_end_frame(this.run, timeLo, timeHi);
  }

  abortFrame(): void {
    this.exports.sums_abort_frame(this.run);
  }

  finish(): TraceSummary {
    this.exports.sums_close(this.run);
    return this.inner.finish();
  }
}
