/**
 * The newest segments of a trace, each in a separate file; the oldest are let go when the bound is exceeded. Triggers and the end assemble what is
 * kept into ordinary files.
 *
 * Order of a commit: segment files, fdatasync each; fsync of the directory; then the oldest are let go: their strings appended and synced,
 * their files unlinked. What was acknowledged is durable, or was let go because newer segments are.
 */
import { appendAll } from '../../base/arrays.js';
import type { WriterOptions } from '../contract/options.js';
import type { RingReport, TriggerFile } from '../contract/ring-report.js';
import type { FinishedSegment, SegmentStore, TraceEnd } from '../file/segment-store.js';
import { FileMaker, type SpoolTrace } from './file-maker.js';
import { isSpoolName } from './layout.js';
import { type RingOptions, spanOf } from './options.js';
import { NO_TRIGGERS, type Trigger, type TriggerState } from './ring-record.js';
import { removeSpool, type SpoolFiles } from './spool-files.js';
import { SpoolUsage } from './spool-usage.js';
import { encodeSpooled, type SpoolEntry } from './spooled-segment.js';
import type { StringKeeper } from './string-keeper.js';
import { TriggerFiles } from './trigger-files.js';

/** Part of the ring that strings of segments let go may take, and what they may take of the smallest one. */
const STRINGS_SHARE = 8;
const MIN_STRING_BYTES = 8 * 1024;

/** What a spool begins with: nothing, or what was found. */
export interface SpoolStart {
  readonly entries: readonly SpoolEntry[];
  /** Ordinal of the next segment. */
  readonly nextOrdinal: number;
  readonly triggers: number;
  readonly skipped: number;
}

interface Note {
  readonly ordinal: number;
  readonly items: number;
  readonly triggers: TriggerState;
}

interface Waiting {
  readonly segment: FinishedSegment;
  readonly note: Note;
}

export class Spool implements SegmentStore {
  /** Returns what to report about triggers at a cut. */
  triggersAtCut: () => TriggerState = () => NO_TRIGGERS;
  /** The client may come back: the spool outlives the end. */
  keepsFiles = false;

  /** Oldest first. */
  private readonly live: SpoolEntry[];
  /** Let go, but part of a file that is being assembled. */
  private held: SpoolEntry[] = [];
  private readonly waiting: Waiting[] = [];
  /** Segments that the commit under way has made durable. */
  private kept = 0;
  private readonly spanPs: bigint | null;
  private readonly usage: SpoolUsage;
  private readonly maker: FileMaker;
  private readonly triggerFiles: TriggerFiles;
  private cuts: number;
  private committed: number;
  private expiredFrames: bigint;
  private finalBytes: number | null = null;
  triggers: number;
  skipped: number;

  constructor(
    private readonly files: SpoolFiles,
    private readonly strings: StringKeeper,
    private readonly trace: SpoolTrace,
    options: WriterOptions,
    private readonly ring: RingOptions,
    start: SpoolStart,
  ) {
    this.spanPs = spanOf(trace.source.schema, ring.span);
    this.live = [...start.entries];
    this.cuts = this.committed = start.nextOrdinal;
    this.triggers = start.triggers;
    this.skipped = start.skipped;
    const [first] = this.live;
    this.expiredFrames = first ? first.nextFrame - BigInt(first.numFrames) : 0n;
    const usage = new SpoolUsage(strings, trace.headerBytes);
    const maker = new FileMaker(files, strings, usage, trace, options, ring.maxBytes);
    this.triggerFiles = new TriggerFiles(files, strings, usage, maker, trace, ring.onTriggerFile);
    this.triggerFiles.onRelease = () => this.dropHeld();
    this.usage = usage;
    this.maker = maker;
    usage.add(this.live);
    usage.measure();
  }

  get path(): string {
    return this.trace.path;
  }

  get numSegments(): number {
    return this.live.length;
  }

  get bytes(): number {
    return this.finalBytes ?? this.usage.live;
  }

  get report(): RingReport {
    return {
      spoolBytes: this.usage.disk,
      peakBytes: this.usage.peak,
      expiredSegments: this.live[0]?.ordinal ?? 0,
      expiredFrames: this.expiredFrames,
      firstTimePs: this.live[0]?.timeStartPs ?? 0n,
      triggers: this.triggers,
      triggersWithoutFile: this.skipped,
      files: this.triggerFiles.list,
      failures: this.triggerFiles.failures,
    };
  }

  /** No more waiting for disk space. */
  stop(): void {
    this.maker.stop();
  }

  /** Makes a file of what is kept up to the segment cut last, as soon as that is durable. */
  request(trigger: Trigger, upTo = this.cuts - 1): void {
    this.triggerFiles.request(trigger, upTo);
    this.triggerFiles.startDue(this.live, this.committed);
  }

  /** Files of the trace's triggers that were made before the daemon was killed. */
  alreadyMade(file: TriggerFile): void {
    this.triggerFiles.alreadyMade(file);
  }

