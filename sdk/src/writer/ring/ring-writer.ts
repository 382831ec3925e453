/** A writer that keeps only the newest part of a trace (docs/how-to/flight-recorder.md): the ordinary writer on a spool, and its triggers. */
import { appendAll } from '../../base/arrays.js';
import { SessionStatus } from '../../format/session-chunk.js';
import type { Schema } from '../../format/types.js';
import type { AcceptedStats, SessionEnd, TraceStats } from '../contract/options.js';
import type { RingReport } from '../contract/ring-report.js';
import type { RecordWriter } from '../record-writer.js';
import { DEFAULT_TRIGGER_FILES, type RingOptions } from './options.js';
import type { Trigger, TriggerState } from './ring-record.js';
import type { Spool } from './spool.js';
import type { TriggerScan } from './trigger-scan.js';

export interface RingStats extends TraceStats {
  readonly ring: RingReport;
}

export class RingWriter {
  private readonly waiting: Trigger[];
  /** Waiting ones whose file ends with the next cut. */
  private due: Trigger[] = [];
  private final: RingStats | null = null;
  /** Up to here in the words that are being pushed there is no trigger; null: not known. */
  private scannedTo: number | null = null;
  private readonly afterPs: bigint;
  private readonly maxFiles: number;

  /** Use `createRing` or `resumeRing`. @param waiting triggers seen before a restart */
  constructor(
    private readonly writer: RecordWriter,
    private readonly spool: Spool,
    private readonly scan: TriggerScan,
    options: RingOptions,
    waiting: readonly Trigger[] = [],
  ) {
    this.waiting = [...waiting];
    this.afterPs = options.afterPs ?? 0n;
    this.maxFiles = options.triggerFiles ?? DEFAULT_TRIGGER_FILES;
    spool.triggersAtCut = () => this.atCut();
  }

  get path(): string {
    return this.spool.path;
  }

  get schema(): Schema {
    return this.writer.schema;
  }

  get stats(): RingStats {
    return this.final ?? this.withRing(this.writer.stats);
  }

  get accepted(): AcceptedStats {
    return this.writer.accepted;
  }

  get nextFrame(): bigint {
    return this.writer.nextFrame;
  }

  get nextString(): bigint {
    return this.writer.nextString;
  }

  get durableFrames(): bigint {
    return this.writer.durableFrames;
  }

  get windows(): readonly Uint8Array[] {
    return this.writer.windows;
  }

  get congested(): boolean {
    return this.writer.congested;
  }

  get isLarge(): boolean {
    return this.writer.isLarge;
  }

  /** As `RecordWriter.push`; a trigger's file ends with the trigger's frame, or with the last one in the time after it. */
  push(words: Uint32Array, first = 0, end = words.length): void {
    this.take(words, first, end, (from, to) => {
      this.writer.push(words, from, to);
      return to;
    });
  }

  /** The same, as `RecordWriter.pushSome`. The next call must go on with the same words. */
  pushSome(words: Uint32Array, first: number, end: number): number {
    return this.take(words, first, end, (from, to) => this.writer.pushSome(words, from, to));
  }

  /** Returns where to continue: before `end` when the writer did not take all. */
  private take(
    words: Uint32Array,
    first: number,
    end: number,
    push: (from: number, to: number) => number,
  ): number {
    for (let at = first; at < end; ) {
      const stop = this.scannedTo ?? this.scan.next(words, at, end, this.deadlinePs);
      this.scannedTo = stop;
      if (stop > at) at = push(at, stop);
      if (at < stop) return at;
      this.scannedTo = null;
      if (this.scan.isLate) this.fire((BigInt(words[at + 3]) << 32n) | BigInt(words[at + 2]));
      for (const { label, timePs } of this.scan.hits) this.note(label, timePs);
      if (this.scan.hits.length > 0 && this.afterPs === 0n) this.fireAll();
    }
    return end;
  }

  /** Makes a file of what is kept, as an event of the trace would. */
  trigger(label: string): void {
    this.note(label, this.writer.accepted.totalTimePs);
    if (this.afterPs === 0n) this.fireAll();
  }

  ready(): Promise<void> {
    return this.writer.ready();
  }

  restartStream(): void {
    this.scannedTo = null;
    this.scan.restart(Number(this.writer.nextFrame));
    this.writer.restartStream();
  }

  flush(): Promise<void> {
    return this.writer.flush();
  }

  /** Triggers that wait get their files; then what is kept becomes the trace's. A closed trace of this kind has the status RING. */
  async close(end: SessionEnd): Promise<RingStats> {
    this.fireAll();
    this.spool.keepsFiles = end.mayReturn === true;
    const status = end.status === SessionStatus.CLOSED ? SessionStatus.RING : end.status;
    const stats = await this.writer.close({ ...end, status });
    this.final ??= this.withRing(stats);
    return this.final;
  }

  abortWaiting(): void {
    this.spool.stop();
    this.writer.abortWaiting();
  }

  private withRing(stats: TraceStats): RingStats {
    const ring = this.spool.report;
    return { ...stats, firstFrame: ring.expiredFrames, ring };
  }

  private note(label: string | number, timePs: bigint): void {
    this.spool.triggers++;
    const number = this.spool.triggers - this.spool.skipped;
    if (number > this.maxFiles) this.spool.skipped++;
    else this.waiting.push({ number, label, timePs });
  }

  /** Time up to which frames belong to the trigger that has waited longest. */
  private get deadlinePs(): bigint | null {
    return this.waiting.length > 0 ? this.waiting[0].timePs + this.afterPs : null;
  }

  private fireAll(): void {
    appendAll(this.due, this.waiting.splice(0));
    this.endDue();
  }

  /** A frame at `comingPs`, later than the deadline of the first trigger, comes: the files of all triggers whose time is over end here. */
  private fire(comingPs: bigint): void {
    while (this.waiting.length > 0 && this.deadlinePs! < comingPs) this.due.push(this.waiting.shift()!);
    this.endDue();
  }

  private endDue(): void {
    if (this.due.length === 0) return;
    this.writer.endSegment();
    const due = this.due;
    this.due = [];
    // The segment cut last, here or before, is the last one of their files.
    for (const trigger of due) this.spool.request(trigger);
  }

  private atCut(): TriggerState {
    const { triggers: seen, skipped } = this.spool;
    return { seen, skipped, waiting: [...this.waiting], due: [...this.due] };
  }
}
