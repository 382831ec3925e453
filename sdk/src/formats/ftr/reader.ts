/** FTR files: their chunks from front to end, with their content unpacked. Memory is that of a chunk. */

import { concatBytes } from '../../base/bytes.js';
import type { ErrorCode } from '../../base/codes.js';
import { UscopeError } from '../../base/errors.js';
import type { ByteSource } from '../../codecs/byte-source.js';
import { decompressLz4Block, decompressLz4Prefix } from '../../codecs/lz4-block.js';
import { CborReader, END, Major, NotCbor, OutOfBytes } from './cbor.js';
import { dictionaryEntries, directoryEntries, infoOf, relationEntries } from './content.js';
import { TransactionCursor } from './transaction-cursor.js';
import { type FtrChunk, FtrTag, MAGIC } from './types.js';

/** A chunk with its content unpacked. */
export interface RawChunk extends ChunkHead {
  /** Of the chunk, and of its content as it is there, in the file. */
  readonly offset: number;
  readonly contentOffset: number;
  /** A view; empty of a chunk that was skipped. */
  readonly content: Uint8Array;
  /** The file ends inside the chunk: the content is the beginning of what was meant. */
  readonly isCut: boolean;
}

export interface FtrReadOptions {
  /** Chunks whose content is not wanted. */
  readonly skip?: ((head: ChunkHead) => boolean) | undefined;
  /** Called with each offset reached. */
  readonly onPosition?: ((offset: number) => void) | undefined;
}

/** A file whose chunks may be read any number of times. */
export class FtrFile {
  /** Bytes after the end of the file's content, known after a whole pass. */
  trailingBytes = 0;

  private constructor(
    readonly source: ByteSource,
    readonly size: number,
  ) {}

  /**
   * A file that is the beginning of one, even an empty one, is cut, not unknown.
   * @throws UscopeError CONVERT_UNKNOWN
   */
  static async open(source: ByteSource): Promise<FtrFile> {
    const size = await source.size();
    const head = await source.read(0, MAGIC.length);
    if (head.every((byte, index) => byte === MAGIC[index])) return new FtrFile(source, size);
    throw new UscopeError('CONVERT_UNKNOWN', 'the file does not begin like FTR: d9 d9 f7 9f', {
      file: source.name,
      offset: 0,
    });
  }

  /**
   * The chunks in file order. Of a cut file everything before the cut comes first, the part of a chunk that is there, too.
   * @throws UscopeError CONVERT_TRUNCATED, CONVERT_FORMAT, CONVERT_UNSUPPORTED, CONVERT_LIMIT, with the offset in the file
   */
  async *chunks({ skip, onPosition }: FtrReadOptions = {}): AsyncGenerator<RawChunk> {
    const window = new SourceWindow(this.source, this.size);
    let offset = MAGIC.length;
    if (this.size < offset) throw this.cut(this.size, 'inside its first four bytes');
    for (;;) {
      const bytes = await window.at(offset, MAX_HEAD_BYTES);
      if (bytes.length === 0) throw this.cut(offset, 'without its end mark');
      if (bytes[0] === END) break;
      const cbor = new CborReader(bytes);
      const head = this.headOf(cbor, offset);
      const contentOffset = offset + cbor.at;
      const next = contentOffset + head.size;
      const isCut = next > this.size;
      const isSkipped = skip?.(head) === true;
      const packed = isSkipped ? new Uint8Array(0) : await window.at(contentOffset, head.size);
      const content = isSkipped ? packed : unpacked(head, packed, contentOffset, isCut);
      yield { ...head, offset, contentOffset, content, isCut };
      if (isCut) throw this.cut(offset, `inside a chunk of ${head.size} bytes`);
      offset = next;
      onPosition?.(offset);
    }
    this.trailingBytes = this.size - offset - 1;
  }

  /** The chunks as values that `encodeChunk` makes the same bytes of. @throws UscopeError as `chunks` */
  async *records(): AsyncGenerator<FtrChunk> {
    for await (const chunk of this.chunks()) {
      const value = decodeChunk(chunk);
      if (value) yield value;
    }
  }

