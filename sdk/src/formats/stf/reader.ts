/** STF files, packed or not, read from front to end or from an instruction on. */

import { concatBytes } from '../../base/bytes.js';
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { type ByteSource, readPieces } from '../../codecs/byte-source.js';
import { decompressFrame, decompressZstd } from '../../codecs/zstd.js';
import { untilCut } from '../common/cut.js';
import {
  containerOf,
  decompressed,
  readZstfIndex,
  type StfContainer,
  ZSTF_HEADER_BYTES,
  type ZstfIndex,
} from './container.js';
import { StfCursor } from './cursor.js';
import { decodeRecord } from './records.js';
import { type StfRecord, StfType } from './types.js';

const MAGIC_BYTES = 6;

export interface StfReadOptions {
  /** Index of the instruction (or transaction), from 0, at whose first record to begin. Quick in `.zstf`, else everything before is read. */
  readonly fromInstruction?: number | undefined;
  /** Use the decoder of zstd in JavaScript even where the native one is installed. */
  readonly javaScriptOnly?: boolean | undefined;
}

/** A file on whose records `stream` and `records` may be called any number of times. */
export class StfFile {
  private constructor(
    readonly source: ByteSource,
    readonly container: StfContainer,
    /** Of `.zstf`; null for the others. */
    readonly index: ZstfIndex | null,
    private readonly size: number,
  ) {}

  /**
   * Looks at the file's beginning, and the index of `.zstf`.
   * @throws UscopeError CONVERT_UNKNOWN, CONVERT_FORMAT, CONVERT_LIMIT, CONVERT_TRUNCATED
   */
  static async open(source: ByteSource): Promise<StfFile> {
    const head = await source.read(0, MAGIC_BYTES);
    const container = containerOf(head);
    if (container === null) {
      const text = 'the file does not begin like STF, plain or packed as zstf, gzip, xz or zstd';
      throw new UscopeError('CONVERT_UNKNOWN', text, { file: source.name, offset: 0 });
    }
    const index = container === 'zstf' ? await readZstfIndex(source) : null;
    return new StfFile(source, container, index, await source.size());
  }

  /** The records as a stream without allocations. Close it when it is not read to the end. */
  async stream(options: StfReadOptions = {}): Promise<StfStream> {
    const { fromInstruction = 0 } = options;
    const stream = new StfStream(this.source.name, this.size);
    const isQuick = this.index?.isComplete === true && fromInstruction >= this.index.markersPerChunk;
    if (isQuick) await this.seek(stream, fromInstruction, options);
    else stream.start(this.pieces(stream, 0, options));
    await stream.skipTo(fromInstruction);
    return stream;
  }

  /** The records as objects. @throws UscopeError CONVERT_*, with the offset in the uncompressed stream */
  async *records(options: StfReadOptions = {}): AsyncGenerator<StfRecord> {
    const stream = await this.stream(options);
    try {
      while (await stream.more()) while (stream.next()) yield decodeRecord(stream.cursor);
    } finally {
      await stream.close();
    }
  }

  /** Walks through the header, or what there is of one that is cut, and calls `take` at each of its records. @returns the cursor, after it */
  async readHeader(take: (cursor: StfCursor) => void): Promise<StfCursor> {
    const stream = await this.stream();
    const { cursor } = stream;
    await untilCut(async () => {
      while (!cursor.isBody && (await stream.more())) while (!cursor.isBody && stream.next()) take(cursor);
    }).finally(() => stream.close());
    return cursor;
  }

  /** The bytes without their packing. @throws UscopeError CONVERT_* */
  async *payload(options: StfReadOptions = {}): AsyncGenerator<Uint8Array> {
    yield* this.pieces(null, 0, options);
  }

  async close(): Promise<void> {
    await this.source.close?.();
  }

  /** The header is in chunk 0; the first instruction of another one is known from the index. */
  private async seek(stream: StfStream, instruction: number, options: StfReadOptions): Promise<void> {
    const { chunks, markersPerChunk } = this.index!;
    stream.start(this.pieces(stream, 0, options));
    while (!stream.cursor.isBody && (await stream.more())) while (!stream.cursor.isBody && stream.next());
    await stream.close();
    const number = Math.min(Math.floor(instruction / markersPerChunk), chunks.length - 1);
    const { streamOffset, startPc } = chunks[number];
    const [lo, hi] = [Number(startPc & 0xffff_ffffn), Number(startPc >> 32n)];
    stream.cursor.jump(streamOffset, number * markersPerChunk, lo, hi);
    stream.start(this.pieces(stream, number, options));
  }

  private pieces(
    stream: StfStream | null,
    chunk: number,
    options: StfReadOptions,
  ): AsyncGenerator<Uint8Array> {
    const { source, container, index, size } = this;
    const onRead = (offset: number): void => {
      if (stream) stream.position = offset;
    };
    if (index === null) {
      const pieces = readPieces(source, 0, size, onRead);
      return inOrder(decompressed(container as Exclude<StfContainer, 'zstf'>, pieces));
    }
    if (index.isComplete) return this.chunks(index, stream, chunk, options);
    return unfinished(
      decompressZstd(readPieces(source, ZSTF_HEADER_BYTES, size, onRead), 0, !options.javaScriptOnly),
    );
  }

