/**
 * A .ctrace file: header, schema and index, and its events block by block. Memory is that of one block and the schema. Files without an index,
 * or with one that contradicts the file, are walked through from block to block; so are files whose writer was killed, which have neither
 * index nor the places of schema and blocks in their header.
 */
import { appendAll } from '../../base/arrays.js';
import { isUscopeError, UscopeError } from '../../base/errors.js';
import type { ByteSource } from '../../codecs/byte-source.js';
import { MAX_EXPANSION } from '../../codecs/expansion.js';
import { decompressFrame } from '../../codecs/zstd.js';
import { decodeArgs, EventCursor } from './cursor.js';
import { decodeBlockHeader, decodeFooter, decodeHeader, footerBlocks } from './header.js';
import { decodeSchema, decodeSchemaPrefix, isSchema } from './schema.js';
import {
  BLOCK_HEADER_BYTES,
  type CtraceBlock,
  type CtraceEvent,
  CtraceFlag,
  type CtraceFooter,
  type CtraceFormat,
  type CtraceHeader,
  type CtraceSchema,
  EMPTY_SCHEMA,
  HEADER_BYTES,
} from './types.js';

export interface CtraceReadOptions {
  /** Least and greatest cycle, both included: blocks without such cycles are not read. Other events of the blocks read are delivered. */
  readonly cycles?: { readonly from: bigint; readonly to: bigint } | undefined;
  /** Do not use the native decoder of zstd. */
  readonly javaScriptOnly?: boolean | undefined;
}

/** Block sizes are a writer's choice, 64 KiB as a rule; no more than this is decompressed at once. */
const MAX_BLOCK_BYTES = 256 * 1024 * 1024;
const MAX_SCHEMA_BYTES = 16 * 1024 * 1024;
/** A larger index is not held: the blocks are found one after the other. */
const MAX_FOOTER_BYTES = 64 * 1024 * 1024;
const FOOTER_HEAD_BYTES = 4096;

export class CtraceFile {
  /** What is odd about the file, in sentences. */
  readonly warnings: string[] = [];
  /** Position of a format in the schema, by its id; the first one where ids repeat. */
  private readonly formatsById: ReadonlyMap<number, CtraceFormat>;

  private constructor(
    private readonly source: ByteSource,
    private readonly size: number,
    readonly header: CtraceHeader,
    readonly schema: CtraceSchema,
    /** null: the file has no index that can be used. */
    readonly footer: CtraceFooter | null,
    private readonly index: { readonly bytes: Uint8Array; readonly offset: number } | null,
    private readonly firstBlock: number,
    /** Where blocks end at the latest. */
    private readonly blocksEnd: number,
    warnings: readonly string[],
  ) {
    appendAll(this.warnings, warnings);
    this.formatsById = new Map([...schema.formats].reverse().map((format) => [format.id, format]));
  }

  /** @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT, CONVERT_TRUNCATED (not even a header), CONVERT_UNSUPPORTED */
  static async open(source: ByteSource): Promise<CtraceFile> {
    const size = await source.size();
    const header = decodeHeader(await source.read(0, Math.min(size, HEADER_BYTES)));
    const { schema, end } = await readSchema(source, size, header);
    const firstBlock = header.firstBlock || end;
    const { footer, index, warning } = await readFooter(source, size, header);
    const blocksEnd = header.footerBytes > 0 ? Math.min(size, header.footerOffset) : size;
    return new CtraceFile(
      ...([source, size, header, schema, footer, index, firstBlock, blocksEnd] as const),
      warning ? [warning] : [],
    );
  }

  /** Whether the events were written with the compression of whole blocks: every block says it for itself. */
  get isCompressed(): boolean {
    return (this.header.flags & CtraceFlag.COMPRESSED) !== 0n;
  }

  /** Whether the blocks are found by an index; otherwise by walking from one to the next. */
  get isIndexed(): boolean {
    return this.index !== null;
  }

  format(id: number): CtraceFormat | undefined {
    return this.formatsById.get(id);
  }

  /** The blocks in file order. @throws UscopeError CONVERT_FORMAT, CONVERT_TRUNCATED at the block that is not whole */
  async *blocks(): AsyncGenerator<CtraceBlock> {
    if (this.index) yield* footerBlocks(this.index.bytes, this.index.offset);
    else yield* this.walk();
  }

  /** The events. See `CtraceStream`. */
  stream(options: CtraceReadOptions = {}): CtraceStream {
    return new CtraceStream(this, options);
  }

