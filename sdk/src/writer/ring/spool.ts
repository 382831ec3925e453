/**
 * The newest segments of a trace, each in a file of its own; the oldest are let go when the bound is exceeded. Triggers and the end assemble what is
 * kept into ordinary files.
 *
 * Order of a commit: segment files, fdatasync each; fsync of the directory; then the oldest are let go: their strings appended and synced,
 * their files unlinked. What was acknowledged is durable, or was let go because newer segments are.
 */
import { UscopeError } from '../../base/errors.js';
import { type SessionInfo, SessionStatus } from '../../format/session-chunk.js';
import type { Schema } from '../../format/types.js';
import type { WriterOptions } from '../options.js';
import type { FinishedSegment, SegmentStore, TraceEnd } from '../segment-store.js';
import { type AssemblySource, assemble, summaryBudget } from './assembly.js';
import { assemblyPath, isSpoolName, triggerPath } from './layout.js';
import type { RingOptions, Span } from './options.js';
import { patientOutput } from './patient-output.js';
import type { RingReport, TriggerFile } from './report.js';
import { NO_TRIGGERS, type Trigger, type TriggerState } from './ring-record.js';
import { publish, removeSpool, type SpoolFiles } from './spool-files.js';
import { stringsOf } from './spool-strings.js';
import { encodeSpooled, onDisk, type SpoolEntry } from './spooled-segment.js';
import type { StringKeeper } from './string-keeper.js';

const MIN_GROUP_BYTES = 16 * 1024;
const MAX_GROUP_BYTES = 4 * 1024 * 1024;
const GROUPS_PER_RING = 16;
/** Part of the ring that strings of segments let go may take, and what they may take of the smallest one. */
const STRINGS_SHARE = 8;
const MIN_STRING_BYTES = 8 * 1024;

/** What stays the same for all files of a trace. */
export interface SpoolTrace {
  readonly path: string;
  readonly source: Omit<AssemblySource, 'segments' | 'read' | 'strings'>;
  readonly session: SessionInfo;
  /** Bytes of the header file. */
  readonly headerBytes: number;
}

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

interface Request {
  readonly trigger: Trigger;
  /** Its file ends with this segment. */
  readonly upTo: number;
}

interface Job extends Request {
  readonly segments: readonly SpoolEntry[];
  /** Segments up to this ordinal are in the file. */
  written: number;
}

export class Spool implements SegmentStore {
  /** Says what is to be told about triggers at a cut. */
  triggersAtCut: () => TriggerState = () => NO_TRIGGERS;
  /** The client may come back: the spool outlives the end. */
  keepsFiles = false;

  /** Oldest first. */
  private readonly live: SpoolEntry[];
  /** Let go, but part of a file that is being assembled. */
  private held: SpoolEntry[] = [];
  private readonly waiting: { segment: FinishedSegment; note: Note }[] = [];
  private readonly spanPs: bigint | null;
  private readonly requests: Request[] = [];
  private readonly jobs: Job[] = [];
  private running: Promise<void> | null = null;
  private cuts: number;
  private committed: number;
  private liveBytes = 0;
  /** Of their strings in the string table of a finalized file. */
  private repeatedBytes = 0;
  private heldBytes = 0;
  private assemblyBytes = 0;
  private peakBytes = 0;
  private expiredFrames: bigint;
  private finalBytes: number | null = null;
  private stopped = false;
  private readonly made: TriggerFile[] = [];
  private readonly failures: string[] = [];
  triggers: number;
  skipped: number;

  constructor(
    private readonly files: SpoolFiles,
    private readonly strings: StringKeeper,
    private readonly trace: SpoolTrace,
    private readonly options: WriterOptions,
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
    this.liveBytes = this.live.reduce((sum, { bytes }) => sum + bytes, 0);
    this.repeatedBytes = this.live.reduce((sum, { stringBytes }) => sum + stringBytes, 0);
    this.measure();
  }

  get path(): string {
    return this.trace.path;
  }

  get numSegments(): number {
    return this.live.length;
  }

  get bytes(): number {
    return this.finalBytes ?? this.liveBytes;
  }

  get report(): RingReport {
    return {
      spoolBytes: this.diskBytes,
      peakBytes: this.peakBytes,
      expiredSegments: this.live[0]?.ordinal ?? 0,
      expiredFrames: this.expiredFrames,
      firstTimePs: this.live[0]?.timeStartPs ?? 0n,
      triggers: this.triggers,
      triggersWithoutFile: this.skipped,
      files: [...this.made],
      failures: [...this.failures],
    };
  }

  /** No more waiting for disk space. */
  stop(): void {
    this.stopped = true;
  }

  /** Segments cut so far, from the first one of the trace on. */
  get numCut(): number {
    return this.cuts;
  }

