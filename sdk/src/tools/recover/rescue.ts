/** The work of `recover`: from the segments found in the input to a finalized output file. */
import { UscopeError } from '../../base/errors.js';
import { Flag } from '../../format/header.js';
import { type SectionEntry, SectionType } from '../../format/section-table.js';
import { decodeSegmentHeader, SEGMENT_HEADER_SIZE } from '../../format/segment.js';
import { type CompletedFrames, type SessionInfo, SessionStatus } from '../../format/session-chunk.js';
import type { Schema } from '../../format/types.js';
import type { Codec } from '../../reader/codec.js';
import type { CheckedSource } from '../../reader/source.js';
import { createCompressor } from '../../writer/compression/compressor.js';
import {
  indexOfSegment,
  type SegmentIndexer,
  type SegmentIndexerFactory,
} from '../../writer/contract/segment-indexer.js';
import type { Summarizer, SummarizerFactory } from '../../writer/frames/summarizer.js';
import { openIndexer } from '../../writer/guarded-indexer.js';
import type { OutputFile } from '../../writer/output/output-file.js';
import { FindingLog } from '../verify/finding.js';
import type { Outline } from '../verify/outline.js';
import { Replayer } from '../verify/replay.js';
import { readSections } from '../verify/sections.js';
import {
  type FoundSegment,
  type Hole,
  hasCommitRecords,
  isHole,
  SegmentWalk,
} from '../verify/segment-walk.js';
import { detectEncoding, type Encoding } from './encoding.js';
import { type Finished, finalizeContent, finalizeWithMemory, type RescuedContent } from './finish.js';
import { OutputTrace } from './output-trace.js';
import type { RecordMemory } from './recover.js';
import type { LossCount } from './report.js';
import { type Salvaged, Salvager } from './salvage.js';
import { StartStates } from './start-state.js';
import { LOST_STRING, SavedStrings } from './strings.js';

export interface RescueOptions {
  readonly codec: Codec;
  readonly summarizer: SummarizerFactory | undefined;
  readonly index: SegmentIndexerFactory | null;
  readonly memory: ((session: SessionInfo) => RecordMemory | null) | undefined;
  readonly maxSegmentBytes: number;
  readonly maxStateBytes: number | undefined;
  readonly onProgress: (done: number) => void;
}

export interface RescueResult {
  readonly segments: number;
  /** The input claims that segments were committed. Without, an empty trace is all there ever was. */
  readonly wasCommitted: boolean;
  /** Frames that the client completed; null: the file says nothing of a client. */
  readonly completed: CompletedFrames | null;
  readonly framesFromMemory: number;
  readonly memoryProblem: string | null;
}

/** What a lost string took in a commit record at least: its length. Records that claim more lost strings than that are not believed. */
const MIN_STRING_BYTES = 4;

export class Rescue {
  private readonly schema: Schema;
  private ours = false;
  private encoding!: Encoding;
  private out!: OutputTrace;
  private salvager!: Salvager;
  private replayer!: Replayer;
  private starts!: StartStates;
  private summarizer: Summarizer | null = null;
  private indexer: SegmentIndexer | null = null;
  private strings: SavedStrings | null = null;
  private hasSections = false;

  private nextFrame = 0n;
  private nextString = 0;
  private lastTimePs: bigint | null = null;
  /** The replayer's state is that after the last segment taken, and nothing is missing after it. */
  private inStep = true;
  /** Frames are missing, and the ordinals of no record after them have shown how many. */
  private isUncounted = false;
  private tailSeen = false;
  /** After the commit point something is not whole: what follows was never promised and has a gap before it. */
  private stopped = false;
  private found = 0;
  /** Losses after the commit point: what the client's memory may make good. */
  private uncommitted: { segments: number; frames: number | null } | null = null;

  constructor(
    private readonly source: CheckedSource,
    private readonly size: number,
    private readonly outline: Outline,
    private readonly file: OutputFile,
    private readonly log: FindingLog,
    private readonly losses: LossCount,
    private readonly options: RescueOptions,
  ) {
    if (!outline.schema) throw new UscopeError('RECOVER_NOTHING', 'the schema cannot be read');
    this.schema = outline.schema;
  }

