/**
 * A trace opened for reading, finalized or still being written (docs/reference/format.md#names-of-calls). Everything is read when it is asked for; a question touches only the
 * segments it needs.
 */
import { crc32 } from '../base/crc32.js';
import { UscopeError } from '../base/errors.js';
import type { Crc32 } from '../format/commit-record.js';
import type { ItemLimits } from '../format/frame.js';
import { type FileHeader, Flag, HEADER_NUM_SEGMENTS_OFFSET } from '../format/header.js';
import type { Preamble } from '../format/preamble.js';
import type { PreambleCheck } from '../format/preamble-check.js';
import { type SectionEntry, SectionType } from '../format/section-table.js';
import {
  decodeSessionInfo,
  SESSION_PAYLOAD_SIZE,
  type SessionInfo,
  SessionStatus,
} from '../format/session-chunk.js';
import type { TraceSummary } from '../format/tsum.js';
import type { ClockDef, DutProperties, Frame, Schema } from '../format/types.js';
import { wholeNumber } from './arguments.js';
import { clockOfScope, findClock, periodOf } from './clocks.js';
import {
  findSection,
  isComplete,
  openSegmentTable,
  readChain,
  readHeader,
  readPreamble,
  readSections,
} from './index-loader.js';
import type { Watched } from './kernel/watch.js';
import { NameIndex } from './names.js';
import { loaderOptions, type OpenOptions } from './options.js';
import type { TraceEvent } from './payload.js';
import { type ScanVisitor, SchemaChecks } from './scan.js';
import {
  chainError,
  readSegmentHeader,
  type SegmentEntry,
  SegmentList,
  type SegmentPlaces,
} from './segment-list.js';
import { type LoadedSegment, SegmentLoader } from './segment-loader.js';
import type { Found, SegmentWatch } from './segment-watch.js';
import { SegmentWindow } from './segment-window.js';
import { CheckedSource, type Source } from './source.js';
import { StateReader } from './state-reader.js';
import { TraceStrings } from './strings.js';
import {
  countLevels,
  type Density,
  readDensity,
  SummaryCache,
  type SummaryLevel,
  summaryLevel,
} from './summary.js';
import { TraceState } from './trace-state.js';
import { type TimedItem, type TimePs, type TimeRange, Walker } from './walker.js';
import { type TraceWarning, type WarningKind, Warnings } from './warnings.js';

/** Headers read at once where all are asked for: a file is as fast with few as with many, a network is not. */
const HEADERS_AT_ONCE = 16;

/** What changed since the trace was opened or polled last. */
export interface PollResult {
  readonly newSegments: number;
  /** True once: by the poll that found the trace finalized. */
  readonly finalized: boolean;
  readonly totalTimePs: bigint;
}

/**
 * Opens a trace: reads header, preamble and, of a finalized file, the section table; of a live one it walks the chain of segments.
 * @throws UscopeError FORMAT_* for bytes that are not a trace or damaged, READER_OPEN for a source that cannot be read.
 */
