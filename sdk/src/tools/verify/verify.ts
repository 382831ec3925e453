/**
 * `uscope verify`: every structure, checksum and cross reference of a file, and a full replay. It continues after an error wherever it can, so that
 * one run reports all errors.
 */
import { crc32 } from '#platform/crc32';
import { recordedCrc } from '../../format/checksum-chunk.js';
import { compressionOf, Flag } from '../../format/header.js';
import { SectionType } from '../../format/section-table.js';
import { type SessionInfo, SessionStatus } from '../../format/session-chunk.js';
import type { Codec } from '../../reader/codec.js';
import { nodeCodec, segmentLimit } from '../../reader/node.js';
import { CheckedSource, type Source } from '../../reader/source.js';
import type { SummarizerFactory } from '../../writer/frames/summarizer.js';
import { MERGE_KEY } from '../merge/dut.js';
import { SLICE_KEYS } from '../slice/plan.js';
import { type Finding, FindingLog } from './finding.js';
import { checkIndex } from './index-check.js';
import { type Outline, readOutline } from './outline.js';
import { readSections, type Sections } from './sections.js';
import { SegmentCheck } from './segment-check.js';
import { SegmentTableCheck } from './segment-table-check.js';
import { type FoundSegment, type Hole, hasCommitRecords, isHole, SegmentWalk } from './segment-walk.js';
import { StringTableCheck } from './string-table-check.js';
import { checkSummary } from './summary-check.js';

/** Of the tail sections, read at a time. */
const TAIL_PAGE_BYTES = 1024 * 1024;

export interface VerifyOptions {
  /** Default: Node's native one. */
  readonly codec?: Codec | undefined;
  /** Gathers the summary anew, to hold that of the file against it. Without one only the form of the summary is checked. */
  readonly summarizer?: SummarizerFactory | undefined;
  /** The index beside the trace, checked where the trace has none; it stays open. Its findings begin with its name, and have offsets in it. */
  readonly sidecar?: Source | null | undefined;
  /** As in `OpenOptions`. */
  readonly maxSegmentBytes?: number | undefined;
  readonly maxStateBytes?: number | undefined;
  /** Each finding as it is made. */
  readonly onFinding?: ((finding: Finding) => void) | undefined;
  /** Bytes looked at, of how many. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

export interface VerifyReport {
  /** No error was found; information and warnings there may be. */
  readonly ok: boolean;
  readonly findings: readonly Finding[];
  /** Findings beyond those listed: of one code no more than 200 are. */
  readonly untold: number;
  readonly counts: Readonly<Record<Finding['severity'], number>>;
  /** F_COMPLETE is set. */
  readonly finalized: boolean;
  /** null in files of other writers. */
  readonly session: SessionInfo | null;
  /** What was checked. */
  readonly segments: number;
  /** Segments whose checksum was there and right. */
  readonly checksums: number;
  readonly frames: number;
  readonly items: number;
  readonly strings: number;
  /** Times of the first and last frame in ps; null without frames. */
  readonly firstTimePs: bigint | null;
  readonly lastTimePs: bigint | null;
}

/** @throws UscopeError READER_OPEN when the source cannot be read, READER_COMPRESSION when a decompressor is missing; never for its bytes */
export async function verifyTrace(source: Source, options: VerifyOptions = {}): Promise<VerifyReport> {
  const log = new FindingLog(options.onFinding);
  const checked = new CheckedSource(source);
  const size = await source.size();
  const outline = await readOutline(checked, log);
  const verifier = new Verifier(checked, size, outline, log, options);
  await verifier.run();
  await verifier.checkIndex(source);
  return verifier.report();
}

class Verifier {
  private readonly codec: Codec;
  private ours = false;
  private sections: Sections | null = null;
  private segments: SegmentCheck | null = null;
  private table: SegmentTableCheck | null = null;
  private strings: StringTableCheck | null = null;
  /** The segment that tail_offset names has been passed, or there is none to pass. */
  private tailSeen = false;
  private uncommitted = { segments: 0, frames: 0, from: -1, to: -1 };