  async run(): Promise<RescueResult> {
    await this.prepare();
    const { segmentsStart: start } = this.outline;
    const { schema, size, source, ours, options } = this;
    const walk = new SegmentWalk(source, {
      start,
      end: size,
      hasRecords: ours,
      schema,
      codec: options.codec,
    });
    for await (const found of walk) {
      options.onProgress(Math.min(found.end, size));
      await this.take(found);
    }
    this.countMissingTail();
    if (this.isUncounted) this.losses.isExact = false;
    const { memory, ...fromMemory } = await this.finish();
    this.losses.resumeAt(null);
    const { tailOffset = 0n } = this.outline.header ?? {};
    const wasCommitted = tailOffset !== 0n || (this.found > 0 && this.uncommitted === null);
    const nextFrame = this.nextFrame + BigInt(fromMemory.framesFromMemory);
    const isTaken = memory !== null && fromMemory.memoryProblem === null;
    const completed = memory?.completed ?? this.completedFrames(nextFrame, isTaken);
    return { segments: this.out.segments.length, wasCommitted, completed, ...fromMemory };
  }

  private async prepare(): Promise<void> {
    const { source, size, outline, options, schema } = this;
    const header = outline.header!;
    this.ours = await hasCommitRecords(source, size, outline, options.codec);
    this.encoding = await detectEncoding(source, size, outline, this.ours, options);
    const { compression, interleaved, flags } = this.encoding;
    this.tailSeen =
      header.tailOffset === 0n && header.numSegments === 0 && (header.flags & Flag.COMPLETE) === 0;
    const sections = await this.readSections();
    this.hasSections = sections.length > 0;
    this.strings = await SavedStrings.open(
      source,
      sections.find(({ type }) => type === SectionType.STRINGS),
    );
    this.out = await OutputTrace.create(this.file, outline, flags);
    const common = { ...options, schema, compression, interleaved, ours: this.ours, strict: this.ours };
    this.nextFrame = outline.session?.ring?.firstFrame ?? 0n;
    this.salvager = new Salvager(common, createCompressor(compression));
    this.summarizer = options.summarizer?.(schema) ?? null;
    // Plain frames (v0.1) have no index.
    const { index } = options;
    const traced = {
      path: this.file.path,
      schema,
      dut: outline.dut ?? [],
      index: interleaved ? index : null,
    };
    this.indexer = openIndexer(traced, new Uint8Array(0));
    this.replayer = new Replayer({ ...common, summarizer: this.summarizer, problem: () => {} });
    this.starts = new StartStates(this.salvager, this.replayer, this.ours);
  }

  /** Where the header names a section table, whether or not it says that the file is complete: a crash may lie between the two. */
  private async readSections(): Promise<readonly SectionEntry[]> {
    const { header, segmentsStart: start } = this.outline;
    if (!header || header.sectionTableOffset === 0n) return [];
    const log = (header.flags & Flag.COMPLETE) !== 0 ? this.log : new FindingLog();
    const sections = await readSections(this.source, header, { start, size: this.size, ours: false }, log);
    return sections?.entries ?? [];
  }

  // -- segment by segment

  private async take(found: FoundSegment | Hole): Promise<void> {
    if (isHole(found)) {
      await this.takeHole(found);
      return;
    }
    this.found++;
    const isBehindTail = this.tailSeen;
    this.tailSeen ||= BigInt(found.offset) === this.outline.header?.tailOffset;
    if (this.stopped || (this.ours && found.crc !== 'good')) {
      const detail = 'the segment is not what was committed: its checksum differs';
      this.log.add(
        isBehindTail ? 'info' : 'error',
        'FORMAT_CHECKSUM',
        found.offset,
        this.stopped ? 'after a gap' : detail,
      );
      this.lose(isBehindTail, found.header.numFrames);
      return;
    }
    if (!(await this.keep(found))) {
      this.log.add('error', 'FORMAT_VALUE', found.offset, 'not one frame of the segment can be read');
      this.lose(isBehindTail, found.header.numFrames);
    }
  }

  private lose(isBehindTail: boolean, frames: number | null): void {
    this.inStep = false;
    if (!isBehindTail) {
      // Between two records the ordinals show exactly how many frames are missing; that is counted there.
      this.losses.lose(1, this.ours ? 0 : frames, this.lastTimePs);
      this.isUncounted = this.ours;
      return;
    }
    if (this.ours) this.stopped = true;
    this.losses.lose(1, frames, this.lastTimePs);
    const before = this.uncommitted ?? { segments: 0, frames: 0 };
    const sum = before.frames === null || frames === null ? null : before.frames + frames;
    this.uncommitted = { segments: before.segments + 1, frames: sum };
  }