export async function openTrace(source: Source, options: OpenOptions = {}): Promise<Trace> {
  try {
    const checked = new CheckedSource(source);
    const header = await readHeader(checked);
    const { preamble, check } = await readPreamble(checked, header, options.codec?.crc32);
    const trace = new Trace(checked, header, preamble, options, check);
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

  private readonly crc: Crc32;
  private readonly warningLog: Warnings;
  private readonly list = new SegmentList();
  private readonly loader: SegmentLoader;
  private readonly checks: SchemaChecks;
  private readonly walker: Walker;
  private readonly stateReader: StateReader;
  private watcher: SegmentWatch | null = null;
  private readonly summaries: SummaryCache;
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
    check: PreambleCheck | null = null,
  ) {
    const { schema, session } = preamble;
    const ours = session !== null;
    this.schema = schema;
    this.dut = preamble.dut;
    this.config = { checkpointIntervalPs: preamble.checkpointIntervalPs };
    this.currentSession = session;
    this.names = new NameIndex(schema);
    this.warningLog = new Warnings(options.onWarning);
    this.crc = options.codec?.crc32 ?? crc32;
    this.warnOfDamage(check);
    this.strings = new TraceStrings(source, this.list, this.warningLog, () => this.table());
    const forLoader = loaderOptions(options, ours);
    this.loader = new SegmentLoader(source, this.list, currentHeader, forLoader, this.warningLog);
    this.summaries = new SummaryCache(source, forLoader.cacheBytes);
    // What was recovered may come from another writer.
    const strictSlots = ours && session.status !== SessionStatus.RECOVERED;
    const checks = new SchemaChecks(schema, strictSlots, this.warningLog);
    this.checks = checks;
    this.walker = new Walker(this.list, this.loader, checks, this.names);
    const { maxStateBytes } = options;
    this.stateReader = new StateReader(schema, this.list, this.loader, checks, this.warningLog, {
      ours,
      maxStateBytes,
    });
  }

  /** What can be read of a damaged file is read; nobody shall believe it unseen. */
  private warnOfDamage(check: PreambleCheck | null): void {
    const [first] = check?.damaged ?? [];
    const place = first
      ? `${first.detail} (FORMAT_CHECKSUM, offset ${first.offset}; see "uscope verify")`
      : null;
    const isInherited = check?.checksums?.isFromDamaged === true;
    if (place) this.warningLog.add('damaged-preamble', place);
    else if (isInherited) {
      const detail =
        'the preamble was recovered from a damaged file: names, types, clocks and DUT properties may be wrong';
      this.warningLog.add('damaged-preamble', detail);
    }
  }

  // -- metadata

  get header(): FileHeader {
    return this.currentHeader;
  }

  /** Format version as "0.3". */
  get version(): string {
    return `${this.header.versionMajor}.${this.header.versionMinor}`;
  }

  /** `uscope_is_complete`: finalized, all sections are present. How the session ended is in `session`. */
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

  /** What was found to differ from docs/reference/format.md, so far. */
  get warnings(): readonly TraceWarning[] {
    return this.warningLog.list;
  }

  /** Number of segments known now. */
  get segmentCount(): number {
    return this.list.count || (this.isComplete ? this.header.numSegments : 0);
  }

  /** Time of the last frame in ps; of a live trace the end of its last segment. */
  get totalTimePs(): bigint {
    return this.isComplete ? this.header.totalTimePs : this.list.lastEndPs;
  }

  /** `uscope_dut_property`. */
  dutProperty(key: string): string | undefined {
    return this.dut.find(([name]) => name === key)?.[1];
  }

  /** `uscope_scope_protocol`: null for a scope without protocol. @throws UscopeError READER_NAME */
  scopeProtocol(scopeId: number): string | null {
    const scope = this.schema.scopes[scopeId];
    if (!scope)
      throw new UscopeError('READER_NAME', `scope ${scopeId} is not below ${this.schema.scopes.length}`);
    return scope.protocol;
  }

  /** The clock of a scope, inherited where the scope names none; the first clock where no ancestor does. */
  clockOf(scopeId: number): ClockDef | undefined {
    return clockOfScope(this.schema, scopeId);
  }

  /**
   * The clock of that name or id; without one that of the first scope with a protocol, else the first.
   * @throws UscopeError READER_NAME, READER_NO_CYCLES (the trace defines no clock)
   */
  clock(nameOrId?: string | number): ClockDef {
    return findClock(this.schema, nameOrId);
  }

  /**
   * When a cycle begins, in ps; cycle 0 begins at 0.
   * @throws UscopeError READER_NAME, READER_NO_CYCLES when the clock's period is not known
   */
  timeOfCycle(cycle: TimePs, clock?: string | number): bigint {
    return wholeNumber(cycle, 'a cycle') * periodOf(this.clock(clock));
  }

  /** The cycle in which a time lies. @throws UscopeError as `timeOfCycle` */
  cycleAt(timePs: TimePs, clock?: string | number): bigint {
    return wholeNumber(timePs, 'a time') / periodOf(this.clock(clock));
  }

  /** Offset and times of every segment, in order: an object each. Of traces with millions of them, `segment` gives one. */
  async segments(): Promise<readonly SegmentEntry[]> {
    await this.table();
    const entries: SegmentEntry[] = [];
    for (let index = 0; index < this.list.count; index++) entries.push(await this.list.entry(index));
    return entries;
  }

  /** Offset and times of one segment. @throws UscopeError READER_RANGE when there is no such segment */
  async segment(index: number): Promise<SegmentEntry> {
    await this.table();
    return this.list.entry(index);
  }

  /** Index of the segment that holds the last frames at or before `timePs`; -1 before the first segment. */
  async segmentAt(timePs: TimePs): Promise<number> {
    const time = wholeNumber(timePs, 'a time');
    await this.table();
    return this.list.lastStartingAtOrBefore(time);
  }

  /**
   * Index of the first segment that may hold frames at or after `timePs`. It may start before: ends may be inclusive, and several segments may
   * start in one instant.
   */
  async firstSegmentReaching(timePs: TimePs): Promise<number> {
    const time = wholeNumber(timePs, 'a time');
    await this.table();
    return this.list.firstReaching(time);
  }

  /** Frames of the whole trace, from the segment headers: one small read per segment. */
  async frameCount(): Promise<bigint> {
    await this.table();
    let frames = 0n;
    const { count } = this.list;
    const header = async (index: number) =>
      readSegmentHeader(this.source, (await this.list.entry(index)).offset);
    for (let first = 0; first < count; first += HEADERS_AT_ONCE) {
      const length = Math.min(HEADERS_AT_ONCE, count - first);
      const headers = await Promise.all(Array.from({ length }, (_, i) => header(first + i)));
      for (const { numFrames } of headers) frames += BigInt(numFrames);
    }
    return frames;
  }

  // -- summary

  /**
   * The trace summary (docs/reference/format.md#trace-summary), TSUM or CSUM; null when the trace has none (live, or written without). Read once and
   * then shared, unless it is larger than `cacheBytes`: do not change it.
   */
  summary(): Promise<TraceSummary | null> {
    return this.summaries.read(this.sections);
  }

  /** Instructions per bucket of time, the finest there is, without the rest of the summary; null when the trace has none. */
  density(): Promise<Density | null> {
    return readDensity(this.source, this.sections);
  }

  /** `uscope_summary_levels`: number of levels, 0 without a summary. */
  async summaryLevels(): Promise<number> {
    return countLevels(await this.summary());
  }

  /** `uscope_summary_data`: level 0 is the finest. @throws UscopeError READER_RANGE for a level that does not exist */
  async summaryData(level: number): Promise<SummaryLevel> {
    return summaryLevel(await this.summary(), level);
  }

  // -- content

  /**
   * `uscope_state_at`: the state after all frames at or before `timePs`. Beyond the end it is the last state.
   * @throws UscopeError READER_RANGE before the first segment; FORMAT_* for damage
   */
  async stateAt(timePs: TimePs): Promise<TraceState> {
    const time = wholeNumber(timePs, 'a time');
    await this.table();
    return new TraceState(time, await this.stateReader.at(time), this.names);
  }

  /**
   * The state at the beginning of a cycle: frames at that very time are in it.
   * @throws UscopeError READER_NAME (no such clock), READER_NO_CYCLES (its period is unknown), and as `stateAt`
   */
  async stateAtCycle(cycle: TimePs, clock?: string | number): Promise<TraceState> {
    return this.stateAt(this.timeOfCycle(cycle, clock));
  }

  /**
   * The state before the first frame of a segment, where replay of that segment begins.
   * @throws UscopeError READER_RANGE when there is no such segment; FORMAT_* for damage
   */
  async stateBefore(segment: number): Promise<TraceState> {
    await this.table();
    const { timeStartPs } = await this.list.entry(segment);
    return new TraceState(timeStartPs, await this.stateReader.atStartOf(segment), this.names);
  }

  /**
   * Whether the writer stored the state *after* each segment as its checkpoint (see the warning `checkpoints-after-segment`); may have to look
   * into the first segments. For code that reads checkpoints itself.
   */
  async checkpointsAreAfter(): Promise<boolean> {
    await this.table();
    return this.stateReader.checkpointsAreAfter();
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

  /**
   * The same for one segment, of whose frames only those of the range are shown: for questions about a place. Nothing is read ahead.
   * @returns false when the visitor ended it, or a frame lies after the range
   * @throws UscopeError as `scan`, and READER_RANGE when there is no such segment
   */
  async scanSegment(index: number, range: TimeRange, visitor: ScanVisitor): Promise<boolean> {
    await this.table();
    return this.walker.scanSegment(index, range, visitor);
  }

  /**
   * When slots of a storage are taken in a segment, or events of a type happen: what a visitor of `scanSegment` would find, in a fraction of the time.
   * @param watched what is looked for, when the segment is known
   * @throws UscopeError as `scanSegment`
   */
  async watchSegment(
    index: number,
    watched: (segment: LoadedSegment) => Watched | Promise<Watched>,
  ): Promise<Found> {
    await this.table();
    // Few programs watch: its code is loaded with the first call.
    const { SegmentWatch } = await import('./segment-watch.js');
    this.watcher ??= new SegmentWatch(this.schema, this.loader, this.checks);
    return this.watcher.find(index, watched);
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

  /** `uscope_events_in_range`: events with `from <= time < to`, of the types named (by default all). */
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

  /** The decompressed segments from number `first` on that start before `to`, the next one loaded while one is looked at. */
  async *loadedSegmentsFrom(first: number, to?: TimePs): AsyncGenerator<LoadedSegment> {
    await this.table();
    yield* this.walker.segmentsFrom(first, endOf(to));
  }

  /** The same, each decompressed over the one before: it is valid until the next is asked for. */
  async *segmentsInPlace(first: number, to?: TimePs): AsyncGenerator<LoadedSegment> {
    await this.table();
    yield* this.walker.segmentsInPlace(first, endOf(to));
  }

  /** The same in any order, each when it is asked for; to be closed. `space`, `keeps`: see `SegmentWindow`. */
  async segmentWindow(space = 0, keeps = true): Promise<SegmentWindow> {
    await this.table();
    return new SegmentWindow(this.loader, space, keeps);
  }

  /** One segment, decompressed; kept in the cache for a while. @throws UscopeError READER_RANGE when there is no such segment; FORMAT_* for damage */
  async loadSegment(index: number): Promise<LoadedSegment> {
    await this.table();
    return this.loader.loadCached(index);
  }

  /** What `FrameCursor.run` takes for ordinary: for code that walks segments itself. */
  get itemLimits(): ItemLimits {
    return this.checks.limits;
  }

  // -- bytes

  /** Offset and size of a section of a finalized trace (docs/reference/format.md#section-table); null: it has no such section. */
  section(type: number): { readonly offset: number; readonly size: number } | null {
    const section = findSection(this.sections, type);
    return section ? { offset: Number(section.offset), size: Number(section.size) } : null;
  }

  /** At most `length` bytes of the file from an offset on, fewer where it ends: for structures that the reader does not know. */
  bytes(offset: number, length: number): Promise<Uint8Array> {
    return this.source.upTo(offset, length);
  }

  /** Adds to `warnings`, once per kind: for code that reads structures the reader does not know. */
  warn(kind: WarningKind, message: string): void {
    this.warningLog.add(kind, message);
  }

  /** The checksum function of `codec`. */
  get crc32(): Crc32 {
    return this.crc;
  }

  // -- life

  /**
   * `uscope_poll_new_segments`: looks for segments committed since, and for the end of the trace. Only what `tail_offset` reaches is
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
    if (!wasComplete) {
      await this.source.refresh();
      await this.follow(await readHeader(this.source));
    }
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
      this.source.settle();
      this.useSections(await readSections(this.source, this.header), this.header);
      // Only segments that somebody has counted are a number to trust.
      if (!findSection(this.sections, SectionType.SEGMENTS)) await this.table();
    } else {
      this.list.append(await readChain(this.source, this.header, 0));
      this.hasTable = true;
    }
  }

  /** The segment table of a finalized file is read when first needed. */
  private async table(): Promise<void> {
    if (this.hasTable) return;
    const table = await openSegmentTable(this.source, this.header, this.sections);
    if (!this.hasTable) await this.useSegmentTable(table, this.header);
    this.hasTable = true;
  }

  private async useSegmentTable(table: SegmentPlaces, { numSegments }: FileHeader): Promise<void> {
    if (table.count !== numSegments) {
      chainError(
        `the trace has ${table.count} segments, its header says ${numSegments}`,
        HEADER_NUM_SEGMENTS_OFFSET,
      );
    }
    if (await this.list.useTable(table)) return;
    changed('its segment table does not continue the segments already seen');
  }

  /** A trace whose table is missing although it has strings keeps those of its commit records. */
  private useSections(sections: readonly SectionEntry[], { flags }: FileHeader): void {
    this.sections = sections;
    this.summaries.forget();
    const table = findSection(sections, SectionType.STRINGS);
    if (table || (flags & Flag.HAS_STRINGS) === 0) this.strings.useTable(table);
    else this.warningLog.add('no-string-table', 'the header promises a table of strings that is not there');
  }

  private async follow(header: FileHeader): Promise<void> {
    this.checkSameTrace(header);
    if (isComplete(header)) {
      this.source.settle();
      const sections = await readSections(this.source, header);
      const table = await openSegmentTable(this.source, header, sections);
      const session = await this.rereadSession();
      await this.useSegmentTable(table, header);
      this.useSections(sections, header);
      this.currentSession = session;
    } else if (header.tailOffset !== BigInt(this.list.knownTail)) {
      this.list.append(await readChain(this.source, header, this.list.knownTail));
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

  private async rereadSession(): Promise<SessionInfo | null> {
    const offset = this.preamble.sessionChunkOffset;
    if (offset === null) return null;
    const payload = await this.source.exactly(offset, SESSION_PAYLOAD_SIZE, 'the session chunk');
    return decodeSessionInfo(payload, offset);
  }
}

function endOf(to: TimePs | undefined): bigint | null {
  return to === undefined ? null : wholeNumber(to, 'the end of a range');
}

function changed(what: string): never {
  throw new UscopeError('READER_CHANGED', `the file changed under the reader: ${what}; open it again`);
}
