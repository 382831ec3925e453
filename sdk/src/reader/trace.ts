/**
 * A trace opened for reading, finalized or still being written (§10). Everything is read when it is asked for; a question touches only the
 * segments it needs.
 */
import { UscopeError } from '../base/errors.js';
import { type FileHeader, Flag } from '../format/header.js';
import type { Preamble } from '../format/preamble.js';
import { type SectionEntry, SectionType } from '../format/section-table.js';
import { decodeSessionInfo, SESSION_PAYLOAD_SIZE, type SessionInfo } from '../format/session-chunk.js';
import { decodeTraceSummary, type MipmapLevel, type TraceSummary } from '../format/tsum.js';
import {
  type ClockDef,
  type DutProperties,
  type Frame,
  INHERIT_CLOCK,
  NO_ID,
  type Schema,
} from '../format/types.js';
import { type Codec, DEFAULT_MAX_SEGMENT_BYTES } from './codec.js';
import {
  findSection,
  isComplete,
  readChain,
  readHeader,
  readPreamble,
  readSection,
  readSections,
  readSegmentTable,
} from './index-loader.js';
import { NameIndex } from './names.js';
import type { TraceEvent } from './payload.js';
import { type ScanVisitor, SchemaChecks } from './scan.js';
import { readSegmentHeader, type SegmentEntry, SegmentList } from './segment-list.js';
import { type LoadedSegment, SegmentLoader } from './segment-loader.js';
import { CheckedSource, type Source } from './source.js';
import { StateReader } from './state-reader.js';
import { TraceStrings } from './strings.js';
import { TraceState } from './trace-state.js';
import { type TimedItem, type TimePs, type TimeRange, Walker } from './walker.js';
import { type TraceWarning, Warnings } from './warnings.js';

export interface OpenOptions {
  /** Decompression and checksums; by default pure TypeScript without ZSTD. `reader/node.ts` has native ones. */
  readonly codec?: Codec | undefined;
  /** Limit of what one segment may decompress to. Default 1 GiB. */
  readonly maxSegmentBytes?: number | undefined;
  /** Limit of the memory of one state. Default 512 MiB. */
  readonly maxStateBytes?: number | undefined;
  /** Decompressed segments kept between questions. Default 64 MiB. */
  readonly cacheBytes?: number | undefined;
  /** Check the CRC of every segment read. Default: true for files that have them (those of this project). */
  readonly verify?: boolean | undefined;
  /** Called once per kind of warning, when it is found; they are also kept in `Trace.warnings`. */
  readonly onWarning?: ((warning: TraceWarning) => void) | undefined;
}

/** What changed since the trace was opened or polled last. */
export interface PollResult {
  readonly newSegments: number;
  /** True once: by the poll that found the trace finalized. */
  readonly finalized: boolean;
  readonly totalTimePs: bigint;
}

/** One level of the summary (§6): density and counters, each as far as it has that level. */
export interface SummaryLevel {
  /** Cycles per bucket. */
  readonly intervalCycles: bigint;
  /** Instructions per bucket; empty when the level has none. */
  readonly density: Uint32Array;
  readonly counters: readonly {
    readonly name: string;
    readonly storageId: number;
    readonly level: MipmapLevel;
  }[];
}

const DEFAULT_CACHE_BYTES = 64 * 1024 * 1024;

/**
 * Opens a trace: reads header, preamble and, of a finalized file, the section table; of a live one it walks the chain of segments.
 * @throws UscopeError FORMAT_* for bytes that are not a trace or damaged, READER_OPEN for a source that cannot be read.
 */
export async function openTrace(source: Source, options: OpenOptions = {}): Promise<Trace> {
  try {
    const checked = new CheckedSource(source);
    const header = await readHeader(checked);
    const preamble = await readPreamble(checked, header);
    const trace = new Trace(checked, header, preamble, options);
    await trace.loadIndex();
    return trace;
  } catch (error) {
    throw error instanceof UscopeError ? error.at({ file: source.name }) : error;
  }
}

