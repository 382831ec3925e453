/**
 * Resume after the daemon was killed: everything needed is in the trace file. The file is cut back to the end of its last valid commit
 * record, the shadow state is rebuilt from the last checkpoint and that segment's deltas, the summary by replaying all of them.
 */
import { crc32 } from '#platform/crc32';
import { align8 } from '../base/bytes.js';
import { UscopeError } from '../base/errors.js';
import {
  COMMIT_HEADER_SIZE,
  type CommitRecord,
  commitRecordSize,
  decodeCommitPlace,
  verifyCommitRecord,
} from '../format/commit-record.js';
import { CursorItem, FrameCursor } from '../format/frame.js';
import { compressionOf, decodeHeader, type FileHeader, Flag, HEADER_SIZE } from '../format/header.js';
import { decodePreamble, type Preamble } from '../format/preamble.js';
import { checkPreamble, type PreambleCheck } from '../format/preamble-check.js';
import { decodeSegmentHeader, SEGMENT_HEADER_SIZE, type SegmentHeader } from '../format/segment.js';
import { SessionStatus } from '../format/session-chunk.js';
import {
  type Action,
  type CompressionName,
  type DutProperties,
  packedSize,
  type Schema,
} from '../format/types.js';
import { type StateLayout, stateLayout } from '../state/layout.js';
import { StorageState } from '../state/storage-state.js';
import { decompress } from './compression/compressor.js';
import type { WriterOptions } from './contract/options.js';
import { crcInTurns } from './file/crc-in-turns.js';
import { FileStore } from './file/file-store.js';
import { SegmentList } from './file/segment-list.js';
import { type TraceFile, writeHead } from './file/trace-file.js';
import { granted } from './frames/memory-need.js';
import type { Summarizer } from './frames/summarizer.js';
import { inTurns, type ReplayedSegment, replaySteps, WalkSteps } from './frames/turns.js';
import { openIndexer } from './guarded-indexer.js';
import { type OutputFile, openNodeOutput } from './output/output-file.js';
import { RecordWriter } from './record-writer.js';
import type { WriterStart } from './writer-start.js';

const MAX_PREAMBLE_BYTES = 1024 * 1024;
/** Raw bytes a segment of our own may have: a hard cut and one more frame. Anything above is damage. */
const MAX_RAW_BYTES = 128 * 1024 * 1024;

/**
 * Continues the trace of session `options.sessionId` at `options.path`; null when there is none. Schema, checkpoint interval and compression
 * come from the file. A finalized file of that session is opened again: its client never learned that it was closed.
 * @throws UscopeError FORMAT_CHECKSUM when committed segments are damaged (`uscope recover` helps), WRITER_*.
 */
export async function resumeTrace(options: WriterOptions): Promise<RecordWriter | null> {
  const file = await openExisting(options);
  if (file === null) return null;
  try {
    const found = await readPreamble(file);
    if (found === null || !sameSession(found.preamble, options.sessionId)) {
      await file.close();
      return null;
    }
    refuseDamaged(found.check, options.path);
    if (found.preamble.session?.ring) throw finishedByRecorder(options.path);
    return await resumeFile(file, found.header, found.preamble, options);
  } catch (error) {
    await file.close().catch(() => {}); // the first error is the one to report
    throw error;
  }
}

/** What is appended to a damaged preamble would be read by names and types that nobody recorded with. @throws UscopeError FORMAT_CHECKSUM */
export function refuseDamaged({ damaged }: PreambleCheck, path: string): void {
  const [first] = damaged;
  if (!first) return;
  const detail = `${first.detail}. The trace cannot be continued; save what it holds with "uscope recover"`;
  throw new UscopeError('FORMAT_CHECKSUM', detail, { file: path, offset: first.offset });
}

function checksumsOf({ checksums, checksumOffset }: Preamble): TraceFile['checksums'] {
  return checksums && checksumOffset !== undefined ? { offset: checksumOffset, values: checksums } : null;
}

/** Its strings have other numbers than the client knows. */
function finishedByRecorder(path: string): UscopeError {
  const detail =
    'a flight recorder has finalized this trace: nothing can be added; open it under another name';
  return new UscopeError('WRITER_CLOSED', detail, { file: path });
}

async function openExisting(options: WriterOptions): Promise<OutputFile | null> {
  try {
    return await (options.openOutput ?? openNodeOutput)(options.path, 'resume');
  } catch (error) {
    const cause = (error as UscopeError).cause as NodeJS.ErrnoException | undefined;
    if (cause?.code === 'ENOENT') return null;
    throw error;
  }
}

