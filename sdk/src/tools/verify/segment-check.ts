/** Segment after segment, as the walk finds them: checksum, links, times, counts, strings, replay, checkpoint. */
import type { CommitRecord } from '../../format/commit-record.js';
import { SEGMENT_HEADER_SIZE } from '../../format/segment.js';
import { type SessionInfo, SessionStatus } from '../../format/session-chunk.js';
import type { TraceSummary } from '../../format/tsum.js';
import type { CompressionName, Schema } from '../../format/types.js';
import type { Codec } from '../../reader/codec.js';
import type { StorageState } from '../../state/storage-state.js';
import type { Summarizer, SummarizerFactory } from '../../writer/frames/summarizer.js';
import { compareStates, copyState, loadCheckpoint, sameState } from './checkpoints.js';
import { type FindingLog, isFormatError, type Severity } from './finding.js';
import { Replayer, type SegmentReplay } from './replay.js';
import type { FoundSegment } from './segment-walk.js';
import { isUtf8 } from './string-table-check.js';

export interface SegmentCheckOptions {
  /** null: it cannot be read; checksums and links are checked all the same. */
  readonly schema: Schema | null;
  readonly session: SessionInfo | null;
  readonly ours: boolean;
  readonly codec: Codec;
  readonly interleaved: boolean;
  readonly compression: CompressionName;
  readonly maxSegmentBytes: number;
  readonly maxStateBytes: number | undefined;
  readonly summarizer: SummarizerFactory | undefined;
  /** Strings in the table of a finalized file; null: no table. */
  readonly numStrings: number | null;
  readonly finalized: boolean;
  /** Made of other traces by slice or merge: it may begin with a state whenever it begins. */
  readonly derived?: boolean | undefined;
}

const RESERVED_AT = 52;

export class SegmentCheck {
  count = 0;
  /** Segments whose checksum was right. */
  checksums = 0;
  numFrames = 0;
  lastOffset = 0;
  firstTimePs: bigint | null = null;
  lastTimePs: bigint | null = null;
  nextString = 0;
  /** Every segment was found, and replayed without a problem. */
  isWhole = true;

  private readonly replayer: Replayer | null = null;
  private readonly summarizer: Summarizer | null = null;
  /** The state is the one before the next segment's first frame. */
  private inStep = false;
  /** Each checkpoint holds the state after its segment; null: not known yet. */
  private storedAfter: boolean | null;
  private lastStartPs = 0n;
  /** null after a damaged record: what the next one says cannot be compared. */
  private nextFrame: bigint | null = 0n;
  private isFirst = true;
  /** Something is missing before the next segment: its links cannot be held against what was seen. */
  private interrupted = false;

  constructor(
    private readonly options: SegmentCheckOptions,
    private readonly log: FindingLog,
  ) {
    this.storedAfter = options.ours ? false : null;
    const { schema } = options;
    if (!schema) {
      this.isWhole = false;
      return;
    }
    try {
      this.summarizer = options.summarizer?.(schema) ?? null;
      this.replayer = new Replayer({
        ...options,
        strict: this.isGrown,
        schema,
        summarizer: this.summarizer,
        problem: (severity, code, offset, detail, kind) =>
          kind ? log.once(kind, severity, code, offset, detail) : log.add(severity, code, offset, detail),
      });
    } catch (error) {
      log.caught(error);
      this.isWhole = false;
    }
  }

  get items(): number {
    return this.replayer?.items ?? 0;
  }

  /** The summary of all frames; null without a summarizer. */
  summary(): TraceSummary | null {
    return this.summarizer?.finish() ?? null;
  }

  /** A segment is missing here. */
  interrupt(): void {
    this.interrupted = true;
    this.inStep = false;
    this.isWhole = false;
  }

  async take(segment: FoundSegment): Promise<void> {
    const { offset, header } = segment;
    this.checkChecksum(segment);
    this.checkLinks(segment);
    this.checkRecord(segment);
    const replay = await this.replay(segment);
    if (replay) this.checkCounts(segment, replay);
    if (!replay?.isWhole || segment.crc === 'bad') this.isWhole = false;
    // What damaged bytes were replayed to is nobody's state.
    this.inStep = replay?.isWhole === true && segment.crc !== 'bad';
    this.lastOffset = offset;
    this.lastStartPs = header.timeStartPs;
    this.isFirst = false;
    this.interrupted = false;
    this.count++;
  }

