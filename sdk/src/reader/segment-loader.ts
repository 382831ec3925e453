/**
 * Brings one segment into memory: header, checkpoint, decompressed frames; checked against its commit record where the file has them.
 */
import { crc32 } from '../base/crc32.js';
import { UscopeError } from '../base/errors.js';
import { COMMIT_HEADER_SIZE, commitRecordSize, verifyCommitRecord } from '../format/commit-record.js';
import { FrameCursor } from '../format/frame.js';
import { compressionOf, type FileHeader, Flag } from '../format/header.js';
import { decodeSegmentHeader, SEGMENT_HEADER_SIZE, type SegmentHeader } from '../format/segment.js';
import type { CompressionName } from '../format/types.js';
import { type Codec, type DeltaBlob, decompressDeltas } from './codec.js';
import { commitRecordOffset } from './commit-strings.js';
import { giveBack, hasIdleKernels, type SegmentKernel, takeKernel } from './kernel/segment-kernel.js';
import {
  chainError,
  readSegmentHeader,
  type SegmentEntry,
  type SegmentList,
  segmentSize,
} from './segment-list.js';
import type { CheckedSource } from './source.js';
import type { Warnings } from './warnings.js';

/** A segment in memory. `deltas` is what the cursor walks; no other code may change it. */
export interface LoadedSegment {
  readonly index: number;
  readonly offset: number;
  readonly header: SegmentHeader;
  readonly checkpoint: Uint8Array;
  readonly checkpointOffset: number;
  readonly deltas: Uint8Array;
  /** File offset of the delta blob. */
  readonly deltasOffset: number;
  /** False where `deltas` are the file's own bytes. */
  readonly compressed: boolean;
  /** A new walk over the frames. */
  cursor(): FrameCursor;
}

/** A segment as the file has it, checked. */
export interface PackedSegment {
  readonly index: number;
  readonly offset: number;
  readonly header: SegmentHeader;
  readonly checkpoint: Uint8Array;
  readonly checkpointOffset: number;
  readonly blob: DeltaBlob;
}

interface CacheEntry {
  readonly packed: PackedSegment;
  /** Once somebody wanted it decompressed. */
  loaded: LoadedSegment | null;
}

export interface LoaderOptions {
  readonly codec: Codec;
  readonly maxSegmentBytes: number;
  /** The file has our session chunk. */
  readonly ours: boolean;
  /** Check every segment against the CRC of its commit record. */
  readonly verify: boolean;
  /** Bytes of segments kept for the next question. */
  readonly cacheBytes: number;
}

/** One read fetches a whole segment when its successor shows that it is no longer than this. */
const SINGLE_READ_LIMIT = 16 * 1024 * 1024;
const MAX_HEADERS = 4096;

export class SegmentLoader {
  private readonly cache = new Map<number, CacheEntry>();
  /** Headers seen after the segments loaded; see `confirm`. */
  private readonly headers = new Map<number, SegmentHeader>();
  private cachedBytes = 0;
  /** Names this loader in a kernel, which may outlive it. */
  private readonly token = {};
  private readonly method: CompressionName;
  private readonly interleaved: boolean;

  constructor(
    private readonly source: CheckedSource,
    private readonly list: SegmentList,
    header: FileHeader,
    private readonly options: LoaderOptions,
    private readonly warnings: Warnings,
  ) {
    this.method = compressionOf(header.flags);
    this.interleaved = (header.flags & Flag.INTERLEAVED) !== 0;
  }

  /** Loads a segment without keeping it: for scans, which pass each segment once. */
  async load(index: number): Promise<LoadedSegment> {
    const known = this.cache.get(index);
    return known?.loaded ?? this.unpack(known?.packed ?? (await this.fetch(index)));
  }

  /** Loads a segment and keeps it: for questions that return to the same place. */
  async loadCached(index: number): Promise<LoadedSegment> {
    const entry = await this.keep(index);
    const loaded = entry.loaded ?? (await this.unpack(entry.packed));
    if (!entry.loaded && this.cache.get(index) === entry) this.cachedBytes += loaded.deltas.byteLength;
    entry.loaded ??= loaded;
    this.evict(index);
    return entry.loaded;
  }

  /** The same without decompressing it: see `unpack`. */
  async packedCached(index: number): Promise<PackedSegment> {
    const { packed } = await this.keep(index);
    this.evict(index);
    return packed;
  }

  /** Like `packedCached`, without keeping it. */
  async packed(index: number): Promise<PackedSegment> {
    return this.cache.get(index)?.packed ?? this.fetch(index);
  }