  constructor(
    private readonly source: CheckedSource,
    private readonly size: number,
    private readonly outline: Outline,
    private readonly log: FindingLog,
    private readonly options: VerifyOptions,
  ) {
    this.codec = options.codec ?? nodeCodec;
  }

  async run(): Promise<void> {
    const { header, segmentsStart } = this.outline;
    if (!header || this.outline.chunks.length === 0) return;
    const hasRecords = await this.detectRecords();
    this.ours = hasRecords;
    if (this.isFinalized) {
      const limits = { start: segmentsStart, size: this.size, ours: this.ours };
      this.sections = await readSections(this.source, header, limits, this.log);
      await this.openTables();
    }
    const end = this.sections?.start ?? this.size;
    const { schema } = this.outline;
    const walk = new SegmentWalk(this.source, {
      start: segmentsStart,
      end,
      hasRecords,
      schema,
      codec: this.codec,
    });
    this.segments = this.segmentCheck();
    this.tailSeen = !this.isFinalized && header.tailOffset === 0n;
    for await (const found of walk) {
      this.options.onProgress?.(Math.min(found.end, this.size), this.size);
      await this.take(found);
    }
    await this.finish();
  }

  /** Only where the segments that it is made of are right. */
  async checkIndex(source: Source): Promise<void> {
    if (!this.segments?.isWhole || this.segments.count === 0) return;
    // Only a trace of ours has one itself.
    if (!this.ours && !this.options.sidecar) return;
    try {
      const opening = { codec: this.codec, maxSegmentBytes: this.options.maxSegmentBytes ?? segmentLimit() };
      await checkIndex(source, opening, this.log, this.options.sidecar ?? null);
    } catch (error) {
      this.log.caught(error);
    }
  }

  report(): VerifyReport {
    const { log, segments, outline } = this;
    return {
      ok: log.counts.error === 0,
      findings: log.findings,
      untold: log.untold,
      counts: log.counts,
      finalized: this.isFinalized,
      session: outline.session,
      segments: segments?.count ?? 0,
      checksums: segments?.checksums ?? 0,
      frames: segments?.numFrames ?? 0,
      items: segments?.items ?? 0,
      strings: this.strings?.count ?? segments?.nextString ?? 0,
      firstTimePs: segments?.firstTimePs ?? null,
      lastTimePs: segments?.lastTimePs ?? null,
    };
  }

  private get isFinalized(): boolean {
    return ((this.outline.header?.flags ?? 0) & Flag.COMPLETE) !== 0;
  }

  private async detectRecords(): Promise<boolean> {
    const { hasSessionChunk, unprotected } = this.outline;
    if (unprotected)
      this.log.add(unprotected.severity, 'VERIFY_UNPROTECTED', unprotected.offset, unprotected.detail);
    const hasRecords = await hasCommitRecords(this.source, this.size, this.outline, this.codec);
    if (!hasRecords) {
      const detail = 'the file is of another writer: it has no checksums';
      this.log.add('info', 'VERIFY_UNPROTECTED', null, detail);
    } else if (!hasSessionChunk) {
      this.log.add(
        'error',
        'VERIFY_HEADER',
        48,
        'there are commit records, but the preamble has no session chunk',
      );
    }
    return hasRecords;
  }

  private async openTables(): Promise<void> {
    const entry = (type: number) => this.sections?.entries.find((section) => section.type === type);
    const segments = entry(SectionType.SEGMENTS);
    const strings = entry(SectionType.STRINGS);
    if (segments) this.table = new SegmentTableCheck(this.source, segments, this.log);
    if (strings) this.strings = await StringTableCheck.open(this.source, strings, this.ours, this.log);
  }

