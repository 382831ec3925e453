/**
 * Segments straight into the trace file, in the order of docs/reference/format.md#header-lifecycle: segments and their commit records, fdatasync, tail_offset, num_segments,
 * fdatasync.
 */
import { appendAll } from '../../base/arrays.js';
import { ByteReader } from '../../base/bytes.js';
import { HEADER_NUM_SEGMENTS_OFFSET, HEADER_TAIL_OFFSET } from '../../format/header.js';
import { finalizeFile } from './finalize.js';
import { layOutSegment } from './segment-layout.js';
import type { SegmentList } from './segment-list.js';
import type { FinishedSegment, SegmentStore, TraceEnd } from './segment-store.js';
import type { TraceFile } from './trace-file.js';

export class FileStore implements SegmentStore {
  private chunks: Uint8Array[] = [];
  /** What a commit writes into the header. */
  private readonly numbers = new DataView(new ArrayBuffer(12));
  private readonly tail = new Uint8Array(this.numbers.buffer, 0, 8);
  private readonly count = new Uint8Array(this.numbers.buffer, 8, 4);
  /** 8-aligned end of what is committed, and of what was added. */
  private committed: number;
  private end: number;
  /** Segments that were added since the last commit. */
  private waiting = 0;

  constructor(
    private readonly trace: TraceFile,
    private readonly segments: SegmentList,
    end: number,
  ) {
    this.committed = end;
    this.end = end;
  }

  get path(): string {
    return this.trace.file.path;
  }

  get numSegments(): number {
    return this.segments.length;
  }

  get bytes(): number {
    return this.committed;
  }

  add(segment: FinishedSegment): number {
    const { chunks, segmentSize, size } = layOutSegment(segment, this.end, this.segments.lastOffset);
    appendAll(this.chunks, chunks);
    this.segments.push(this.end, segmentSize, segment.header.timeStartPs, segment.header.timeEndPs);
    this.end += size;
    this.waiting++;
    return size;
  }

  async commit(): Promise<void> {
    const { file } = this.trace;
    if (this.chunks.length === 0) return;
    await file.write(this.chunks, this.committed);
    await file.sync();
    this.numbers.setBigUint64(0, BigInt(this.segments.lastOffset), true);
    await file.write([this.tail], HEADER_TAIL_OFFSET);
    this.numbers.setUint32(8, this.segments.length, true);
    await file.write([this.count], HEADER_NUM_SEGMENTS_OFFSET);
    await file.sync();
    this.chunks = [];
    this.committed = this.end;
    this.waiting = 0;
  }

  /** All of them where the header points to the last one already, which was written after them. */
  async found(): Promise<number> {
    const tail = await this.trace.file.read(HEADER_TAIL_OFFSET, 8);
    const isThere = tail.length === 8 && new ByteReader(tail).u64() === BigInt(this.segments.lastOffset);
    if (isThere) this.committed = this.end;
    return isThere ? this.waiting : 0;
  }

  finalize(end: TraceEnd): Promise<number> {
    return finalizeFile(this.trace, { ...end, segments: this.segments, end: this.committed });
  }

  close(): Promise<void> {
    return this.trace.file.close();
  }
}
