/**
 * Makes finished segments durable, in the order of §2.2: segments and their commit records, fdatasync, tail_offset, num_segments,
 * fdatasync, and only then tells that their frames are durable.
 *
 * Group commit: while one group is being synced, the next segments are compressed and pile up; they become the next group. So the number
 * of syncs adapts to the disk, and no promise gets weaker.
 */
import { crc32 as zlibCrc32 } from 'node:zlib';
import { UscopeError } from '../base/errors.js';
import { encodeCommitRecord } from '../format/commit-record.js';
import { HEADER_NUM_SEGMENTS_OFFSET, HEADER_TAIL_OFFSET } from '../format/header.js';
import { encodeSegmentHeader, SEGMENT_HEADER_SIZE, type SegmentHeader } from '../format/segment.js';
import type { Compressor } from './compressor.js';
import type { OutputFile } from './output-file.js';
import type { SegmentBuffer } from './segment-buffer.js';
import type { SegmentList } from './segment-list.js';

const MAX_GROUP_BYTES = 16 * 1024 * 1024;
const DISK_FULL_RETRY_MS = 500;
/** Raw bytes up to which a segment is copied before it is compressed. */
const SMALL_BYTES = 32 * 1024;

/** A segment that is cut: nothing in it changes any more. */
export interface CutSegment {
  readonly buffer: SegmentBuffer;
  readonly timeEndPs: bigint;
  /** Ordinal of the next client frame, and index of the next string, after this segment. */
  readonly nextFrame: bigint;
  readonly nextString: bigint;
  /** Strings first seen since the previous segment. */
  readonly strings: Uint8Array[];
}

export interface CommitterEvents {
  /** Frames below `nextFrame` are durable. */
  onDurable(nextFrame: bigint, nextString: bigint): void;
  /** The disk is full (an error) or has room again (null). */
  onStall(error: UscopeError | null): void;
  /** A segment's buffer may be used again: usually as soon as it is compressed. */
  onRecycle(buffer: SegmentBuffer): void;
}

/** What is left of a segment once its buffer is compressed. */
interface Queued extends Omit<CutSegment, 'buffer'> {
  readonly header: Omit<SegmentHeader, 'prevSegmentOffset' | 'deltasCompressedSize'>;
  readonly checkpoint: Uint8Array;
  readonly snapshots: readonly number[];
  readonly compressed: Promise<Uint8Array>;
  settled: boolean;
  /** Bytes of it that wait. */
  pending: number;
  /** The buffer, while it is in use. */
  buffer: SegmentBuffer | null;
}

export class Committer {
  /** Bytes of segments that are cut and not yet durable: raw until they are compressed, then compressed. */
  pendingBytes = 0;
  /** Why nothing can be committed any more. */
  failure: UscopeError | null = null;

  private readonly queue: Queued[] = [];
  private running: Promise<void> | null = null;
  private readonly waiters: (() => void)[] = [];
  private stopped = false;

  constructor(
    private readonly file: OutputFile,
    private readonly compressor: Compressor,
    private readonly segments: SegmentList,
    private readonly events: CommitterEvents,
    private readonly onFull: 'wait' | 'stop',
    /** 8-aligned end of what is committed. */
    public end: number,
  ) {}

  /** Takes over the segment; it is durable when `onDurable` says so. */
  enqueue(segment: CutSegment): void {
    const { buffer, ...rest } = segment;
    // A small segment gives its buffer back at once: thousands of them may wait, and each would keep a large one.
    const isSmall = buffer.length <= SMALL_BYTES;
    const raw = isSmall ? buffer.bytes.slice(0, buffer.length) : buffer.bytes.subarray(0, buffer.length);
    const compressed = this.compressor.compress(raw);
    const entry: Queued = {
      ...rest,
      header: {
        flags: 0,
        timeStartPs: buffer.timeStartPs,
        timeEndPs: segment.timeEndPs,
        checkpointSize: buffer.checkpoint.length,
        deltasRawSize: buffer.length,
        numFrames: buffer.numFrames,
        numFramesActive: buffer.numActiveFrames,
      },
      checkpoint: buffer.checkpoint,
      snapshots: [...buffer.snapshots],
      compressed,
      settled: false,
      pending: buffer.length,
      buffer: isSmall ? null : buffer,
    };
    this.pendingBytes += entry.pending;
    this.queue.push(entry);
    compressed.then(
      (blob) => this.settle(entry, raw, blob),
      () => this.settle(entry, raw, null), // `run` meets the rejection in its turn
    );
    if (isSmall) this.events.onRecycle(buffer);
    this.running ??= this.run().finally(() => {
      this.running = null;
    });
  }