  /**
   * Decompresses a segment.
   * @param kernel the deltas lie in its memory, as long as it is not used again; without one they are the caller's
   */
  async unpack(packed: PackedSegment, kernel: SegmentKernel | null = null): Promise<LoadedSegment> {
    const { index, offset, header, checkpoint, checkpointOffset, blob } = packed;
    const { codec, maxSegmentBytes } = this.options;
    const deltas = await decompressDeltas(blob, codec, maxSegmentBytes, kernel);
    const { interleaved } = this;
    return {
      index,
      offset,
      header,
      checkpoint,
      checkpointOffset,
      deltas,
      deltasOffset: blob.offset,
      compressed: this.method !== 'none',
      cursor: () => new FrameCursor(deltas, header.timeStartPs, interleaved),
    };
  }

  /**
   * A segment decompressed in a kernel's memory, for as long as `use` takes. Nothing is left to collect where a source reads into memory, as files do; what
   * the kernel still has of the segment is not read again.
   * @param space bytes of the kernel for the caller; null: he needs no kernel, and gets none
   */
  async inPlace<T>(
    index: number,
    space: number | null,
    use: (segment: LoadedSegment, kernel: SegmentKernel | null) => T | Promise<T>,
  ): Promise<T> {
    const { packed, kernel } = await this.borrow(index, space);
    try {
      return await use(await this.unpack(packed, kernel), kernel);
    } finally {
      giveBack(kernel);
    }
  }

  private async borrow(
    index: number,
    space: number | null,
  ): Promise<{ packed: PackedSegment; kernel: SegmentKernel | null }> {
    const isRead = space !== null && !this.cache.has(index) && this.source.readsInto && hasIdleKernels();
    const kernel = isRead ? takeKernel(space, (one) => one.packedOf(this.token, index) !== null) : null;
    if (kernel) {
      try {
        return { packed: await this.packedIn(index, kernel), kernel };
      } catch (error) {
        giveBack(kernel);
        throw error;
      }
    }
    const packed = await this.packedCached(index);
    if (space === null) return { packed, kernel: null };
    return { packed, kernel: takeKernel(space, (one) => one.holds(packed.blob.bytes)) };
  }

  /** Like `packedCached`, but read into a kernel's memory where that is possible: valid until it is used for another one. */
  async packedIn(index: number, kernel: SegmentKernel): Promise<PackedSegment> {
    if (this.cache.has(index) || !this.source.readsInto) return this.packedCached(index);
    const known = kernel.packedOf(this.token, index) as PackedSegment | null;
    if (known) return known;
    const segment = await this.fetch(index, kernel);
    kernel.keepPacked({ owner: this.token, index, segment });
    return segment;
  }

  /** The entry of a segment, the youngest from now on. */
  private async keep(index: number): Promise<CacheEntry> {
    const fetched = this.cache.has(index) ? null : { packed: await this.fetch(index), loaded: null };
    // Another one may have asked for it meanwhile.
    const known = this.cache.get(index);
    const entry = known ?? (fetched as CacheEntry);
    if (!known) this.cachedBytes += cost(entry);
    this.cache.delete(index);
    this.cache.set(index, entry);
    return entry;
  }

  /** Forgets the oldest until the rest is within the limit; `index` stays. */
  private evict(index: number): void {
    for (const [oldest, victim] of this.cache) {
      if (this.cachedBytes <= this.options.cacheBytes || oldest === index) break;
      this.cache.delete(oldest);
      this.cachedBytes -= cost(victim);
    }
  }

  /** Only the checkpoint of a segment, and its file offset. */
  async checkpoint(index: number): Promise<{ bytes: Uint8Array; offset: number }> {
    // Only as a whole a segment can be checked.
    const known = this.options.verify ? await this.packedCached(index) : this.cache.get(index)?.packed;
    if (known) return { bytes: known.checkpoint, offset: known.checkpointOffset };
    const segmentOffset = (await this.list.entry(index)).offset;
    const { checkpointSize } = await readSegmentHeader(this.source, segmentOffset);
    const offset = segmentOffset + SEGMENT_HEADER_SIZE;
    return { bytes: await this.source.exactly(offset, checkpointSize, 'a checkpoint'), offset };
  }

  /**
   * Makes sure that segment `index` is the one the segment table says: a wrong entry after the segments looked at would hide frames.
   * @throws UscopeError FORMAT_CHAIN
   */
  async confirm(index: number): Promise<void> {
    if (index >= this.list.count) return;
    const entry = await this.list.entry(index);
    const header = this.headers.get(index) ?? (await readSegmentHeader(this.source, entry.offset));
    await this.check(index, entry, header);
  }