  /** Copies a segment into the output. False: nothing of it can be used. */
  private async keep(segment: FoundSegment): Promise<boolean> {
    const strings = await this.stringsFor(segment);
    if (strings === null || !this.salvager.loadCheckpoint(segment)) return false;
    const checkpoint = await this.starts.checkpoint(segment, this.found === 1, this.inStep);
    if (checkpoint === null) return false;
    const salvaged = await this.salvager.take(segment);
    if (!salvaged || !this.isInOrder(salvaged)) return false;
    const { replay, raw } = salvaged;
    const { ordinal, inside } = this.countMissing(segment, salvaged);
    this.losses.resumeAt(replay.firstTimePs);
    this.replayer.state.loadCheckpoint(checkpoint);
    this.replayer.frames(segment, raw);
    this.starts.adopt(segment);
    this.lastTimePs = replay.lastTimePs ?? this.lastTimePs;
    this.nextFrame = ordinal;
    this.nextString += strings.length;
    const { timeStartPs } = segment.header;
    const { deltas } = salvaged;
    const index = await indexOfSegment(this.indexer, { frames: raw, checkpoint, timeStartPs }, deltas);
    await this.out.append({
      header: this.headerFor(segment, salvaged),
      checkpoint,
      deltas,
      index,
      nextFrame: ordinal,
      nextString: BigInt(this.nextString),
      strings,
      snapshots: segment.record?.snapshots ?? [],
    });
    this.inStep = salvaged.lostFrames === 0;
    if (salvaged.lostFrames > 0) this.losses.lose(1, inside, this.lastTimePs);
    return true;
  }

  /** Frames run forward; a segment that goes back is where it does not belong. */
  private isInOrder({ replay }: Salvaged): boolean {
    return this.lastTimePs === null || replay.firstTimePs === null || replay.firstTimePs >= this.lastTimePs;
  }

  /**
   * Ordinal after the segment, and how many frames are missing inside it. Where there are records their ordinals show how many are missing
   * before it and inside it together; those before it are counted here.
   */
  private countMissing(
    { record }: FoundSegment,
    { replay, lostFrames }: Salvaged,
  ): { ordinal: bigint; inside: number } {
    const expected = this.nextFrame + BigInt(replay.frames);
    if (!record) return { ordinal: expected + (this.inStep ? 0n : 1n), inside: lostFrames };
    this.isUncounted = false;
    if (record.nextFrame < expected) this.losses.isExact = false; // it contradicts the records before
    const ordinal = record.nextFrame > expected ? record.nextFrame : expected;
    const missing = Number(ordinal - expected);
    const inside = Math.min(lostFrames, missing);
    if (missing > inside) this.losses.lose(0, missing - inside, this.lastTimePs);
    return { ordinal, inside };
  }

  /** Strings first used in the segment, with those before them that are missing; null: the record cannot be believed. */
  private async stringsFor({ record }: FoundSegment): Promise<Uint8Array[] | null> {
    if (!record) return [];
    const first = Number(record.nextString) - record.strings.length;
    const missing = first - this.nextString;
    if (missing < 0 || missing * MIN_STRING_BYTES > this.size) return null;
    const strings: Uint8Array[] = [];
    for (let i = 0; i < missing; i++) strings.push(await this.savedString(this.nextString + i));
    return [...strings, ...record.strings];
  }

  private async savedString(index: number): Promise<Uint8Array> {
    const text = await this.strings?.text(index);
    if (!text) this.losses.strings++;
    return text ?? LOST_STRING;
  }

  /** Counts as they are, and an end after the last frame, as files of ours have it. */
  private headerFor({ header }: FoundSegment, { replay, raw }: Salvaged): FoundSegment['header'] {
    const last = replay.lastTimePs ?? header.timeStartPs;
    return {
      ...header,
      timeEndPs: last >= header.timeEndPs && replay.lastTimePs !== null ? last + 1n : header.timeEndPs,
      deltasRawSize: raw.length,
      numFrames: replay.frames,
      numFramesActive: replay.activeFrames,
    };
  }

  // -- what is not a segment

  private async takeHole(hole: Hole): Promise<void> {
    const start = Buffer.from(await this.source.upTo(hole.offset, 4)).toString('latin1');
    const isLast = hole.end >= this.size;
    if (start === 'uSEG' && isLast && (await this.keepPart(hole))) return;
    if (isLast && (start === 'TSUM' || start === 'CSUM' || this.isTail)) return;
    const isBehindTail = this.tailSeen;
    const detail = `${hole.reason.detail}; ${hole.end - hole.offset} bytes are not a segment`;
    this.log.add(isBehindTail ? 'info' : 'error', hole.reason.code, hole.offset, detail);
    this.lose(isBehindTail, start === 'uSEG' ? await this.framesAt(hole.offset) : null);
    if (!this.ours || isBehindTail) return;
    // The ordinals of the next record give the number; after the last one it is unknown.
    if (isLast) this.losses.isExact = false;
  }

  /** What follows the last segment of a finalized file are its sections. */
  private get isTail(): boolean {
    return this.tailSeen && (this.hasSections || ((this.outline.header?.flags ?? 0) & Flag.COMPLETE) !== 0);
  }