  private checkChecksum(segment: FoundSegment): void {
    const { crc, offset, bytes, padding } = segment;
    if (crc === 'good') this.checksums++;
    if (crc === 'bad') {
      const detail = `the segment of ${bytes.length} bytes or its commit record is not what was committed`;
      this.log.add('error', 'FORMAT_CHECKSUM', offset, detail);
    } else if (crc === 'none' && this.options.ours) {
      this.log.add(
        'error',
        'FORMAT_CHECKSUM',
        offset,
        'the commit record of the segment is missing or damaged',
      );
    }
    if (padding.some((byte) => byte !== 0)) {
      this.log.add(
        'warning',
        'FORMAT_VALUE',
        offset + bytes.length,
        'the padding after the segment is not zero',
      );
    }
  }

  private checkLinks({ offset, header, bytes }: FoundSegment): void {
    const { log, lastOffset } = this;
    const previous = Number(header.prevSegmentOffset);
    if (previous !== lastOffset && !this.interrupted) {
      const detail = `the segment names ${previous} as its predecessor, which is at ${lastOffset}`;
      log.add('error', 'FORMAT_CHAIN', offset + 24, detail);
    }
    if (header.timeStartPs < this.lastStartPs) {
      const detail = `the segment starts at ${header.timeStartPs} ps, before its predecessor (${this.lastStartPs} ps)`;
      log.add('error', 'FORMAT_CHAIN', offset + 8, detail);
    }
    const reserved = new DataView(bytes.buffer, bytes.byteOffset).getUint32(RESERVED_AT, true);
    if (header.flags !== 0 || reserved !== 0) {
      log.add(
        'warning',
        'FORMAT_VALUE',
        offset + 4,
        'flags or reserved bytes of the segment header are not zero',
      );
    }
  }

  /** Ordinals and strings continue where the record before ended. */
  private checkRecord(segment: FoundSegment): void {
    const { record, crc, offset } = segment;
    if (!record || crc !== 'good') {
      this.interrupted = this.options.ours;
      this.nextFrame = null;
      return;
    }
    if (this.nextFrame !== null) this.checkOrder(segment, record, this.nextFrame);
    if (!record.strings.every(isUtf8)) {
      this.log.add('warning', 'FORMAT_UTF8', offset, 'a string of the commit record is not UTF-8');
    }
    this.nextFrame = record.nextFrame;
    this.nextString = Number(record.nextString);
  }

  private checkOrder({ header, offset }: FoundSegment, record: CommitRecord, nextFrame: bigint): void {
    const { status } = this.options.session ?? {};
    const mayLack = status === SessionStatus.RECOVERED || (this.isOfRing && this.isFirst);
    const missing = record.nextFrame - nextFrame - BigInt(header.numFrames);
    if (record.nextFrame < nextFrame) {
      const detail = `frame ordinals run back from ${nextFrame} to ${record.nextFrame}`;
      this.log.add('error', 'VERIFY_GAP', offset, detail);
    } else if (missing > 0n) {
      this.inStep = false;
      const detail = `${missing} frames are missing before this segment, at ${header.timeStartPs} ps`;
      this.log.add(mayLack ? 'info' : 'error', 'VERIFY_GAP', offset, detail);
    }
    const first = Number(record.nextString) - record.strings.length;
    if (first !== this.nextString && !mayLack) {
      const detail = `the strings of the commit record begin at ${first}, those before end at ${this.nextString}`;
      this.log.add('error', 'VERIFY_STRINGS', offset, detail);
    }
  }

  private async replay(segment: FoundSegment): Promise<SegmentReplay | null> {
    const { replayer, log } = this;
    if (!replayer) return null;
    try {
      const raw = await replayer.decompress(segment);
      if (this.storedAfter === null) this.storedAfter = this.detectStoredAfter(replayer, segment, raw);
      if (!this.storedAfter) this.begin(replayer.state, segment);
      const replay = replayer.frames(segment, raw, this.stringLimit);
      if (this.storedAfter) this.endStoredAfter(replayer.state, segment, replay);
      return replay;
    } catch (error) {
      if (!isFormatError(error)) throw error;
      log.caught(error, segment.offset);
      return null;
    }
  }

  /** Written by our writer as the frames came: nothing was lost, cut off or made by another writer. */
  private get isGrown(): boolean {
    const { ours, session } = this.options;
    return ours && session?.status !== SessionStatus.RECOVERED && !this.isOfRing;
  }