  /** @param kernel reads into its memory */
  private async fetch(index: number, kernel: SegmentKernel | null = null): Promise<PackedSegment> {
    const entry = await this.list.entry(index);
    const { offset } = entry;
    const length = await this.readLength(index, offset);
    const first = kernel
      ? await this.source.into(kernel.memoryForPacked(length), offset)
      : await this.source.upTo(offset, length);
    const header = decodeSegmentHeader(first, offset);
    if (length > SEGMENT_HEADER_SIZE) this.remember(index + 1, first.subarray(length - SEGMENT_HEADER_SIZE));
    await this.check(index, entry, header);
    const size = segmentSize(header);
    const whole =
      first.byteLength >= size
        ? first.subarray(0, size)
        : await this.source.exactly(offset, size, 'a segment');
    if (this.options.verify) await this.verify(offset, whole, first);
    const deltasStart = SEGMENT_HEADER_SIZE + header.checkpointSize;
    return {
      index,
      offset,
      header,
      checkpoint: whole.subarray(SEGMENT_HEADER_SIZE, deltasStart),
      checkpointOffset: offset + SEGMENT_HEADER_SIZE,
      blob: {
        bytes: whole.subarray(deltasStart),
        rawSize: header.deltasRawSize,
        method: this.method,
        offset: offset + deltasStart,
      },
    };
  }

  private remember(index: number, bytes: Uint8Array): void {
    if (this.headers.size >= MAX_HEADERS) this.headers.clear();
    try {
      this.headers.set(index, decodeSegmentHeader(bytes));
    } catch {
      // A later request for that segment reports what is wrong with it.
    }
  }

  /** Table and segment must agree; in files of ours the segment also names its predecessor in the table. */
  private async check(index: number, entry: SegmentEntry, header: SegmentHeader): Promise<void> {
    const { offset, timeStartPs } = entry;
    if (header.timeStartPs !== timeStartPs) {
      chainError(
        `the segment at ${offset} starts at ${header.timeStartPs} ps, its table entry says ${timeStartPs}`,
        offset,
      );
    }
    if (!this.options.ours) return;
    const previous = index > 0 ? (await this.list.entry(index - 1)).offset : 0;
    if (header.prevSegmentOffset === BigInt(previous)) return;
    chainError(
      `the segment at ${offset} follows one at ${header.prevSegmentOffset}, the list has ${previous} before it`,
      offset,
    );
  }

  /** Up to and with the header of the next segment, which `confirm` may ask for. */
  private async readLength(index: number, offset: number): Promise<number> {
    if (index + 1 >= this.list.count) return SEGMENT_HEADER_SIZE;
    const span = (await this.list.entry(index + 1)).offset - offset;
    return span <= SINGLE_READ_LIMIT ? span + SEGMENT_HEADER_SIZE : SEGMENT_HEADER_SIZE;
  }

  /** @throws UscopeError FORMAT_CHECKSUM when segment or record are not what was committed. */
  private async verify(offset: number, segment: Uint8Array, read: Uint8Array): Promise<void> {
    const recordOffset = commitRecordOffset(offset + segment.byteLength);
    const record = await this.readRecord(recordOffset, read.subarray(recordOffset - offset));
    if (!record) {
      this.warnings.add(
        'no-commit-record',
        `the segment at ${offset} has no commit record after it: damage to it cannot be detected`,
      );
    } else if (!verifyCommitRecord(segment, record, this.options.codec.crc32 ?? crc32)) {
      throw new UscopeError(
        'FORMAT_CHECKSUM',
        `the segment of ${segment.byteLength} bytes is not what was committed: its bytes or those of its commit record changed on disk`,
        { offset },
      );
    }
  }

  /** The record's bytes, from those already read if they suffice; null when there is none. */
  private async readRecord(offset: number, read: Uint8Array): Promise<Uint8Array | null> {
    const prefix =
      read.byteLength >= COMMIT_HEADER_SIZE ? read : await this.source.upTo(offset, COMMIT_HEADER_SIZE);
    const size = commitRecordSize(prefix);
    if (size === 0) return null;
    return read.byteLength >= size
      ? read.subarray(0, size)
      : this.source.exactly(offset, size, 'a commit record');
  }
}

/** Errors inside a delta blob carry offsets in it: they get those of the file, or (decompressed) the blob's and the detail keeps the other. */
export function placeInSegment(error: unknown, segment: LoadedSegment): unknown {
  if (!(error instanceof UscopeError)) return error;
  const inBlob = segment.compressed ? 0 : Number(error.place.offset ?? 0);
  return new UscopeError(
    error.code,
    `${error.detail}, in the segment at ${segment.offset}`,
    { offset: segment.deltasOffset + inBlob },
    { cause: error },
  );
}

function cost({ packed, loaded }: CacheEntry): number {
  return packed.checkpoint.byteLength + packed.blob.bytes.byteLength + (loaded?.deltas.byteLength ?? 0);
}