export class Trace {
  readonly schema: Schema;
  readonly dut: DutProperties;
  readonly config: { readonly checkpointIntervalPs: bigint };
  /** Runtime strings, which STRING_REF values name. */
  readonly strings: TraceStrings;
  /** Names of the schema -> ids. */
  readonly names: NameIndex;

  private readonly warningLog: Warnings;
  private readonly list = new SegmentList();
  private readonly loader: SegmentLoader;
  private readonly walker: Walker;
  private readonly stateReader: StateReader;
  private sections: readonly SectionEntry[] = [];
  private hasTable = false;
  private currentSession: SessionInfo | null;
  private polling: Promise<unknown> = Promise.resolve();

  /** Use `openTrace`. */
  constructor(
    private readonly source: CheckedSource,
    private currentHeader: FileHeader,
    private readonly preamble: Preamble,
    options: OpenOptions,
  ) {
    const { schema, session } = preamble;
    const ours = session !== null;
    this.schema = schema;
    this.dut = preamble.dut;
    this.config = { checkpointIntervalPs: preamble.checkpointIntervalPs };
    this.currentSession = session;
    this.names = new NameIndex(schema);
    this.warningLog = new Warnings(options.onWarning);
    this.strings = new TraceStrings(source, this.list, this.warningLog);
    this.loader = new SegmentLoader(
      source,
      this.list,
      currentHeader,
      loaderOptions(options, ours),
      this.warningLog,
    );
    const checks = new SchemaChecks(schema, ours, this.warningLog);
    this.walker = new Walker(this.list, this.loader, checks, this.names);
    const { maxStateBytes } = options;
    this.stateReader = new StateReader(schema, this.list, this.loader, checks, this.warningLog, {
      ours,
      maxStateBytes,
    });
  }

  // -- metadata

  get header(): FileHeader {
    return this.currentHeader;
  }

  /** Format version as "0.3". */
  get version(): string {
    return `${this.header.versionMajor}.${this.header.versionMinor}`;
  }

  /** §10 `uscope_is_complete`: finalized, all sections are present. How the session ended is in `session`. */
  get isComplete(): boolean {
    return isComplete(this.header);
  }

  /** True where ops and events of a frame keep their order (F_INTERLEAVED_DELTAS). */
  get isInterleaved(): boolean {
    return (this.header.flags & Flag.INTERLEAVED) !== 0;
  }

  /** Who wrote the file and how that ended; null in files of other writers. */
  get session(): SessionInfo | null {
    return this.currentSession;
  }

  /** What was found to differ from the format text, so far. */
  get warnings(): readonly TraceWarning[] {
    return this.warningLog.list;
  }

  /** Number of segments known now. */
  get segmentCount(): number {
    return this.list.count || (this.isComplete ? this.header.numSegments : 0);
  }

  /** Time of the last frame in ps; of a live trace the end of its last segment. */
  get totalTimePs(): bigint {
    return this.isComplete ? this.header.totalTimePs : (this.list.entries.at(-1)?.timeEndPs ?? 0n);
  }

  /** §10 `uscope_dut_property`. */
  dutProperty(key: string): string | undefined {
    return this.dut.find(([name]) => name === key)?.[1];
  }

  /** §10 `uscope_scope_protocol`: null for a scope without protocol. @throws UscopeError READER_NAME */
  scopeProtocol(scopeId: number): string | null {
    const scope = this.schema.scopes[scopeId];
    if (!scope)
      throw new UscopeError('READER_NAME', `scope ${scopeId} is not below ${this.schema.scopes.length}`);
    return scope.protocol;
  }

  /** The clock of a scope, inherited where the scope names none; the first clock where no ancestor does. */
  clockOf(scopeId: number): ClockDef | undefined {
    let id = scopeId;
    while (id !== NO_ID && this.schema.scopes[id]) {
      const { clockId, parentId } = this.schema.scopes[id];
      if (clockId !== INHERIT_CLOCK) return this.schema.clocks[clockId];
      id = parentId;
    }
    return this.schema.clocks[0];
  }