  private segmentCheck(): SegmentCheck {
    const { outline, options, log, ours, codec } = this;
    const flags = outline.header?.flags ?? 0;
    return new SegmentCheck(
      {
        schema: outline.schema,
        session: outline.session,
        ours,
        codec,
        interleaved: (flags & Flag.INTERLEAVED) !== 0,
        compression: compressionOf(flags),
        maxSegmentBytes: options.maxSegmentBytes ?? segmentLimit(),
        maxStateBytes: options.maxStateBytes,
        summarizer: options.summarizer,
        numStrings: this.strings?.count ?? null,
        finalized: this.isFinalized,
        derived: outline.dut?.some(([key]) => key === SLICE_KEYS.of || key === MERGE_KEY),
      },
      log,
    );
  }

  private async take(found: FoundSegment | Hole): Promise<void> {
    if (this.tailSeen && !this.isFinalized) {
      this.takeUncommitted(found);
      return;
    }
    if (isHole(found)) {
      this.takeHole(found);
      return;
    }
    const tail = Number(this.outline.header?.tailOffset ?? 0n);
    this.tailSeen ||= found.offset === tail;
    await this.table?.segment(found);
    await this.segments?.take(found);
    if (this.strings && found.crc === 'good' && found.record) {
      const { nextString, strings } = found.record;
      await this.strings.record(Number(nextString) - strings.length, strings);
    }
  }

  /** Never acknowledged: it is there or not, and both is right. */
  private takeUncommitted(found: FoundSegment | Hole): void {
    const { uncommitted } = this;
    if (uncommitted.from < 0) uncommitted.from = found.offset;
    uncommitted.to = found.end;
    if (isHole(found) || found.crc === 'bad') return;
    uncommitted.segments++;
    uncommitted.frames += found.header.numFrames;
  }

  private takeHole({ offset, end, reason }: Hole): void {
    // Other writers pad as they like, and only the sections show what follows their last segment.
    if (!this.ours && this.tailSeen && this.isFinalized) {
      if (end - offset >= 8)
        this.log.add('info', 'VERIFY_LAYOUT', offset, `${end - offset} bytes belong to nothing`);
      return;
    }
    this.segments?.interrupt();
    const detail = `${reason.detail}; ${end - offset} bytes up to ${end} are not a segment`;
    // After the last segment there should be nothing at all; elsewhere a segment is missing.
    const isRest = this.tailSeen && reason.code !== 'FORMAT_TRUNCATED';
    this.log.add('error', isRest ? 'VERIFY_LAYOUT' : reason.code, offset, detail);
  }

  private async finish(): Promise<void> {
    const { header } = this.outline;
    if (!header || !this.segments) return;
    await this.table?.finish();
    await this.strings?.finish();
    this.checkHeader();
    if (this.isFinalized) {
      await this.checkTail();
      await this.checkSummary();
      this.checkSession();
    } else this.tellUnfinalized();
  }

  private checkHeader(): void {
    const { header } = this.outline;
    const { segments, log } = this;
    if (!header || !segments) return;
    if (!this.tailSeen && !(this.isFinalized && header.tailOffset === 0n && segments.count === 0)) {
      log.add(
        'error',
        'FORMAT_CHAIN',
        40,
        `tail_offset names ${header.tailOffset}, where no segment was found`,
      );
    } else if (segments.count > 0 && Number(header.tailOffset) !== segments.lastOffset) {
      const detail = `tail_offset is ${header.tailOffset}, the last segment is at ${segments.lastOffset}`;
      log.add('error', 'FORMAT_CHAIN', 40, detail);
    }
    // While a trace is written the number may lag after the tail by what one commit adds.
    const isOff = this.isFinalized
      ? header.numSegments !== segments.count
      : header.numSegments > segments.count;
    if (isOff) {
      log.add(
        'error',
        'VERIFY_HEADER',
        24,
        `num_segments is ${header.numSegments}, ${segments.count} segments were found`,
      );
    }
    if (this.table && this.table.count !== header.numSegments) {
      const detail = `the segment table has ${this.table.count} entries, the header counts ${header.numSegments} segments`;
      log.add('error', 'FORMAT_CHAIN', 24, detail);
    }
    if (this.sections && !this.table && segments.count > 0) {
      log.add('error', 'VERIFY_LAYOUT', Number(header.sectionTableOffset), 'there is no segment table');
    }
    const last = segments.lastTimePs ?? 0n;
    if (this.isFinalized && segments.isWhole && header.totalTimePs !== last) {
      const detail = `total_time_ps is ${header.totalTimePs}, the last frame is at ${last} ps`;
      log.add(
        this.ours ? 'error' : 'warning',
        this.ours ? 'VERIFY_HEADER' : 'VERIFY_OTHER_WRITER',
        16,
        detail,
      );
    }
  }