  private settle(entry: Queued, raw: Uint8Array, blob: Uint8Array | null): void {
    entry.settled = true;
    if (blob === null || blob === raw) return; // not compressed: its bytes go to the disk from where they are
    if (entry.buffer) this.events.onRecycle(entry.buffer);
    entry.buffer = null;
    this.pendingBytes += blob.length - entry.pending;
    entry.pending = blob.length;
    this.wake();
  }

  /** Resolves when at most `bytes` bytes are pending, or when the writer has failed. */
  async below(bytes: number): Promise<void> {
    while (this.pendingBytes > bytes && this.failure === null) {
      await new Promise<void>((resolve) => this.waiters.push(resolve));
    }
  }

  /** Resolves when everything enqueued is durable. @throws the failure that prevented it. */
  async drain(): Promise<void> {
    while (this.running) await this.running;
    if (this.failure) throw this.failure;
  }

  /** Gives up waiting for disk space. */
  stop(): void {
    this.stopped = true;
  }

  private async run(): Promise<void> {
    try {
      while (this.queue.length > 0) await this.commitGroup();
    } catch (error) {
      this.failure =
        error instanceof UscopeError
          ? error
          : new UscopeError('WRITER_IO', String(error), { file: this.file.path }, { cause: error });
      this.queue.length = 0;
      this.wake();
    }
  }

  private async commitGroup(): Promise<void> {
    const chunks: Uint8Array[] = [];
    const group: Queued[] = [];
    const blobs: Uint8Array[] = [];
    const start = this.end;
    const firstSegment = this.segments.length;
    let at = start;
    while (this.queue.length > 0 && at - start < MAX_GROUP_BYTES) {
      if (group.length > 0 && !this.queue[0].settled) break;
      const entry = this.queue.shift()!;
      group.push(entry);
      const blob = await entry.compressed;
      blobs.push(blob);
      at = this.appendSegment(entry, blob, at, chunks);
    }
    const last = group[group.length - 1];
    await this.retryWhileFull(() => this.writeGroup(chunks, start, firstSegment));
    this.end = at;
    for (const blob of blobs) this.compressor.release(blob);
    for (const { buffer, pending } of group) {
      this.pendingBytes -= pending;
      if (buffer) this.events.onRecycle(buffer);
    }
    this.events.onDurable(last.nextFrame, last.nextString);
    this.wake();
  }

  /** Lays out one segment and its commit record from `offset` (8-aligned); returns the 8-aligned end. */
  private appendSegment(entry: Queued, deltas: Uint8Array, offset: number, chunks: Uint8Array[]): number {
    const { checkpoint } = entry;
    const header = encodeSegmentHeader({
      ...entry.header,
      prevSegmentOffset: BigInt(this.segments.lastOffset),
      deltasCompressedSize: deltas.length,
    });
    const segmentSize = SEGMENT_HEADER_SIZE + checkpoint.length + deltas.length;
    const padding = new Uint8Array(-segmentSize & 7);
    const crc = zlibCrc32(deltas, zlibCrc32(checkpoint, zlibCrc32(header)));
    const record = encodeCommitRecord(
      {
        segmentOffset: BigInt(offset),
        segmentSize,
        nextFrame: entry.nextFrame,
        nextString: entry.nextString,
        strings: entry.strings,
        snapshots: entry.snapshots,
      },
      crc,
      zlibCrc32,
    );
    chunks.push(header, checkpoint, deltas, padding, record);
    this.segments.push(offset, segmentSize, entry.header.timeStartPs, entry.timeEndPs);
    return offset + segmentSize + padding.length + record.length;
  }

  private async writeGroup(chunks: Uint8Array[], start: number, firstSegment: number): Promise<void> {
    if (this.segments.length === firstSegment) return;
    await this.file.write(chunks, start);
    await this.file.sync();
    const tail = new Uint8Array(8);
    new DataView(tail.buffer).setBigUint64(0, BigInt(this.segments.lastOffset), true);
    await this.file.write([tail], HEADER_TAIL_OFFSET);
    const count = new Uint8Array(4);
    new DataView(count.buffer).setUint32(0, this.segments.length, true);
    await this.file.write([count], HEADER_NUM_SEGMENTS_OFFSET);
    await this.file.sync();
  }

  /** A full disk is no reason to lose anything: the same bytes are written again until there is room (or the policy is to stop). */
  async retryWhileFull(write: () => Promise<void>): Promise<void> {
    let stalled = false;
    for (;;) {
      try {
        await write();
        if (stalled) this.events.onStall(null);
        return;
      } catch (error) {
        const full = error instanceof UscopeError && error.code === 'WRITER_DISK_FULL';
        if (!full || this.onFull === 'stop' || this.stopped) throw error;
        if (!stalled) this.events.onStall(error);
        stalled = true;
        await new Promise((resolve) => setTimeout(resolve, DISK_FULL_RETRY_MS));
      }
    }
  }

  private wake(): void {
    for (const waiter of this.waiters.splice(0)) waiter();
  }
}