  /** Offset and times of every segment, in order. */
  async segments(): Promise<readonly SegmentEntry[]> {
    await this.table();
    return this.list.entries;
  }

  /** Frames of the whole trace, from the segment headers. */
  async frameCount(): Promise<bigint> {
    await this.table();
    let frames = 0n;
    for (const { offset } of this.list.entries) {
      frames += BigInt((await readSegmentHeader(this.source, offset)).numFrames);
    }
    return frames;
  }

  // -- summary

  /** The trace summary (§6), TSUM or CSUM; null when the trace has none (live, or written without). */
  async summary(): Promise<TraceSummary | null> {
    const section = findSection(this.sections, SectionType.COUNTER_SUMMARY);
    if (!section) return null;
    return decodeTraceSummary(
      await readSection(this.source, section, 'the trace summary'),
      Number(section.offset),
    );
  }

  /** §10 `uscope_summary_levels`: number of levels, 0 without a summary. */
  async summaryLevels(): Promise<number> {
    const summary = await this.summary();
    if (!summary) return 0;
    return Math.max(summary.density.length, ...summary.counters.map((counter) => counter.levels.length));
  }

  /** §10 `uscope_summary_data`: level 0 is the finest. @throws UscopeError READER_RANGE for a level that does not exist */
  async summaryData(level: number): Promise<SummaryLevel> {
    const summary = await this.summary();
    const levels = await this.summaryLevels();
    if (!summary || !Number.isInteger(level) || level < 0 || level >= levels) {
      throw new UscopeError('READER_RANGE', `the summary has ${levels} levels, there is no level ${level}`);
    }
    return {
      intervalCycles: BigInt(summary.baseIntervalCycles) * BigInt(summary.fanOut) ** BigInt(level),
      density: summary.density[level] ?? new Uint32Array(0),
      counters: summary.counters
        .filter((counter) => level < counter.levels.length)
        .map(({ name, storageId, levels: all }) => ({ name, storageId, level: all[level] })),
    };
  }

  // -- content

  /**
   * §10 `uscope_state_at`: the state after all frames at or before `timePs`. Beyond the end it is the last state.
   * @throws UscopeError READER_RANGE before the first segment; FORMAT_* for damage
   */
  async stateAt(timePs: TimePs): Promise<TraceState> {
    await this.table();
    const time = BigInt(timePs);
    return new TraceState(time, await this.stateReader.at(time), this.names);
  }

  /**
   * The fast way through a trace: callbacks, nothing allocated per item. Ids and payload sizes have been checked, except that in
   * files of other writers an op may name a slot beyond its storage: it changes no state.
   * @throws UscopeError FORMAT_* for damage; everything before it has been reported
   */
  async scan(range: TimeRange, visitor: ScanVisitor): Promise<void> {
    await this.table();
    return this.walker.scan(range, visitor);
  }

  /** Frames with `from <= time < to`, in file order, empty ones included. Payloads are views: copy what is kept. */
  async *frames(from?: TimePs, to?: TimePs): AsyncGenerator<Frame> {
    await this.table();
    yield* this.walker.frames({ from, to });
  }

  /** Ops and events with `from <= time < to`, in file order. */
  async *items(from?: TimePs, to?: TimePs): AsyncGenerator<TimedItem> {
    await this.table();
    yield* this.walker.items({ from, to });
  }

  /** §10 `uscope_events_in_range`: events with `from <= time < to`, of the types named (by default all). */
  async *events(
    from?: TimePs,
    to?: TimePs,
    types?: readonly (string | number)[],
  ): AsyncGenerator<TraceEvent> {
    await this.table();
    yield* this.walker.events({ from, to }, types);
  }

