/**
 * Spooled segments become one ordinary file: its first segment is the oldest kept, offsets and commit records are made anew, only the strings referred to
 * are in it, under new numbers in the old order, and the trace summary is that of its frames.
 *
 * Two walks over the segments: the first gathers the summary and the references, the second writes. Memory is that of one segment,
 * and of the strings.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from '#platform/crc32';
import { encodeStrings } from '../../format/encoded-strings.js';
import { CursorItem, FrameCursor } from '../../format/frame.js';
import type { SegmentHeader } from '../../format/segment.js';
import type { RingInfo, SessionInfo } from '../../format/session-chunk.js';
import { fitSummary, type TraceSummary } from '../../format/tsum.js';
import type { Action, CompressionName, DutProperties, Schema } from '../../format/types.js';
import { createCompressor, decompress } from '../compression/compressor.js';
import {
  indexOfSegment,
  type SegmentIndexer,
  type SegmentIndexerFactory,
} from '../contract/segment-indexer.js';
import { crcInTurns } from '../file/crc-in-turns.js';
import { FileStore } from '../file/file-store.js';
import { SegmentList } from '../file/segment-list.js';
import { createTraceFile } from '../file/trace-file.js';
import {
  EMPTY_SUMMARY,
  type Summarizer,
  type SummarizerFactory,
  summaryBudget,
} from '../frames/summarizer.js';
import { inTurns, WalkSteps } from '../frames/turns.js';
import { openIndexer } from '../guarded-indexer.js';
import type { OpenOutput } from '../output/output-file.js';
import type { SpoolEntry, SpooledSegment } from './spooled-segment.js';
import type { IndexedText } from './string-file.js';
import { StringRefs } from './string-refs.js';

export interface AssemblySource {
  readonly schema: Schema;
  readonly dut: DutProperties;
  readonly checkpointIntervalPs: bigint;
  readonly compression: CompressionName;
  /** Oldest first, without a gap. */
  readonly segments: readonly SpoolEntry[];
  read(ordinal: number): Promise<SpooledSegment>;
  /** The strings of the client that are known, by rising index. */
  strings(): AsyncIterable<IndexedText>;
}

/** Replaces strings that were dropped before they were named again. */
const LET_GO = new TextEncoder().encode('(text no longer kept)');

export interface AssemblyOptions {
  /** Must not exist. */
  readonly path: string;
  readonly openOutput: OpenOutput;
  /** How the session ended; `ring` is added. */
  readonly session: SessionInfo;
  readonly summarizer?: SummarizerFactory | null | undefined;
  /** Makes the index; without one the file has none. */
  readonly index?: SegmentIndexerFactory | null | undefined;
  readonly compressionLevel?: number | undefined;
  /** The schema comes from a preamble whose checksum did not hold. */
  readonly isFromDamaged?: boolean | undefined;
  /** Bytes that are written, and synced, together. */
  readonly groupBytes?: number | undefined;
  /** Segments up to this ordinal are durable in the file, which has this number of bytes. */
  readonly onWritten?: ((ordinal: number, bytes: number) => void | Promise<void>) | undefined;
}

/** Writes the file, finalized and durable; returns its size. */
export async function assemble(source: AssemblySource, options: AssemblyOptions): Promise<number> {
  const survey = await surveyOf(source, options);
  const texts = await textsOf(source, survey.refs);
  return new Assembly(source, options, survey, texts).write();
}

interface Survey {
  readonly summarizer: Summarizer | null;
  readonly refs: StringRefs;
  /** Time of the last frame, ps. */
  readonly lastTimePs: bigint;
  /** Items of the trace up to there, those let go included. */
  readonly items: number;
}

async function surveyOf(source: AssemblySource, options: AssemblyOptions): Promise<Survey> {
  const summarizer = options.summarizer?.(source.schema) ?? null;
  const refs = new StringRefs(source.schema);
  let lastTimePs = 0n;
  let items = 0;
  for (const { ordinal } of source.segments) {
    const segment = await source.read(ordinal);
    await inTurns(refs.collectCheckpoint(segment.checkpoint));
    const cursor = cursorOf(segment, await rawOf(source, segment));
    await inTurns(surveySteps(cursor, summarizer, refs));
    lastTimePs = cursor.timePs;
    items = segment.ring.items;
    await nextTurn();
  }
  return { summarizer, refs, lastTimePs, items };
}