  /** Makes a file of what is kept up to the segment cut last, as soon as that is durable. */
  request(trigger: Trigger, upTo = this.cuts - 1): void {
    this.requests.push({ trigger, upTo });
    this.startDue();
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
      this.live.push(...batch);
      this.liveBytes += batch.reduce((sum, { bytes }) => sum + bytes, 0);
      this.repeatedBytes += batch.reduce((sum, { stringBytes }) => sum + stringBytes, 0);
      this.committed = batch[batch.length - 1].ordinal + 1;
      this.startDue();
      await this.letGo();
    }
  }

  async finalize(end: TraceEnd): Promise<number> {
    while (this.running) await this.running;
    const { session } = end;
    const what = 'end';
    const bytes = await this.assembleFile(what, this.live, session, this.trace.source.dut);
    await publish(assemblyPath(this.files.directory, what), this.path);
    this.finalBytes = bytes;
    return bytes;
  }

  async close(): Promise<void> {
    await this.strings.close();
    // Without the finalized file the spool is all there is.
    if (this.finalBytes === null || this.keepsFiles) return;
    await removeSpool(this.files.directory, isSpoolName);
  }

  // -- segments

  private async writeSegment({
    segment,
    note,
  }: {
    segment: FinishedSegment;
    note: Note;
  }): Promise<SpoolEntry> {
    const { chunks, entry } = encodeSpooled(segment, { ...note, durable: this.committed });
    await this.makeRoom();
    await this.files.writeSegment(note.ordinal, chunks);
    this.measure(entry.bytes);
    return entry;
  }

  /** A simulator that is faster than the assembly of files waits for it: what is held for them would not be bounded. */
  private async makeRoom(): Promise<void> {
    const { maxBytes } = this.ring;
    if (maxBytes === undefined) return;
    while (this.running && (this.jobs.length > 1 || this.diskBytes > 2 * maxBytes)) await this.running;
  }

  private get diskBytes(): number {
    return this.keptBytes + this.heldBytes + this.assemblyBytes;
  }

  private get keptBytes(): number {
    return this.liveBytes + onDisk(this.strings.size) + onDisk(this.trace.headerBytes);
  }

  /** What the bound is about: the file that would be made of it has string table and summary besides. */
  private get fileBytes(): number {
    return this.keptBytes + this.repeatedBytes + this.strings.size + summaryBudget(this.liveBytes);
  }

  private measure(more = 0): void {
    this.peakBytes = Math.max(this.peakBytes, this.diskBytes + more);
  }

  private exceeds(more = 0): boolean {
    const { maxBytes } = this.ring;
    return maxBytes !== undefined && this.fileBytes + more > maxBytes;
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
      this.liveBytes -= oldest.bytes;
      this.repeatedBytes -= oldest.stringBytes;
      this.expiredFrames = oldest.nextFrame;
      if (this.isWanted(oldest)) {
        this.held.push(oldest);
        this.heldBytes += oldest.bytes;
      } else await this.files.removeSegment(oldest.ordinal);
      await this.letStringsGo();
    }
  }

  /** Not while files are made, which read them. */
  private async letStringsGo(): Promise<void> {
    const budget = Math.max(MIN_STRING_BYTES, (this.ring.maxBytes ?? 4 * this.liveBytes) / STRINGS_SHARE);
    if (this.running || !this.strings.isDue(budget)) return;
    const waiting = this.waiting.map(({ segment }) => segment);
    await this.strings.compact(this.live, waiting, budget);
  }

  /** The segments behind the oldest alone reach back far enough. */
  private isBeyondSpan(): boolean {
    const { spanPs } = this;
    if (spanPs === null) return false;
    const newest = this.live[this.live.length - 1];
    return newest.timeEndPs - this.live[1].timeStartPs >= spanPs;
  }

  private isWanted({ ordinal }: SpoolEntry): boolean {
    return this.jobs.some(({ segments, written }) => ordinal >= segments[0].ordinal && ordinal > written);
  }

  // -- triggers

  private startDue(): void {
    for (let i = 0; i < this.requests.length; ) {
      const { upTo } = this.requests[i];
      if (upTo >= this.committed) {
        i++;
        continue;
      }
      const [request] = this.requests.splice(i, 1);
      const segments = this.live.filter(({ ordinal }) => ordinal <= upTo);
      if (segments.length > 0) this.jobs.push({ ...request, segments, written: -1 });
      else this.failures.push(`trigger ${request.trigger.number}: nothing had been recorded`);
    }
    if (this.jobs.length > 0 && !this.running) {
      this.running = this.runJobs().finally(() => {
        this.running = null;
      });
    }
  }

  private async runJobs(): Promise<void> {
    await this.strings.settled();
    for (let job = this.jobs[0]; job; job = this.jobs[0]) {
      await this.carryOut(job);
      this.jobs.shift();
      await this.dropHeld();
    }
  }

  private async carryOut(job: Job): Promise<void> {
    const { trigger, segments } = job;
    const path = triggerPath(this.path, trigger.number);
    const what = `trigger-${trigger.number}`;
    const { timePs } = trigger;
    let label = String(trigger.label);
    try {
      label = await this.labelOf(trigger, segments);
      const dut = [
        ...this.trace.source.dut,
        ['uscope.trigger', label] as const,
        ['uscope.trigger_time_ps', String(timePs)] as const,
      ];
      const session = { ...this.trace.session, status: SessionStatus.RING, endTimeMs: BigInt(Date.now()) };
      const bytes = await this.assembleFile(what, segments, session, dut, (ordinal) => {
        job.written = ordinal;
        return this.dropHeld();
      });
      await publish(assemblyPath(this.files.directory, what), path);
      const file = { path, label, timePs, bytes };
      this.made.push(file);
      this.ring.onTriggerFile?.(file, null);
    } catch (cause) {
      const error =
        cause instanceof UscopeError ? cause : new UscopeError('WRITER_IO', String(cause), { file: path });
      this.failures.push(`trigger ${trigger.number} ("${label}"): ${error.message}`);
      this.ring.onTriggerFile?.({ path, label, timePs, bytes: 0 }, error);
      await this.files.remove(assemblyPath(this.files.directory, what)).catch(() => {});
    } finally {
      this.assemblyBytes = 0;
    }
  }

  private async labelOf({ label }: Trigger, segments: readonly SpoolEntry[]): Promise<string> {
    if (typeof label === 'string') return label;
    for await (const { index, text } of stringsOf(this.files, this.strings, segments))
      if (index === label) return new TextDecoder().decode(text);
    return `#${label}`;
  }

  /** Files of the trace's triggers that were made before the daemon was killed. */
  alreadyMade(file: TriggerFile): void {
    this.made.push(file);
  }

  private async assembleFile(
    what: string,
    segments: readonly SpoolEntry[],
    session: SessionInfo,
    dut: AssemblySource['dut'],
    release?: (ordinal: number) => Promise<void>,
  ): Promise<number> {
    const path = assemblyPath(this.files.directory, what);
    await this.files.remove(path);
    const openOutput = patientOutput(this.files.openOutput, (error) => this.stalled(error));
    const { summarizer, compressionLevel } = this.options;
    const source: AssemblySource = {
      ...this.trace.source,
      dut,
      segments,
      read: (ordinal) => this.files.readSegment(ordinal),
      strings: () => stringsOf(this.files, this.strings, segments),
    };
    const onWritten = (ordinal: number, bytes: number): void | Promise<void> => {
      this.assemblyBytes = onDisk(bytes);
      this.measure();
      return release?.(ordinal);
    };
    const bytes = await assemble(source, {
      groupBytes: this.groupBytes,
      path,
      openOutput,
      session,
      summarizer,
      compressionLevel,
      onWritten,
    });
    this.assemblyBytes = onDisk(bytes);
    this.measure();
    return bytes;
  }

  /** What is in the file being made is let go from the spool group by group. */
  private get groupBytes(): number | undefined {
    const { maxBytes } = this.ring;
    return (
      maxBytes && Math.min(MAX_GROUP_BYTES, Math.max(MIN_GROUP_BYTES, Math.floor(maxBytes / GROUPS_PER_RING)))
    );
  }

  /** Whether to go on waiting for disk space. */
  private stalled(error: UscopeError | null): boolean {
    if (error && (this.stopped || this.options.onFull === 'stop')) return false;
    this.options.onStall?.(error);
    return true;
  }

  private async dropHeld(): Promise<void> {
    const gone = this.held.filter((entry) => !this.isWanted(entry));
    this.held = this.held.filter((entry) => this.isWanted(entry));
    for (const { ordinal, bytes } of gone) {
      await this.files.removeSegment(ordinal);
      this.heldBytes -= bytes;
    }
  }
}

/** @throws UscopeError SCHEMA_CLOCK */
export function spanOf(schema: Schema, span: Span | undefined): bigint | null {
  if (span === undefined) return null;
  if ('ps' in span) return span.ps;
  const [clock] = schema.clocks;
  if (clock && clock.periodPs > 0) return span.cycles * BigInt(clock.periodPs);
  const which = clock ? `the period of its first clock, "${clock.name}", is unknown` : 'it has no clock';
  throw new UscopeError(
    'SCHEMA_CLOCK',
    `the last ${span.cycles} cycles of the trace cannot be kept: ${which}; give a time`,
  );
}