  private async *chunks(
    index: ZstfIndex,
    stream: StfStream | null,
    first: number,
    { javaScriptOnly }: StfReadOptions,
  ) {
    for (let number = first; number < index.chunks.length; number++) {
      const { offset, bytes, size } = index.chunks[number];
      const frame = await this.source.read(offset, bytes);
      if (frame.length < bytes) throw cut(offset + frame.length);
      if (stream) stream.position = offset + bytes;
      yield decompressFrame(frame, size, offset, !javaScriptOnly);
      stream?.checkChunk(number, number === index.chunks.length - 1, index.markersPerChunk);
    }
  }
}

/**
 * Records one after the other: nothing is awaited or allocated per record, and memory is that of a piece of the file.
 *
 *   while (await stream.more()) while (stream.next()) use(stream.cursor);
 */
export class StfStream {
  readonly cursor = new StfCursor();
  /** Bytes of the file that have been read. */
  position = 0;
  private pieces: AsyncIterator<Uint8Array> | null = null;
  /** `next` has given everything that was brought. */
  private isExhausted = true;

  constructor(
    private readonly file: string | undefined,
    private readonly size: number,
  ) {}

  /** Part of the file that has been read, 0 to 1. */
  get part(): number {
    return this.size === 0 ? 1 : Math.min(1, this.position / this.size);
  }

  /** @internal */
  start(pieces: AsyncIterator<Uint8Array>): void {
    this.pieces = pieces;
    this.isExhausted = true;
  }

  /**
   * Brings more bytes; false at the end of the file.
   * @throws UscopeError CONVERT_TRUNCATED when the file ends inside a record or its header, CONVERT_FORMAT, CONVERT_LIMIT
   */
  async more(): Promise<boolean> {
    if (!this.isExhausted) return true;
    const { cursor } = this;
    const parts = [cursor.rest];
    let length = parts[0].length;
    try {
      // A record may be larger than a piece of the file: it is put together once it is there as a whole.
      for (const needed = length === 0 ? 1 : Math.max(cursor.needed, length + 1); length < needed; ) {
        const { value, done } = await this.pieces!.next();
        if (done) return this.atEnd(length);
        parts.push(value);
        length += value.length;
      }
    } catch (error) {
      throw isUscopeError(error) ? error.at({ file: this.file, offset: cursor.restOffset + length }) : error;
    }
    cursor.feed(length === parts[parts.length - 1].length ? parts[parts.length - 1] : concatBytes(parts));
    this.isExhausted = false;
    return true;
  }

  /** To the next record of what is there. @throws UscopeError as `StfCursor.next` */
  next(): boolean {
    try {
      if (this.cursor.next()) return true;
      this.isExhausted = true;
      return false;
    } catch (error) {
      throw isUscopeError(error) && this.file !== undefined ? error.at({ file: this.file }) : error;
    }
  }

  /** @internal To the first record of an instruction. */
  async skipTo(instruction: number): Promise<void> {
    const { cursor } = this;
    while (cursor.markers < instruction && (await this.more())) {
      while (cursor.markers < instruction && this.next());
    }
  }

  /** @internal What a chunk that is not the last one must be for instructions to be found by their number. */
  checkChunk(chunk: number, isLast: boolean, markersPerChunk: number): void {
    const { cursor } = this;
    const isWhole = cursor.rest.length === 0 && (isLast || cursor.isMarker);
    if ((isLast || cursor.markers === (chunk + 1) * markersPerChunk) && isWhole) return;
    if (isLast && cursor.rest.length > 0) return; // reported as a cut record
    throw new UscopeError(
      'CONVERT_FORMAT',
      `chunk ${chunk} does not end with its instruction number ${markersPerChunk}`,
      { offset: cursor.restOffset },
    );
  }

  async close(): Promise<void> {
    await this.pieces?.return?.();
  }

  private atEnd(left: number): false {
    const { cursor } = this;
    // An empty .zstf has not even a header.
    const isInside = left > 0 || cursor.isOperand;
    if (!isInside && (cursor.isBody || (cursor.records === 0 && this.size === ZSTF_HEADER_BYTES)))
      return false;
    const where = left > 0 ? 'a record' : cursor.isOperand ? 'an instruction' : 'the header';
    throw new UscopeError('CONVERT_TRUNCATED', `the file ends inside ${where}`, {
      offset: cursor.restOffset,
    });
  }
}

async function* inOrder(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

/** Chunks up to the end of a file that has no index: they may end after a record, yet something is missing. */
async function* unfinished(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let failure: unknown = null;
  try {
    yield* pieces;
  } catch (error) {
    failure = error;
  }
  if (isUscopeError(failure) && failure.code === 'CONVERT_LIMIT') throw failure;
  // What looks like damage is the beginning of an index that was cut.
  throw new UscopeError(
    'CONVERT_TRUNCATED',
    'the file has no complete index: it was truncated, or its writer did not finish',
  );
}

function cut(offset: number): UscopeError {
  return new UscopeError('CONVERT_TRUNCATED', 'the file ends inside a chunk', { offset });
}

/** Whether a record is one of those that end an instruction or are a transaction. */
export function isMarker(record: StfRecord): boolean {
  return record.type >= StfType.INST_OPCODE32 && record.type <= StfType.TRANSACTION;
}