function surveySteps(frames: FrameCursor, summarizer: Summarizer | null, refs: StringRefs): WalkSteps {
  const watched = summarizer?.watched;
  let touched = false;
  let [timeLo, timeHi] = [0, 0];
  const endFrame = (): void => {
    if (touched) summarizer?.endFrame(timeLo, timeHi);
    touched = false;
  };
  const visit = (cursor: FrameCursor): void => {
    if (cursor.kind === CursorItem.FRAME) {
      endFrame();
      ({ timeLo, timeHi } = cursor);
      return;
    }
    refs.collect(cursor);
    if (cursor.kind !== CursorItem.OP || !watched?.[cursor.storageId]) return;
    const { action, storageId, slot, field, lo, hi } = cursor;
    summarizer!.op(action as Action, storageId, slot, field, lo, hi);
    touched = true;
  };
  return new WalkSteps(frames, visit, endFrame);
}

interface Texts {
  readonly strings: readonly Uint8Array[];
  /** null: every number stays. */
  readonly map: ReadonlyMap<number, number> | null;
}

/**
 * The strings referred to. A reference that names no string of the client continues naming none: its number stays, and is beyond the table. One
 * to a string that was let go names a text that says so; its number takes the place of the first of these.
 */
async function textsOf(source: AssemblySource, refs: StringRefs): Promise<Texts> {
  const strings: Uint8Array[] = [];
  const map = new Map<number, number>();
  if (!refs.any) return { strings, map: null };
  const used = Uint32Array.from(refs.used).sort();
  let at = 0;
  let letGo = -1;
  let isSame = true;
  const putLetGo = (end: number): void => {
    for (; at < used.length && used[at] < end; at++) {
      if (map.has(used[at])) continue;
      isSame &&= letGo < 0 && used[at] === strings.length;
      if (letGo < 0) letGo = strings.push(LET_GO) - 1;
      map.set(used[at], letGo);
    }
  };
  for await (const { index, text } of source.strings()) {
    if (!refs.isFixed && !refs.used.has(index)) continue;
    putLetGo(index);
    isSame &&= index === strings.length;
    map.set(index, strings.length);
    strings.push(text);
  }
  putLetGo(Number(source.segments[source.segments.length - 1]?.nextString ?? 0n));
  return { strings, map: isSame ? null : map };
}

interface Renumbered extends Pick<SpooledSegment, 'checkpoint' | 'deltas'> {
  /** Its frames; null where they are not needed. */
  readonly raw: Uint8Array | null;
}

/** What the first segment's index is made with. */
const NOTHING_BEFORE = new Uint8Array(0);

/** Bytes that are written, and synced, together. */
const GROUP_BYTES = 4 * 1024 * 1024;

class Assembly {
  private readonly compressor;
  private readonly compressed: Uint8Array[] = [];
  private waiting = 0;
  private readonly indexer: SegmentIndexer | null;
  private lastOrdinal = -1;

  constructor(
    private readonly source: AssemblySource,
    private readonly options: AssemblyOptions,
    private readonly survey: Survey,
    private readonly texts: Texts,
  ) {
    this.compressor = createCompressor(source.compression, options.compressionLevel);
    this.indexer = openIndexer({ ...source, ...options }, NOTHING_BEFORE);
  }

  async write(): Promise<number> {
    const { schema, dut, checkpointIntervalPs, compression, segments } = this.source;
    const { path, openOutput, session, summarizer } = this.options;
    const { sessionId, runId, coreIndex } = session;
    const writerOptions = { path, openOutput, schema, dut, checkpointIntervalPs, compression, summarizer };
    const trace = await createTraceFile(
      { ...writerOptions, sessionId, runId, coreIndex },
      this.options.isFromDamaged,
    );
    const store = new FileStore(trace, new SegmentList(), trace.preambleEnd);
    try {
      for (const [index, entry] of segments.entries()) await this.writeSegment(store, entry, index === 0);
      await this.commit(store);
      return await store.finalize({
        totalTimePs: segments.length > 0 ? this.survey.lastTimePs : 0n,
        summary: this.summary(),
        numStrings: segments.length > 0 ? this.texts.strings.length : 0,
        lateStrings: [],
        session: { ...session, ring: this.ringInfo() },
        indexer: this.indexer,
      });
    } finally {
      this.compressor.close();
      await store.close();
    }
  }