  /** Tail sections against their checksum: it is the only check of late strings and an empty summary. */
  private async checkTail(): Promise<void> {
    const { sections, source, codec } = this;
    const { sectionsCrc } = this.outline;
    if (!sections || sectionsCrc === null) return;
    let crc = 0;
    for (let at = sections.start; at < sections.end; at += TAIL_PAGE_BYTES) {
      const bytes = await source.exactly(
        at,
        Math.min(TAIL_PAGE_BYTES, sections.end - at),
        'the tail sections',
      );
      crc = (codec.crc32 ?? crc32)(bytes, crc);
    }
    if (recordedCrc(crc) === sectionsCrc) return;
    const detail = `the tail sections (bytes ${sections.start} to ${sections.end}) are not what was written`;
    this.log.add('error', 'FORMAT_CHECKSUM', sections.start, detail);
  }

  private async checkSummary(): Promise<void> {
    const section = this.sections?.entries.find(({ type }) => type === SectionType.COUNTER_SUMMARY);
    const { segments, outline } = this;
    if (!section || !segments) {
      if (this.sections && this.ours)
        this.log.add('error', 'VERIFY_SUMMARY', null, 'the trace has no summary');
      return;
    }
    const expected = this.ours && segments.isWhole ? segments.summary() : null;
    await checkSummary(this.source, section, expected, outline.schema?.storages.length ?? 0, this.log);
  }

  private checkSession(): void {
    const { session } = this.outline;
    if (!session) return;
    if (session.status === SessionStatus.OPEN) {
      this.log.add(
        'error',
        'VERIFY_HEADER',
        null,
        'the session chunk says "open", but the trace is finalized',
      );
    } else if (session.endTimeMs < session.startTimeMs) {
      this.log.add(
        'warning',
        'VERIFY_HEADER',
        null,
        'the session ended before it began, by the clock of its machine',
      );
    }
  }

  private tellUnfinalized(): void {
    const { uncommitted, log } = this;
    const detail =
      'the trace is not finalized: it is being written, or its writer was killed; all that was committed is checked';
    log.add('info', 'VERIFY_UNFINALIZED', null, detail);
    if (this.ours && ((this.outline.header?.flags ?? 0) & Flag.HAS_STRINGS) !== 0) {
      const flag = 'F_HAS_STRINGS is set, but the trace is not marked complete: both are set at once';
      log.add('error', 'VERIFY_HEADER', 8, flag);
    }
    if (this.outline.header?.sectionTableOffset !== 0n) {
      const ended =
        'the header names a section table: its writer was killed while it finalized, or flags are damaged';
      log.add('warning', 'VERIFY_HEADER', 8, ended);
    }
    if (uncommitted.from < 0) return;
    const bytes = uncommitted.to - uncommitted.from;
    const what = `${bytes} bytes after the last committed segment: ${uncommitted.segments} complete segments, ${uncommitted.frames} frames`;
    log.add('info', 'VERIFY_UNCOMMITTED', uncommitted.from, what);
  }
}