  private headOf(cbor: CborReader, offset: number): ChunkHead {
    try {
      return readChunkHead(cbor, offset);
    } catch (error) {
      if (error instanceof OutOfBytes) throw this.cut(offset, 'inside the head of a chunk');
      if (error instanceof NotCbor) throw new UscopeError('CONVERT_FORMAT', error.message, { offset });
      throw error;
    }
  }

  private cut(offset: number, where: string): UscopeError {
    return new UscopeError('CONVERT_TRUNCATED', `the file ends ${where}`, { offset });
  }
}

function unpacked(head: ChunkHead, packed: Uint8Array, offset: number, isCut: boolean): Uint8Array {
  if (!head.isCompressed) return packed;
  return isCut ? decompressLz4Prefix(packed, head.rawSize) : unpackBlock(packed, head.rawSize, offset);
}

/** The value of a chunk; null of an info chunk that was cut. @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT */
export function decodeChunk(chunk: RawChunk): FtrChunk | null {
  switch (chunk.kind) {
    case 'info':
      return infoOf(chunk);
    case 'dictionary': {
      const entries = Array.from(dictionaryEntries(chunk), ([id, text]) => [id, text.slice()] as const);
      return { kind: 'dictionary', entries };
    }
    case 'directory':
      return { kind: 'directory', entries: [...directoryEntries(chunk)] };
    case 'relations':
      return { kind: 'relations', relations: [...relationEntries(chunk)] };
    case 'transactions': {
      const cursor = new TransactionCursor(chunk);
      const transactions = [];
      while (cursor.next()) transactions.push(cursor.transaction);
      return { kind: 'transactions', stream: chunk.stream, start: chunk.start, end: chunk.end, transactions };
    }
  }
}

// A window over the bytes of a file.

const WINDOW_BYTES = 256 * 1024;

/** Reads a source from front to end in large pieces. */
export class SourceWindow {
  private bytes: Uint8Array = new Uint8Array(0);
  private base = 0;

  constructor(
    private readonly source: ByteSource,
    readonly size: number,
  ) {}

  /** The bytes at `offset`, as many as asked unless the source ends before. */
  async at(offset: number, length: number): Promise<Uint8Array> {
    const from = offset - this.base;
    const there = Math.min(length, Math.max(0, this.size - offset));
    if (from >= 0 && from + there <= this.bytes.length) return this.bytes.subarray(from, from + there);
    const wanted = Math.min(Math.max(WINDOW_BYTES, there), Math.max(0, this.size - offset));
    this.bytes = await readWhole(this.source, offset, wanted);
    this.base = offset;
    return this.bytes.subarray(0, Math.min(there, this.bytes.length));
  }
}

/** Sources may give less than was asked before their end. */
async function readWhole(source: ByteSource, offset: number, length: number): Promise<Uint8Array> {
  const bytes = await source.read(offset, length);
  // No Buffer, whose `slice` does not copy.
  const first = new Uint8Array(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, length));
  if (first.length >= length || first.length === 0) return first;
  const pieces = [first];
  let there = first.length;
  while (there < length) {
    const piece = await source.read(offset + there, length - there);
    if (piece.length === 0) break;
    pieces.push(piece);
    there += piece.length;
  }
  return concatBytes(pieces);
}

/** The beginning of a chunk: its kind, what it says next to its content, and where that lies. Today's and the historic forms. */
export interface ChunkHead {
  readonly kind: FtrChunk['kind'];
  readonly isCompressed: boolean;
  /** What a block of transactions has. */
  readonly stream: bigint;
  readonly start: bigint | null;
  readonly end: bigint | null;
  /** Bytes of the content, in the file and unpacked. */
  readonly size: number;
  readonly rawSize: number;
}