  /** Made by a flight recorder, however its session ended: what was before the first segment was let go. */
  private get isOfRing(): boolean {
    const { session } = this.options;
    return session?.status === SessionStatus.RING || session?.ring !== undefined;
  }

  /** Of what was recovered without checksums nobody knows which of the two is right. */
  private get divergence(): Severity {
    return this.options.session?.status === SessionStatus.RECOVERED ? 'warning' : 'error';
  }

  /** Strings that a value of this segment may name. */
  private get stringLimit(): number | undefined {
    const { finalized, numStrings } = this.options;
    if (this.isGrown && !this.interrupted) return this.nextString;
    return finalized ? (numStrings ?? 0) : undefined;
  }

  /** The state at the segment's start is what its checkpoint says; before that it is compared. */
  private begin(state: StorageState, segment: FoundSegment): void {
    const stored = loadCheckpoint(state.layout, segment, this.log);
    if (!stored) return;
    const { header } = segment;
    // A trace begins with nothing in it; one that was cut out of a longer one begins later.
    const fromNothing =
      this.isGrown && this.isFirst && !this.interrupted && header.timeStartPs === 0n && !this.options.derived;
    if ((this.inStep || fromNothing) && !sameState(state, stored)) {
      compareStates(state, stored, segment, this.divergence, this.log);
    }
    copyState(stored, state);
  }

  /** Segment 0, replayed from nothing, gives its own checkpoint, and that is not empty: it was stored after the segment. */
  private detectStoredAfter(replayer: Replayer, segment: FoundSegment, raw: Uint8Array): boolean {
    if (!this.isFirst || this.interrupted || !this.options.schema) return false;
    const stored = loadCheckpoint(replayer.state.layout, segment, this.log);
    if (!stored || sameState(stored, replayer.state)) return false;
    const trial = new Replayer({
      ...this.options,
      strict: false,
      schema: this.options.schema,
      summarizer: null,
      problem: () => {},
    });
    trial.frames(segment, raw);
    if (!sameState(stored, trial.state)) return false;
    const detail =
      'the writer stores each checkpoint after its segment instead of before it; readers handle this';
    this.log.add('warning', 'VERIFY_OTHER_WRITER', segment.offset + SEGMENT_HEADER_SIZE, detail);
    this.inStep = true;
    return true;
  }

  private endStoredAfter(state: StorageState, segment: FoundSegment, replay: SegmentReplay): void {
    const stored = loadCheckpoint(state.layout, segment, this.log);
    if (!stored) return;
    if (this.inStep && replay.isWhole && !sameState(state, stored)) {
      compareStates(state, stored, segment, this.divergence, this.log);
    }
    copyState(stored, state);
  }

  private checkCounts(segment: FoundSegment, replay: SegmentReplay): void {
    const { header, offset } = segment;
    const { log } = this;
    const { ours } = this.options;
    this.numFrames += replay.frames;
    if (replay.isWhole && replay.frames !== header.numFrames) {
      log.add(
        'error',
        'FORMAT_LENGTH',
        offset + 44,
        `the segment holds ${replay.frames} frames, its header says ${header.numFrames}`,
      );
    }
    if (replay.isWhole && replay.activeFrames !== header.numFramesActive) {
      const detail = `${replay.activeFrames} frames of the segment hold items, its header says ${header.numFramesActive}`;
      log.add(ours ? 'error' : 'warning', 'FORMAT_VALUE', offset + 48, detail);
    }
    const { firstTimePs: first, lastTimePs: last } = replay;
    if (first === null || last === null) return;
    this.firstTimePs ??= first;
    if (this.lastTimePs !== null && first < this.lastTimePs) {
      log.add(
        'error',
        'FORMAT_VALUE',
        offset,
        `time runs backwards: a frame at ${first} ps follows one at ${this.lastTimePs} ps`,
      );
    }
    // The end is exclusive (docs/reference/format.md#segment-header); other writers store the time of the last frame.
    if (ours ? last >= header.timeEndPs : last > header.timeEndPs) {
      log.add(
        'error',
        'FORMAT_VALUE',
        offset + 16,
        `a frame at ${last} ps is after its segment's end at ${header.timeEndPs} ps`,
      );
    }
    this.lastTimePs = last;
  }
}