  /** Every event with its arguments decoded. Convenient; for many events use `stream`. @throws UscopeError CONVERT_* */
  async *events(options: CtraceReadOptions = {}): AsyncGenerator<CtraceEvent> {
    const stream = this.stream(options);
    const { cursor } = stream;
    while (await stream.more()) {
      while (cursor.next()) {
        const { cycle, formatId, category, source, argCount } = cursor;
        const values = decodeArgs(cursor, this.format(formatId)?.argTypes ?? []);
        yield { cycle, formatId, category, source, argCount, values };
      }
    }
  }

  /**
   * The events of a block, decompressed. Of a block that the file's end cuts, what is there.
   * @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT
   */
  async load(block: CtraceBlock, javaScriptOnly = false): Promise<{ bytes: Uint8Array; isCut: boolean }> {
    const { compressedBytes, uncompressedBytes, offset } = block;
    if (uncompressedBytes > MAX_BLOCK_BYTES || uncompressedBytes > compressedBytes * MAX_EXPANSION.zstd) {
      const detail = `a block of ${compressedBytes} bytes that says it holds ${uncompressedBytes}`;
      throw new UscopeError('CONVERT_LIMIT', detail, { offset });
    }
    const from = offset + BLOCK_HEADER_BYTES;
    const stored = await this.source.read(from, Math.min(compressedBytes, Math.max(0, this.size - from)));
    const isCut = stored.length < compressedBytes;
    if (compressedBytes === uncompressedBytes) return { bytes: stored, isCut };
    if (isCut) return { bytes: new Uint8Array(0), isCut };
    return { bytes: decompressFrame(stored, uncompressedBytes, from, !javaScriptOnly), isCut };
  }

  /** From block to block. What follows the last one is nothing, an index that its writer did not finish, or damage. */
  private async *walk(): AsyncGenerator<CtraceBlock> {
    let at = this.firstBlock;
    for (let index = 0; at < this.blocksEnd; index++) {
      const head = await this.source.read(at, Math.min(BLOCK_HEADER_BYTES, this.blocksEnd - at));
      if (head.length < BLOCK_HEADER_BYTES) throw truncated(at);
      const block = decodeBlockHeader(head, 0, at, index);
      if (!block) {
        if (this.isUnfinished) throw truncated(at);
        throw new UscopeError('CONVERT_FORMAT', 'a block or the end is expected here', {
          offset: at,
        });
      }
      yield block;
      at += BLOCK_HEADER_BYTES + block.compressedBytes;
    }
    if (at > this.blocksEnd || this.isUnfinished) throw truncated(at);
  }

  /** The index that the header promises is not there although there are blocks: the writer was killed, or the file was cut. */
  private get isUnfinished(): boolean {
    const { schemaOffset, schemaBytes, footerOffset, footerBytes, flags } = this.header;
    if (footerBytes > 0) return footerOffset + footerBytes > this.size;
    const known = schemaBytes > 0 ? schemaOffset + schemaBytes : HEADER_BYTES;
    return (flags & CtraceFlag.HAS_INDEX) !== 0n && this.size > known;
  }
}

/**
 * The events of a file, a block at a time:
 *
 *     const stream = file.stream();
 *     while (await stream.more()) while (stream.cursor.next()) use(stream.cursor);
 *
 * `more` loads the next block and throws CONVERT_TRUNCATED once all that precedes a cut has been delivered.
 */
export class CtraceStream {
  readonly cursor = new EventCursor();
  private readonly blocks: AsyncGenerator<CtraceBlock>;
  private expected = 0;
  private block: CtraceBlock | null = null;
  private cut: UscopeError | null = null;
  /** Of the present block in the file. */
  private start = 0;
  private end = 0;

  constructor(
    private readonly file: CtraceFile,
    private readonly options: CtraceReadOptions,
  ) {
    this.blocks = file.blocks();
  }

  /** How far it is in the file, in bytes: of the present block the part that has been taken. */
  get position(): number {
    return this.start + (this.end - this.start) * this.cursor.part;
  }

  /** False after the last block. @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT, CONVERT_TRUNCATED */
  async more(): Promise<boolean> {
    this.checkCount();
    if (this.cut) throw this.cut;
    for (;;) {
      const { value: block, done } = await this.blocks.next();
      if (done) return false;
      if (!this.isWanted(block)) continue;
      const { bytes, isCut } = await this.file.load(block, this.options.javaScriptOnly);
      if (isCut) this.cut = truncated(block.offset);
      this.cursor.begin(bytes, block.offset, isCut);
      this.block = block;
      this.expected = isCut ? -1 : this.cursor.events + block.events;
      this.start = block.offset;
      this.end = block.offset + BLOCK_HEADER_BYTES + block.compressedBytes;
      return true;
    }
  }

  private isWanted({ minCycle, maxCycle }: CtraceBlock): boolean {
    const { cycles } = this.options;
    return !cycles || (minCycle <= cycles.to && maxCycle >= cycles.from);
  }

