/** Writing STF, plain or as `.zstf`. The writer walks what it writes with the reader's own cursor: it refuses what a strict reader would. */
import { ByteWriter, concatBytes } from '../../base/bytes.js';
import { UscopeError } from '../../base/errors.js';
import { canCompressZstd, compressFrame } from '../../codecs/zstd.js';
import { StfCursor } from './cursor.js';
import { encodeRecord } from './encode.js';
import { type StfRecord, StfType, TYPE_NAMES } from './types.js';
import { DEFAULT_MARKERS_PER_CHUNK, ZSTF_ENTRY_BYTES, ZSTF_HEADER_BYTES } from './zstf.js';

const BUFFER_BYTES = 256 * 1024;
/** Bytes waiting for `flush` above which `isFull` says so. */
const FULL_BYTES = 1024 * 1024;
const DEFAULT_LEVEL = 3;

/** Where the bytes go. `patch` replaces bytes written before: only `.zstf` needs it. */
export interface StfOutput {
  write(bytes: Uint8Array): Promise<void>;
  patch(offset: number, bytes: Uint8Array): Promise<void>;
}

export interface StfWriterOptions {
  /** Default plain. `zstf` needs the optional package zstd-napi. */
  readonly container?: 'plain' | 'zstf' | undefined;
  /** Instructions, or transactions, in a chunk of `.zstf`; default 100,000. */
  readonly markersPerChunk?: number | undefined;
  /** Of zstd; default 3. */
  readonly level?: number | undefined;
}

/**
 *     const writer = new StfWriter(output);
 *     for (const record of records) {
 *       writer.record(record);
 *       if (writer.isFull) await writer.flush();
 *     }
 *     await writer.close();
 */
export class StfWriter {
  private buffer = new Uint8Array(BUFFER_BYTES);
  private view = new DataView(this.buffer.buffer);
  private length = 0;
  private readonly cursor = new StfCursor();
  private readonly sink: PlainSink | ZstfSink;
  private isClosed = false;

  /** @throws UscopeError ENV_MISSING (`.zstf` without zstd-napi), CONVERT_OPTION */
  constructor(output: StfOutput, options: StfWriterOptions = {}) {
    this.sink = options.container === 'zstf' ? new ZstfSink(output, options) : new PlainSink(output);
    this.cursor.feed(this.buffer, 0);
  }

  /** Records written; of these instructions or transactions. */
  get records(): number {
    return this.cursor.records;
  }

  get markers(): number {
    return this.cursor.markers;
  }

  /** Bits of a vector register by the header written; 0: none. */
  get vlen(): number {
    return this.cursor.header.vlen;
  }

  /** Whether `flush` is due. */
  get isFull(): boolean {
    return this.sink.waiting >= FULL_BYTES;
  }

  /** Address that the next instruction has unless a FORCE_PC comes before it, as u32 halves. */
  get nextLo(): number {
    return this.cursor.nextLo;
  }

  get nextHi(): number {
    return this.cursor.nextHi;
  }

  /**
   * Appends a record.
   * @throws UscopeError CONVERT_SOURCE for one that the format cannot hold there: the file stays as it was before
   */
  record(record: StfRecord): void {
    const out = new ByteWriter();
    encodeRecord(out, record, { event64: this.cursor.hasEvent64, vlen: this.cursor.header.vlen });
    const bytes = out.finish();
    this.copy(bytes, 0, bytes.length);
  }

  /** Appends a record of another file: its bytes, descriptor first. */
  copy(bytes: Uint8Array, from: number, size: number): void {
    const at = this.room(size);
    if (size < 32) for (let i = 0; i < size; i++) this.buffer[at + i] = bytes[from + i];
    else this.buffer.set(bytes.subarray(from, from + size), at);
    this.accept(size);
  }

  /** Appends OPCODE16 or OPCODE32, by the lowest two bits. */
  opcode(bits: number): void {
    const isShort = (bits & 3) !== 3;
    const at = this.room(5);
    this.buffer[at] = isShort ? StfType.INST_OPCODE16 : StfType.INST_OPCODE32;
    this.view.setUint16(at + 1, bits & 0xffff, true);
    if (!isShort) this.view.setUint16(at + 3, bits >>> 16, true);
    this.accept(isShort ? 3 : 5);
  }

  /** Appends a FORCE_PC, INST_PC_TARGET or EVENT_PC_TARGET; the address as u32 halves. */
  address(type: 9 | 31 | 101, lo: number, hi: number): void {
    const at = this.room(9);
    this.buffer[at] = type;
    this.view.setUint32(at + 1, lo, true);
    this.view.setUint32(at + 5, hi, true);
    this.accept(9);
  }

  /** Hands what is waiting to the output. */
  async flush(): Promise<void> {
    await this.sink.flush();
  }