  private async framesAt(offset: number): Promise<number | null> {
    const bytes = await this.source.upTo(offset, SEGMENT_HEADER_SIZE);
    try {
      return decodeSegmentHeader(bytes, offset).numFrames;
    } catch {
      return null;
    }
  }

  /** The segment at which a file of another writer was cut off: its first frames. With checksums, what cannot be checked is not taken. */
  private async keepPart({ offset, end }: Hole): Promise<boolean> {
    if (this.ours) return false;
    const bytes = await this.source.upTo(offset, end - offset);
    try {
      const header = decodeSegmentHeader(bytes, offset);
      if (bytes.length < SEGMENT_HEADER_SIZE + header.checkpointSize) return false;
      const part: FoundSegment = {
        offset,
        header,
        bytes,
        padding: new Uint8Array(0),
        record: null,
        crc: 'none',
        end,
      };
      this.found++;
      const kept = await this.keep(part);
      if (kept) this.log.add('error', 'FORMAT_TRUNCATED', offset, 'the file was cut inside this segment');
      return kept;
    } catch (error) {
      if (error instanceof UscopeError && error.code.startsWith('FORMAT_')) return false;
      throw error;
    }
  }

  /** The header promised segments that were not found at all. */
  private countMissingTail(): void {
    const { header, repaired } = this.outline;
    if (!header || this.tailSeen || header.tailOffset === 0n) return;
    if (header.tailOffset < BigInt(this.size) && this.losses.segments === 0) return; // only the header is damaged
    const missing = repaired.has('flags')
      ? 0
      : Math.max(0, header.numSegments - this.found - this.losses.segments);
    this.losses.lose(missing, null, this.lastTimePs);
  }

  // -- the end

  private async finish(): Promise<Finished & { readonly memory: RecordMemory | null }> {
    const { session } = this.outline;
    const content = this.content();
    const memory = this.ours && session ? this.options.memory?.(session) : null;
    if (!memory) {
      await finalizeContent(content);
      return { framesFromMemory: 0, memoryProblem: null, memory: null };
    }
    const isGap = !this.inStep && !this.stopped;
    const finished = await finalizeWithMemory(content, memory, isGap ? 'frames before it are lost' : null);
    return { ...finished, memory };
  }

  /** @param nextFrame ordinal after the last frame that was saved @param isMemoryTaken everything that the client had not sent is saved */
  private completedFrames(nextFrame: bigint, isMemoryTaken: boolean): CompletedFrames | null {
    const { session } = this.outline;
    if (!session) return null;
    if (isMemoryTaken) return { frames: nextFrame, isExact: true };
    if (session.completed) return session.completed;
    // An older writer's: a client that closed its trace has nothing that was not in the file.
    const isClosed = session.status === SessionStatus.CLOSED || session.status === SessionStatus.RING;
    return {
      frames: nextFrame,
      isExact: isClosed && session.lost === 0n && this.losses.isExact && this.inStep,
    };
  }

  private content(): RescuedContent {
    const {
      out,
      schema,
      replayer,
      summarizer,
      indexer,
      outline,
      encoding,
      nextFrame,
      nextString,
      lastTimePs,
    } = this;
    return {
      out,
      schema,
      replayer,
      summarizer,
      indexer,
      nextFrame,
      nextString,
      lastTimePs,
      compression: encoding.compression,
      checkpointIntervalPs: outline.checkpointIntervalPs ?? 0n,
      numStrings: Math.max(nextString, this.strings?.count ?? 0),
      lateStrings: this.lateStrings(),
      rejected: outline.session?.rejected ?? 0n,
      lost: () => this.lostCount,
      onMemoryTaken: () => this.takeBackUncommitted(),
    };
  }

  /** What had not become durable was still in the client's memory: nothing of it is lost. */
  private takeBackUncommitted(): void {
    if (!this.uncommitted) return;
    const { segments, frames } = this.uncommitted;
    this.losses.takeBack(segments, frames);
    if (frames === null) this.losses.isExact = true;
    this.losses.resumeAt(this.lastTimePs);
  }

  /** Lost before, and now: of frames nobody knows how many items they had, so each counts as one. */
  private get lostCount(): bigint {
    const before = this.outline.session?.lost ?? 0n;
    return this.losses.isNothing ? before : before + BigInt(Math.max(1, this.losses.frames));
  }

  /** Strings that no commit record holds: all of another writer's, and those after the last frame. */
  private async *lateStrings(): AsyncGenerator<Uint8Array> {
    const count = this.strings?.count ?? 0;
    for (let index = this.nextString; index < count; index++) yield await this.savedString(index);
  }
}