  // -- as the writer's store

  atCut(items: number): Note {
    return { ordinal: this.cuts++, items, triggers: this.triggersAtCut() };
  }

  add(segment: FinishedSegment): number {
    this.waiting.push({ segment, note: segment.note as Note });
    return segment.checkpoint.length + segment.deltas.length;
  }

  /** Never more on disk than the bound and one segment, unless files are being assembled. */
  async commit(): Promise<void> {
    while (this.waiting.length > 0) {
      const batch: SpoolEntry[] = [];
      let isFull = false;
      while (!isFull && batch.length < this.waiting.length) {
        const entry = await this.writeSegment(this.waiting[batch.length]);
        batch.push(entry);
        isFull = this.exceeds(batch.reduce((sum, { bytes }) => sum + bytes, 0));
      }
      await this.files.syncDirectory();
      this.waiting.splice(0, batch.length);
      appendAll(this.live, batch);
      this.kept += batch.length;
      this.usage.add(batch);
      this.committed = batch[batch.length - 1].ordinal + 1;
      this.triggerFiles.startDue(this.live, this.committed);
      await this.letGo();
    }
    this.kept = 0;
  }

  /** What was let go for them is gone, too: the numbers of both belong together. */
  async found(): Promise<number> {
    let whole = 0;
    for (const { note } of this.waiting) {
      const { segment } = await this.files.tryRead(note.ordinal).catch(() => ({ segment: null }));
      if (!segment) break;
      whole++;
    }
    return this.kept + whole;
  }

  async finalize({ session }: TraceEnd): Promise<number> {
    while (this.triggerFiles.underWay) await this.triggerFiles.underWay;
    const { live: segments, path } = this;
    const { dut } = this.trace.source;
    this.finalBytes = await this.maker.make({ what: 'end', path, segments, session, dut });
    return this.finalBytes;
  }

  async close(): Promise<void> {
    await this.strings.close();
    // Without the finalized file the spool is all there is.
    if (this.finalBytes === null || this.keepsFiles) return;
    await removeSpool(this.files.directory, isSpoolName);
  }

  // -- segments

  private async writeSegment({ segment, note }: Waiting): Promise<SpoolEntry> {
    const { chunks, entry } = encodeSpooled(segment, { ...note, durable: this.committed });
    await this.makeRoom();
    await this.files.writeSegment(note.ordinal, chunks);
    this.usage.measure(entry.bytes);
    return entry;
  }

  /** A simulator that is faster than the assembly of files waits for it: what is held for them would not be bounded. */
  private async makeRoom(): Promise<void> {
    const { maxBytes } = this.ring;
    if (maxBytes === undefined) return;
    const { triggerFiles, usage } = this;
    while (triggerFiles.underWay && (triggerFiles.numJobs > 1 || usage.disk > 2 * maxBytes))
      await triggerFiles.underWay;
  }

  private exceeds(more = 0): boolean {
    const { maxBytes } = this.ring;
    return maxBytes !== undefined && this.usage.file + more > maxBytes;
  }

  private async letGo(): Promise<void> {
    while (this.live.length > 1 && (this.exceeds() || this.isBeyondSpan())) {
      const [oldest] = this.live;
      if (oldest.numStrings > 0) {
        const { record } = await this.files.readSegment(oldest.ordinal);
        await this.strings.append(Number(record.nextString) - record.strings.length, record.strings);
      }
      this.live.shift();
      this.strings.forget(oldest.ordinal);
      this.usage.letGo(oldest);
      this.expiredFrames = oldest.nextFrame;
      if (this.triggerFiles.isWanted(oldest)) {
        this.held.push(oldest);
        this.usage.hold(oldest);
      } else await this.files.removeSegment(oldest.ordinal);
      await this.letStringsGo();
    }
  }

  /** Not while files are made, which read them. */
  private async letStringsGo(): Promise<void> {
    const budget = Math.max(MIN_STRING_BYTES, (this.ring.maxBytes ?? 4 * this.usage.live) / STRINGS_SHARE);
    if (this.triggerFiles.underWay || !this.strings.isDue(budget)) return;
    const waiting = this.waiting.map(({ segment }) => segment);
    await this.strings.compact(this.live, waiting, budget);
  }

  /** The segments after the oldest alone reach back far enough. */
  private isBeyondSpan(): boolean {
    const { spanPs } = this;
    if (spanPs === null) return false;
    const newest = this.live[this.live.length - 1];
    return newest.timeEndPs - this.live[1].timeStartPs >= spanPs;
  }

  private async dropHeld(): Promise<void> {
    const isGone = (entry: SpoolEntry): boolean => !this.triggerFiles.isWanted(entry);
    const gone = this.held.filter(isGone);
    this.held = this.held.filter((entry) => !isGone(entry));
    for (const entry of gone) {
      await this.files.removeSegment(entry.ordinal);
      this.usage.drop(entry);
    }
  }
}
