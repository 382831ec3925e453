/** FTR files: their chunks from front to end, with their content unpacked. Memory is that of a chunk. */
import { UscopeError } from '../../base/errors.js';
import type { ByteSource } from '../../codecs/byte-source.js';
import { CborReader, END, NotCbor, OutOfBytes } from './cbor.js';
import { type ChunkHead, MAX_HEAD_BYTES, readChunkHead } from './chunk-head.js';
import { dictionaryEntries, directoryEntries, infoOf, relationEntries } from './content.js';
import { unpackBlock, unpackCutBlock } from './lz4.js';
import { SourceWindow } from './source-window.js';
import { TransactionCursor } from './transaction-cursor.js';
import { type FtrChunk, MAGIC } from './types.js';

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
  return isCut ? unpackCutBlock(packed, head.rawSize) : unpackBlock(packed, head.rawSize, offset);
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