  /** The decompressed segments that may hold frames of a range. */
  async *loadedSegments(range: TimeRange = {}): AsyncGenerator<LoadedSegment> {
    await this.table();
    yield* this.walker.segments(range);
  }

  // -- life

  /**
   * §10 `uscope_poll_new_segments`: looks for segments committed since, and for the end of the trace. Only what `tail_offset` reaches is
   * ever shown.
   * @throws UscopeError READER_CHANGED when the file is another one than before
   */
  poll(): Promise<PollResult> {
    // One after the other: two at once would both append what they find.
    const next = this.polling.then(
      () => this.pollNow(),
      () => this.pollNow(),
    );
    this.polling = next;
    return next;
  }

  private async pollNow(): Promise<PollResult> {
    const before = this.list.count;
    const wasComplete = this.isComplete;
    if (!wasComplete) await this.follow(await readHeader(this.source));
    return {
      newSegments: this.list.count - before,
      finalized: !wasComplete && this.isComplete,
      totalTimePs: this.totalTimePs,
    };
  }

  async close(): Promise<void> {
    await this.source.close();
  }

  /** Called once by `openTrace`. */
  async loadIndex(): Promise<void> {
    if (this.isComplete) {
      this.useSections(await readSections(this.source, this.header));
    } else {
      this.list.append(await readChain(this.source, this.header, 0));
      this.hasTable = true;
    }
  }

  /** The segment table of a finalized file is read when first needed. */
  private async table(): Promise<void> {
    if (this.hasTable) return;
    const entries = await readSegmentTable(this.source, this.header, this.sections);
    if (!this.hasTable) this.list.append(entries);
    this.hasTable = true;
  }

  private useSections(sections: readonly SectionEntry[]): void {
    this.sections = sections;
    this.strings.useTable(findSection(sections, SectionType.STRINGS));
  }

  private async follow(header: FileHeader): Promise<void> {
    this.checkSameTrace(header);
    const known = this.list.entries.at(-1)?.offset ?? 0;
    if (isComplete(header)) {
      const sections = await readSections(this.source, header);
      const entries = await readSegmentTable(this.source, header, sections);
      this.checkSameSegments(entries);
      this.list.append(entries.slice(this.list.count));
      this.useSections(sections);
      await this.rereadSession();
    } else if (header.tailOffset !== BigInt(known)) {
      this.list.append(await readChain(this.source, header, known));
    }
    this.currentHeader = header;
  }

  private checkSameTrace(header: FileHeader): void {
    const known = this.header;
    const may = Flag.COMPLETE | Flag.HAS_STRINGS;
    const same =
      header.preambleEnd === known.preambleEnd &&
      header.versionMinor === known.versionMinor &&
      (header.flags & ~may) === (known.flags & ~may) &&
      header.tailOffset >= known.tailOffset;
    if (!same) changed('its header is no longer that of the trace opened');
  }

  private checkSameSegments(entries: readonly SegmentEntry[]): void {
    const same = this.list.entries.every((entry, index) => entries[index]?.offset === entry.offset);
    if (!same) changed('its segment table does not continue the segments already seen');
  }

  private async rereadSession(): Promise<void> {
    const offset = this.preamble.sessionChunkOffset;
    if (offset === null) return;
    const payload = await this.source.exactly(offset, SESSION_PAYLOAD_SIZE, 'the session chunk');
    this.currentSession = decodeSessionInfo(payload, offset);
  }
}

function loaderOptions(options: OpenOptions, ours: boolean) {
  return {
    codec: options.codec ?? {},
    maxSegmentBytes: options.maxSegmentBytes ?? DEFAULT_MAX_SEGMENT_BYTES,
    cacheBytes: options.cacheBytes ?? DEFAULT_CACHE_BYTES,
    verify: options.verify ?? ours,
  };
}

function changed(what: string): never {
  throw new UscopeError('READER_CHANGED', `the file changed under the reader: ${what}; open it again`);
}