  /**
   * Ends the file. @throws UscopeError CONVERT_SOURCE when the header is not complete. (A file without a single record is plain and empty, or
   * a .zstf of 20 bytes.)
   */
  async close(): Promise<void> {
    if (this.isClosed) return;
    if (this.cursor.records > 0 && !this.cursor.isBody) {
      throw new UscopeError('CONVERT_SOURCE', 'the header of the STF file has no end');
    }
    this.isClosed = true;
    this.handOver();
    await this.sink.close();
  }

  private room(size: number): number {
    if (this.length + size > this.buffer.length) {
      this.handOver();
      if (size > this.buffer.length) {
        this.buffer = new Uint8Array(size);
        this.view = new DataView(this.buffer.buffer);
        this.cursor.feed(this.buffer, 0);
      }
    }
    return this.length;
  }

  /** The bytes at the end are a record if the cursor says so. */
  private accept(size: number): void {
    const { cursor } = this;
    cursor.extend(this.length + size);
    let isWhole = false;
    try {
      isWhole = cursor.next() && cursor.size === size;
    } catch (error) {
      cursor.extend(this.length);
      const detail = error instanceof UscopeError ? error.detail : String(error);
      throw new UscopeError('CONVERT_SOURCE', `STF cannot hold this: ${detail}`, {}, { cause: error });
    }
    if (!isWhole)
      throw new UscopeError('CONVERT_SOURCE', `these ${size} bytes are not a ${this.nameAt()} of STF`);
    this.length += size;
    if (cursor.isMarker && this.sink.isChunkFull(cursor.markers)) {
      this.handOver();
      this.sink.endChunk(cursor.nextLo, cursor.nextHi);
    }
  }

  private nameAt(): string {
    return TYPE_NAMES.get(this.buffer[this.length]) ?? 'record';
  }

  private handOver(): void {
    if (this.length === 0) return;
    this.sink.push(this.buffer.slice(0, this.length));
    this.length = 0;
    this.cursor.feed(this.buffer, 0);
  }
}

class PlainSink {
  waiting = 0;
  private readonly pieces: Uint8Array[] = [];

  constructor(private readonly output: StfOutput) {}

  push(bytes: Uint8Array): void {
    this.pieces.push(bytes);
    this.waiting += bytes.length;
  }

  isChunkFull(_markers: number): boolean {
    return false;
  }

  endChunk(_nextLo: number, _nextHi: number): void {}

  async flush(): Promise<void> {
    for (const piece of this.pieces.splice(0)) await this.output.write(piece);
    this.waiting = 0;
  }

  close(): Promise<void> {
    return this.flush();
  }
}

class ZstfSink {
  waiting = 0;
  private readonly frames: Uint8Array[] = [];
  private chunk: Uint8Array[] = [];
  private chunkBytes = 0;
  private readonly markersPerChunk: number;
  private readonly level: number;
  private readonly index: { offset: number; lo: number; hi: number; size: number }[] = [];
  private end = ZSTF_HEADER_BYTES;
  private lo = 0;
  private hi = 0;

  constructor(
    private readonly output: StfOutput,
    { markersPerChunk = DEFAULT_MARKERS_PER_CHUNK, level = DEFAULT_LEVEL }: StfWriterOptions,
  ) {
    // Asked before anything is written.
    if (!canCompressZstd()) compressFrame(new Uint8Array(0), level);
    if (!Number.isSafeInteger(markersPerChunk) || markersPerChunk < 1) {
      throw new UscopeError('CONVERT_OPTION', `${markersPerChunk} instructions per chunk: 1 is the least`);
    }
    this.markersPerChunk = markersPerChunk;
    this.level = level;
    const header = new ByteWriter(ZSTF_HEADER_BYTES).bytes(new TextEncoder().encode('ZSTF'));
    this.frames.push(header.u64(markersPerChunk).u64(0).finish());
  }

  push(bytes: Uint8Array): void {
    this.chunk.push(bytes);
    this.chunkBytes += bytes.length;
  }

  isChunkFull(markers: number): boolean {
    return markers % this.markersPerChunk === 0;
  }

  /** @param nextLo address at which the next chunk begins */
  endChunk(nextLo: number, nextHi: number): void {
    const raw = concatBytes(this.chunk);
    const frame = compressFrame(raw, this.level);
    this.frames.push(frame);
    this.waiting += frame.length;
    this.index.push({ offset: this.end, lo: this.lo, hi: this.hi, size: raw.length });
    this.end += frame.length;
    this.lo = nextLo;
    this.hi = nextHi;
    this.chunk = [];
    this.chunkBytes = 0;
  }

  async flush(): Promise<void> {
    for (const frame of this.frames.splice(0)) await this.output.write(frame);
    this.waiting = 0;
  }

  async close(): Promise<void> {
    if (this.chunkBytes > 0) this.endChunk(0, 0);
    await this.flush();
    if (this.index.length === 0) return;
    const table = new ByteWriter(8 + ZSTF_ENTRY_BYTES * this.index.length).u64(this.index.length);
    for (const { offset, lo, hi, size } of this.index) table.u64(offset).u32(lo).u32(hi).u64(size);
    await this.output.write(table.finish());
    await this.output.patch(12, new ByteWriter(8).u64(this.end).finish());
  }
}