  /** The number of events is given twice; a caller that left the block early is not checked. */
  private checkCount(): void {
    const { cursor, block, expected } = this;
    if (!block || expected < 0 || cursor.next()) return;
    if (cursor.events !== expected) {
      const held = cursor.events - expected + block.events;
      const detail = `a block that says it holds ${block.events} events holds ${held}`;
      if (!this.file.warnings.includes(detail)) this.file.warnings.push(detail);
    }
  }
}

/** The schema, and where blocks begin when the header does not say it. */
async function readSchema(
  source: ByteSource,
  size: number,
  { schemaOffset, schemaBytes, flags }: CtraceHeader,
): Promise<{ schema: CtraceSchema; end: number }> {
  if (schemaBytes > 0) {
    if (schemaOffset + schemaBytes > size) {
      throw new UscopeError('CONVERT_TRUNCATED', 'the file ends inside its schema', { offset: schemaOffset });
    }
    if (schemaBytes > MAX_SCHEMA_BYTES) throw tooLarge('schema', schemaBytes, schemaOffset);
    const bytes = await source.read(schemaOffset, schemaBytes);
    return { schema: decodeSchema(bytes, schemaOffset), end: schemaOffset + schemaBytes };
  }
  if ((flags & CtraceFlag.HAS_SCHEMA) === 0n) return { schema: EMPTY_SCHEMA, end: HEADER_BYTES };
  return findSchema(source, size);
}

/** A writer that was killed has not said where its schema ends: after what the schema's tables use, at a multiple of four. */
async function findSchema(source: ByteSource, size: number): Promise<{ schema: CtraceSchema; end: number }> {
  const none = { schema: EMPTY_SCHEMA, end: HEADER_BYTES };
  const head = await source.read(HEADER_BYTES, Math.min(8, size - HEADER_BYTES));
  if (!isSchema(head)) return none;
  const bytes = await source.read(HEADER_BYTES, Math.min(MAX_SCHEMA_BYTES, size - HEADER_BYTES));
  const found = prefixOf(bytes);
  const ends = [4, 8].map((step) => Math.ceil(found.bytes / step) * step);
  const end = ends.find((at) => isBlockAt(bytes, at)) ?? ends[0];
  return { schema: found.schema, end: HEADER_BYTES + end };
}

/** Nothing distinguishes damage from an end that came too early: the file is known to be unfinished. */
function prefixOf(bytes: Uint8Array): { schema: CtraceSchema; bytes: number } {
  try {
    return decodeSchemaPrefix(bytes, HEADER_BYTES);
  } catch (cause) {
    if (!isUscopeError(cause)) throw cause;
    const detail = `the file ends inside its schema (${cause.detail})`;
    throw new UscopeError('CONVERT_TRUNCATED', detail, { offset: HEADER_BYTES }, { cause });
  }
}

function isBlockAt(bytes: Uint8Array, at: number): boolean {
  return at + BLOCK_HEADER_BYTES <= bytes.length && decodeBlockHeader(bytes, at, at, 0) !== null;
}

interface FoundFooter {
  readonly footer: CtraceFooter | null;
  readonly index: { readonly bytes: Uint8Array; readonly offset: number } | null;
  readonly warning: string | null;
}

/** Damage is not fatal: everything in an index can be found without it. */
async function readFooter(
  source: ByteSource,
  size: number,
  { footerOffset, footerBytes }: CtraceHeader,
): Promise<FoundFooter> {
  const none = { footer: null, index: null, warning: null };
  if (footerBytes === 0 || footerOffset + footerBytes > size) return none;
  try {
    if (footerBytes > MAX_FOOTER_BYTES) {
      const head = await source.read(footerOffset, FOOTER_HEAD_BYTES);
      return { ...none, footer: decodeFooter(head, footerOffset, false) };
    }
    const bytes = await source.read(footerOffset, footerBytes);
    const footer = decodeFooter(bytes, footerOffset);
    for (const _ of footerBlocks(bytes, footerOffset));
    return { footer, index: { bytes, offset: footerOffset }, warning: null };
  } catch (error) {
    if (!isUscopeError(error)) throw error;
    const at = error.place.offset ?? footerOffset;
    return { ...none, warning: `the index is damaged (offset ${at}): blocks are found without it` };
  }
}

function truncated(offset: number): UscopeError {
  return new UscopeError('CONVERT_TRUNCATED', 'the file ends inside a block, or before its index', {
    offset,
  });
}

function tooLarge(what: string, bytes: number, offset: number): UscopeError {
  return new UscopeError('CONVERT_LIMIT', `a ${what} of ${bytes} bytes`, { offset });
}