/** null: not a file whose creation was completed. */
export async function readPreamble(
  file: OutputFile,
): Promise<{ header: FileHeader; preamble: Preamble; check: PreambleCheck } | null> {
  try {
    const header = decodeHeader(await file.read(0, HEADER_SIZE));
    if (header.preambleEnd > MAX_PREAMBLE_BYTES) return null;
    const bytes = await file.read(HEADER_SIZE, header.preambleEnd - HEADER_SIZE);
    return {
      header,
      preamble: decodePreamble(bytes, header.versionMinor),
      check: checkPreamble(header, bytes, crc32),
    };
  } catch (error) {
    if (error instanceof UscopeError && error.code.startsWith('FORMAT_')) return null;
    throw error;
  }
}

export function sameSession({ session }: Preamble, sessionId: Uint8Array | undefined): boolean {
  return session !== null && sessionId !== undefined && Buffer.from(session.sessionId).equals(sessionId);
}

async function resumeFile(
  file: OutputFile,
  header: FileHeader,
  preamble: Preamble,
  options: WriterOptions,
): Promise<RecordWriter> {
  const compression = compressionOf(header.flags);
  const fileOptions: WriterOptions = {
    ...options,
    schema: preamble.schema,
    dut: preamble.dut,
    compression,
    checkpointIntervalPs: preamble.checkpointIntervalPs,
  };
  const trace: TraceFile = {
    file,
    openFlags: header.flags & ~(Flag.COMPLETE | Flag.HAS_STRINGS),
    preambleEnd: header.preambleEnd,
    sessionPayloadOffset: preamble.sessionChunkOffset!,
    checksums: checksumsOf(preamble),
    session: {
      ...preamble.session!,
      status: SessionStatus.OPEN,
      endTimeMs: 0n,
      lost: 0n,
      rejected: 0n,
      completed: undefined,
    },
  };
  const layout = stateLayout(preamble.schema, options.maxStateBytes);
  const allowance = await granted(layout, options.budget);
  const replay = new Replay(layout, compression, fileOptions);
  await replay.walk(file, header.preambleEnd);
  if (replay.segments.lastOffset < Number(header.tailOffset)) {
    throw new UscopeError(
      'FORMAT_CHECKSUM',
      `a committed segment is damaged; ${replay.segments.length} segments before it are good. Save them with "uscope recover"`,
      { file: options.path, offset: replay.end },
    );
  }
  const load = async (state: StorageState): Promise<void> => {
    await replay.load(state);
    await cutBack(trace, header, replay); // nothing of the file has changed when the state cannot be loaded
  };
  return RecordWriter.open(fileOptions, { ...replay.start(trace), load, allowance });
}

/** The file becomes an unfinalized one that ends with its last commit record, in steps that a crash may separate. */
async function cutBack(trace: TraceFile, header: FileHeader, replay: Replay): Promise<void> {
  const open: FileHeader = {
    ...header,
    flags: trace.openFlags,
    totalTimePs: 0n,
    sectionTableOffset: 0n,
    numSegments: replay.segments.length,
    tailOffset: BigInt(replay.segments.lastOffset),
  };
  await writeHead(trace, open, trace.session, 0);
  await trace.file.sync();
  await trace.file.truncate(replay.end);
  await trace.file.sync();
}

/** One walk over the segments of a file of ours. */
export class Replay {
  readonly segments = new SegmentList();
  readonly state: StorageState;
  readonly summarizer: Summarizer | null;
  /** 8-aligned end of the last valid commit record. */
  end = 0;
  nextFrame = 0;
  nextString = 0;
  items = 0;
  private lastTimePs: bigint | null = null;
  private last: ReplayedSegment | null = null;
  /** Index container of the last segment, as its record has it; null: none. */
  private lastIndex: Uint8Array | null = null;

  readonly schema: Schema;
  readonly index: WriterOptions['index'];
  readonly dut: DutProperties;

  constructor(
    layout: StateLayout,
    private readonly compression: CompressionName,
    options: WriterOptions,
  ) {
    this.schema = layout.schema;
    this.index = options.index;
    this.dut = options.dut ?? [];
    this.state = new StorageState(layout);
    this.summarizer = options.summarizer?.(layout.schema) ?? null;
  }

  /** Takes valid segments, each right after the record of the one before, until something else comes. */
  async walk(file: OutputFile, start: number): Promise<void> {
    this.end = start;
    const size = await file.size();
    while (await this.takeSegment(file, this.end, size)) {
      // everything is in the condition
    }
  }

  /** The state after the last segment, which is that of its checkpoint and its deltas: those of the others are not looked at. */
  async load(state: StorageState): Promise<void> {
    const { last } = this;
    this.last = null;
    if (last) await inTurns(replaySteps(state, last));
  }