  /** The strings come with the first segment. */
  private async writeSegment(store: FileStore, { ordinal }: SpoolEntry, isFirst: boolean): Promise<void> {
    const segment = await this.source.read(ordinal);
    const { checkpoint, deltas, raw } = await this.renumbered(segment);
    const { strings } = this.texts;
    const { timeStartPs } = segment.header;
    const index =
      raw && (await indexOfSegment(this.indexer, { frames: raw, checkpoint, timeStartPs }, deltas));
    this.waiting += store.add({
      header: { ...segment.header, checkpointSize: checkpoint.length, deltasCompressedSize: deltas.length },
      checkpoint,
      checkpointCrc: await crcInTurns(checkpoint),
      deltas,
      deltasCrc: await crcInTurns(deltas),
      snapshots: segment.record.snapshots ?? [],
      nextFrame: segment.record.nextFrame,
      nextString: BigInt(strings.length),
      strings: encodeStrings(isFirst ? strings : [], crc32),
      note: undefined,
      index,
    });
    if (deltas !== segment.deltas) this.compressed.push(deltas);
    this.lastOrdinal = ordinal;
    if (this.waiting >= (this.options.groupBytes ?? GROUP_BYTES)) await this.commit(store);
  }

  private async commit(store: FileStore): Promise<void> {
    await store.commit();
    for (const deltas of this.compressed.splice(0)) this.compressor.release(deltas);
    this.waiting = 0;
    await this.options.onWritten?.(this.lastOrdinal, store.bytes);
  }

  private async renumbered(segment: SpooledSegment): Promise<Renumbered> {
    const { map } = this.texts;
    const { refs } = this.survey;
    if (map === null) {
      const { checkpoint, deltas } = segment;
      return { checkpoint, deltas, raw: this.indexer && (await rawOf(this.source, segment)) };
    }
    const raw = await rawOf(this.source, segment);
    await inTurns(refs.renumber(cursorOf(segment, raw), map));
    const deltas = await this.compressor.compress(raw);
    return { checkpoint: await refs.renumberCheckpoint(segment.checkpoint, map), deltas, raw };
  }

  /** Its cycles count from the start of the run: late in a long one most of it would be of what is gone. */
  private summary(): TraceSummary {
    const { summarizer } = this.survey;
    const kept = this.source.segments.reduce((sum, { bytes }) => sum + bytes, 0);
    return summarizer ? fitSummary(summarizer.finish(), summaryBudget(kept)) : EMPTY_SUMMARY;
  }

  private ringInfo(): RingInfo {
    const { segments } = this.source;
    const [first] = segments;
    if (!first) return { firstFrame: 0n, nextString: 0n, items: 0n };
    const firstFrame = first.nextFrame - BigInt(first.numFrames);
    return {
      firstFrame,
      nextString: segments[segments.length - 1].nextString,
      items: BigInt(this.survey.items),
    };
  }
}

/** Of a segment in a separate file, or on its way there. */
export interface SegmentContent {
  readonly header: Pick<SegmentHeader, 'timeStartPs' | 'deltasRawSize'>;
  readonly checkpoint: Uint8Array;
  readonly deltas: Uint8Array;
}

export function rawOf(
  { compression }: Pick<AssemblySource, 'compression'>,
  { deltas, header }: SegmentContent,
): Promise<Uint8Array> {
  return decompress(compression, deltas, header.deltasRawSize);
}

export function cursorOf({ header }: Pick<SegmentContent, 'header'>, raw: Uint8Array): FrameCursor {
  return new FrameCursor(raw, header.timeStartPs, true);
}