/** Content of a chunk that is taken: it has to be in memory. Usual writers stay below 100 KiB. */
export const MAX_CHUNK_BYTES = 256 * 1024 * 1024;
/** No head is longer. */
export const MAX_HEAD_BYTES = 64;

const KINDS: ReadonlyMap<number, readonly [kind: FtrChunk['kind'], isCompressed: boolean]> = new Map([
  [FtrTag.INFO, ['info', false]],
  [FtrTag.DICTIONARY, ['dictionary', false]],
  [FtrTag.DICTIONARY + 1, ['dictionary', true]],
  [FtrTag.DIRECTORY, ['directory', false]],
  [FtrTag.DIRECTORY + 1, ['directory', true]],
  [FtrTag.TRANSACTIONS, ['transactions', false]],
  [FtrTag.TRANSACTIONS + 1, ['transactions', true]],
  [FtrTag.RELATIONS, ['relations', false]],
  [FtrTag.RELATIONS + 1, ['relations', true]],
]);

/**
 * Reads up to the first byte of the content.
 * @param offset of the chunk in the file, for errors
 * @throws OutOfBytes, NotCbor, UscopeError CONVERT_FORMAT, CONVERT_UNSUPPORTED, CONVERT_LIMIT
 */
export function readChunkHead(cbor: CborReader, offset: number): ChunkHead {
  const fail = (code: ErrorCode, detail: string): never => {
    throw new UscopeError(code, detail, { offset });
  };
  if (cbor.head() !== Major.TAG) fail('CONVERT_FORMAT', 'a chunk begins with a tag; this one does not');
  const [kind, isCompressed] =
    KINDS.get(cbor.number) ?? fail('CONVERT_UNSUPPORTED', `there is no chunk with the tag ${cbor.number}`);
  let major = cbor.head();
  const numbers: bigint[] = [];
  if (major === Major.ARRAY) {
    const count = cbor.number;
    if (cbor.isIndefinite || count < 1 || count > 5)
      fail('CONVERT_FORMAT', `the head of a chunk of kind ${kind} has no such number of parts`);
    for (let i = 0; i < count; i++) {
      major = cbor.head();
      if (i === count - 1) break;
      if (major !== Major.UNSIGNED)
        fail('CONVERT_FORMAT', `a number in the head of a chunk of kind ${kind} is none`);
      numbers.push(cbor.value);
    }
  }
  if (major !== Major.BYTES)
    fail('CONVERT_FORMAT', `the content of a chunk of kind ${kind} is not a byte string`);
  if (cbor.isIndefinite)
    fail('CONVERT_UNSUPPORTED', `the content of a chunk of kind ${kind} states no length`);
  const size = cbor.number;
  const rawSize = isCompressed
    ? Number(numbers.pop() ?? fail('CONVERT_FORMAT', 'a packed chunk states no size'))
    : size;
  if (Math.max(size, rawSize) > MAX_CHUNK_BYTES)
    fail(
      'CONVERT_LIMIT',
      `a chunk of ${Math.max(size, rawSize)} bytes; at most ${MAX_CHUNK_BYTES} are taken`,
    );
  const isBlock = kind === 'transactions';
  if (isBlock ? numbers.length !== 1 && numbers.length !== 3 : numbers.length !== 0)
    fail('CONVERT_FORMAT', `the head of a chunk of kind ${kind} has ${numbers.length} numbers`);
  const [stream = 0n, start = null, end = null] = numbers;
  return { kind, isCompressed, stream, start, end, size, rawSize };
}

// The LZ4 blocks of FTR: raw ones, without a frame around them.

/** @param offset of the block in the file, for errors. @throws UscopeError CONVERT_FORMAT */
export function unpackBlock(block: Uint8Array, rawSize: number, offset: number): Uint8Array {
  try {
    return decompressLz4Block(block, rawSize, offset);
  } catch (cause) {
    const why = cause instanceof UscopeError ? cause.detail : String(cause);
    throw new UscopeError('CONVERT_FORMAT', `a chunk does not unpack: ${why}`, { offset }, { cause });
  }
}