  start(trace: TraceFile): WriterStart {
    const { state, segments, summarizer, end, nextFrame, nextString, items, lastTimePs } = this;
    const store = new FileStore(trace, segments, end);
    const { session } = trace;
    const before = segments.length === 0 ? new Uint8Array(0) : this.lastIndex;
    const indexer = openIndexer({ ...this, path: trace.file.path }, before);
    return { store, session, state, summarizer, indexer, nextFrame, nextString, items, lastTimePs };
  }

  private async takeSegment(file: OutputFile, offset: number, fileSize: number): Promise<boolean> {
    if (offset + SEGMENT_HEADER_SIZE + COMMIT_HEADER_SIZE > fileSize) return false;
    const header = segmentHeaderAt(await file.read(offset, SEGMENT_HEADER_SIZE), offset);
    if (header === null || header.deltasRawSize > MAX_RAW_BYTES) return false;
    const size = SEGMENT_HEADER_SIZE + header.checkpointSize + header.deltasCompressedSize;
    const recordOffset = align8(offset + size);
    if (recordOffset + COMMIT_HEADER_SIZE > fileSize) return false;
    const recordSize = commitRecordSize(await file.read(recordOffset, COMMIT_HEADER_SIZE));
    if (recordSize === 0 || recordOffset + recordSize > fileSize) return false;
    const segment = await file.read(offset, size);
    const recordBytes = await file.read(recordOffset, recordSize);
    if (!verifyCommitRecord((await crcInTurns(segment)) ?? segment, recordBytes, crc32)) return false;
    const record = decodeCommitPlace(recordBytes, recordOffset);
    if (
      record.segmentOffset !== BigInt(offset) ||
      Number(header.prevSegmentOffset) !== this.segments.lastOffset
    )
      return false;
    await this.replaySegment(header, segment, record);
    this.segments.push(offset, size, header.timeStartPs, header.timeEndPs);
    this.end = recordOffset + recordSize;
    return true;
  }

  private async replaySegment(
    header: SegmentHeader,
    segment: Uint8Array,
    record: Omit<CommitRecord, 'strings'>,
  ): Promise<void> {
    const deltasAt = SEGMENT_HEADER_SIZE + header.checkpointSize;
    const checkpoint = segment.subarray(SEGMENT_HEADER_SIZE, deltasAt);
    const raw = await decompress(this.compression, segment.subarray(deltasAt), header.deltasRawSize);
    this.last = { checkpoint, raw, timeStartPs: header.timeStartPs };
    await inTurns(this.frameSteps(new FrameCursor(raw, header.timeStartPs, true)));
    this.nextFrame = Number(record.nextFrame);
    this.nextString = Number(record.nextString);
    this.lastIndex = record.index ?? null;
  }

  private frameSteps(frames: FrameCursor): WalkSteps {
    const { state, summarizer } = this;
    const watched = summarizer?.watched;
    let touched = false;
    let inFrame = false;
    const endFrame = (): void => {
      if (touched && inFrame)
        summarizer?.endFrame(Number(this.lastTimePs! & 0xffff_ffffn), Number(this.lastTimePs! >> 32n));
      touched = false;
    };
    const visit = (cursor: FrameCursor): void => {
      if (cursor.kind === CursorItem.FRAME) {
        endFrame();
        inFrame = true;
        this.lastTimePs = cursor.timePs;
        return;
      }
      this.items++;
      if (cursor.kind === CursorItem.EVENT) {
        this.checkEvent(cursor);
        return;
      }
      const { action, storageId, slot, field, lo, hi } = cursor;
      if (!state.inRange(action, storageId, slot, field)) {
        throw new UscopeError(
          'FORMAT_ID',
          `an op on storage ${storageId}, slot ${slot}, field ${field} is outside the schema`,
        );
      }
      if (watched?.[storageId]) {
        summarizer!.op(action as Action, storageId, slot, field, lo, hi);
        touched = true;
      }
    };
    return new WalkSteps(frames, visit, endFrame);
  }

  private checkEvent(cursor: FrameCursor): void {
    const event = this.schema.events[cursor.eventType];
    if (event && packedSize(event.fields) === cursor.payloadSize) return;
    throw new UscopeError('FORMAT_ID', `an event of type ${cursor.eventType} does not match the schema`);
  }
}

function segmentHeaderAt(bytes: Uint8Array, offset: number): SegmentHeader | null {
  try {
    return decodeSegmentHeader(bytes, offset);
  } catch {
    return null; // not a segment: the walk ends here
  }
}
