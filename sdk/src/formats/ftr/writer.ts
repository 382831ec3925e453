/** Writing FTR: texts are numbered, blocks cut and chunks ordered here, so that strict readers take the file. */
import { UscopeError } from '../../base/errors.js';
import { CborWriter, END, INDEFINITE_ARRAY, Major } from './cbor.js';
import {
  encodeAttribute,
  encodeAttributeHead,
  encodeChunk,
  encodeContent,
  encodeDeclaration,
  encodeRelation,
  encodeText,
  encodeTransactionHead,
} from './encode.js';
import {
  type FtrAttribute,
  type FtrDeclaration,
  FtrForm,
  type FtrRelation,
  FtrTag,
  type FtrText,
  type FtrTransaction,
  IS_FLOAT,
  IS_TEXT,
  MAGIC,
} from './types.js';
import { bitsOfValue } from './values.js';

/** Content of a block, or of relations, at which it is written. */
const BLOCK_BYTES = 65_536;
/** Content of all streams' blocks together at which all of them are written. */
const PENDING_BYTES = 32 * 1024 * 1024;
/** Bytes waiting for `flush` above which `isFull` says so. */
const FULL_BYTES = 1024 * 1024;
/** Texts remembered, and the most units in all of them; then they are forgotten and numbered anew. */
const MAX_TEXTS = 1 << 19;
const MAX_TEXT_UNITS = 64 * 1024 * 1024;
const NO_STREAMS = { sourceStream: null, sinkStream: null };
const MAX_U64 = 0xffff_ffff_ffff_ffffn;

/** Where the bytes go; the array may be reused once the promise has resolved. */
export interface FtrOutput {
  write(bytes: Uint8Array): Promise<void>;
}

export interface FtrWriterOptions {
  /** Relations without streams get three elements, as in old files; by default five, the streams 0. */
  readonly hasShortRelations?: boolean | undefined;
  /** Default lz4. */
  readonly compression?: 'none' | 'lz4' | undefined;
  /** Floats: `auto` (default) writes f32 where that loses nothing, which some viewers insist on, else f64. */
  readonly float?: 'auto' | 'f32' | 'f64' | undefined;
  /** What is not UTF-8 is written as it is (`exact`, default), or with U+FFFD in its place (`valid`): strict readers want that. */
  readonly text?: 'exact' | 'valid' | undefined;
  /** Of the header: 10^exponent seconds are a tick (default -12), and seconds since 1970. */
  readonly exponent?: number | undefined;
  readonly epoch?: bigint | number | null | undefined;
}

/** The content of a chunk that is being filled. */
interface Pending {
  readonly content: CborWriter;
  start: bigint;
  end: bigint;
}

/**
 *     const writer = new FtrWriter(output);
 *     writer.stream(1n, 'bus', 'transactor');
 *     writer.generator(2n, 'read', 1n);
 *     writer.transaction({ id: 1n, stream: 1n, generator: 2n, start: 0n, end: 500n, attributes: [] });
 *     if (writer.isFull) await writer.flush();
 *     await writer.close();
 */
export class FtrWriter {
  transactions = 0;
  relations = 0;
  private readonly out = new CborWriter();
  private readonly isCompressed: boolean;
  private readonly encoder = new TextEncoder();
  private readonly texts = new Map<string, number>();
  private textUnits = 0;
  private nextText = 0;
  private readonly dictionary = new CborWriter();
  private dictionaryEntries = 0;
  private readonly directory = new CborWriter();
  private hasDeclarations = false;
  private readonly streams = new Map<bigint, Pending>();
  private readonly generators = new Map<bigint, bigint>();
  private readonly relationContent = new CborWriter();
  private pendingBytes = 0;
  private isClosed = false;

  constructor(
    private readonly output: FtrOutput,
    private readonly options: FtrWriterOptions = {},
  ) {
    this.isCompressed = options.compression !== 'none';
    this.out.raw(Uint8Array.from(MAGIC));
    const { exponent = -12, epoch = null } = options;
    encodeChunk(this.out, { kind: 'info', exponent, epoch }, false);
    this.intern('');
  }

  /** Whether `flush` is due. */
  get isFull(): boolean {
    return this.out.length >= FULL_BYTES;
  }

  hasStream(id: bigint): boolean {
    return this.streams.has(id);
  }

  hasGenerator(id: bigint): boolean {
    return this.generators.has(id);
  }

  /** Whether a transaction of this stream and generator can be written. */
  isDeclared(stream: bigint, generator: bigint): boolean {
    return this.blockOf(stream, generator) !== undefined;
  }

  /** Declares a stream. A repeated declaration of an id is written again. */
  stream(id: bigint, name: FtrText, kind: FtrText): void {
    this.declare({ kind: 'stream', id, name: this.intern(name), streamKind: this.intern(kind) });
    if (!this.streams.has(id)) this.streams.set(id, { content: new CborWriter(), start: MAX_U64, end: 0n });
  }

  /** @throws UscopeError CONVERT_SOURCE when the stream has not been declared */
  generator(id: bigint, name: FtrText, stream: bigint): void {
    if (!this.streams.has(stream)) throw undeclared('stream', stream, `generator ${id}`);
    this.declare({ kind: 'generator', id, name: this.intern(name), stream });
    this.generators.set(id, stream);
  }

  /** Appends a transaction to the block of its stream. @throws UscopeError CONVERT_SOURCE */
  transaction(transaction: FtrTransaction): void {
    const { id, stream, generator, start, end, attributes } = transaction;
    const block = this.blockOf(stream, generator);
    if (!block)
      throw this.streams.has(stream)
        ? undeclared('generator', generator, `transaction ${id}`)
        : undeclared('stream', stream, `transaction ${id}`);
    this.writeDeclarations();
    const { content } = block;
    const before = content.length;
    if (before === 0) content.byte(INDEFINITE_ARRAY);
    encodeTransactionHead(content, attributes.length, transaction);
    for (const attribute of attributes) this.attribute(content, attribute);
    if (start < block.start) block.start = start;
    if (end > block.end) block.end = end;
    this.transactions++;
    this.pendingBytes += content.length - before;
    if (content.length > BLOCK_BYTES) this.writeBlock(stream, block);
    else if (this.pendingBytes > PENDING_BYTES) this.writeBlocks();
  }

  relation({ name, source, sink, sourceStream, sinkStream }: FtrRelation): void {
    const content = this.relationContent;
    if (content.length === 0) content.byte(INDEFINITE_ARRAY);
    const isShort = this.options.hasShortRelations === true && sourceStream === 0n && sinkStream === 0n;
    const streams = isShort ? NO_STREAMS : { sourceStream, sinkStream };
    encodeRelation(content, { name: this.intern(name), source, sink, ...streams });
    this.relations++;
    if (content.length > BLOCK_BYTES) this.writeRelations();
  }

  /** Hands what is waiting to the output. */
  async flush(): Promise<void> {
    if (this.out.length === 0) return;
    await this.output.write(this.out.written);
    this.out.clear();
  }

  /** Completes the file. The output is closed by the code that opened it. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.writeDeclarations();
    this.writeBlocks();
    this.writeRelations();
    this.writeDictionary();
    this.out.byte(END);
    await this.flush();
  }

  /** Undefined: one of the two has not been declared. */
  private blockOf(stream: bigint, generator: bigint): Pending | undefined {
    return this.generators.has(generator) ? this.streams.get(stream) : undefined;
  }

  private attribute(content: CborWriter, { phase, name, type, value }: FtrAttribute): void {
    // The usual writer numbers the text of a value before that of its name.
    if (IS_TEXT[type] === 1) {
      const text = this.intern(textValue(value, type));
      encodeAttributeHead(content, phase, this.intern(name), type);
      content.head(Major.UNSIGNED, text);
      return;
    }
    if (IS_FLOAT[type] === 1 && typeof value === 'number') {
      encodeAttributeHead(content, phase, this.intern(name), type);
      this.float(content, value);
      return;
    }
    const bits = bitsOfValue(type, value);
    const nameId = this.intern(name);
    if (typeof value === 'boolean')
      encodeAttribute(content, { phase, name: nameId, type, form: FtrForm.BOOLEAN, bits });
    else if ((value as bigint) < 0n && type === 2)
      encodeAttribute(content, { phase, name: nameId, type, form: FtrForm.NEGATIVE, bits: MAX_U64 - bits });
    else {
      encodeAttributeHead(content, phase, nameId, type);
      content.big(Major.UNSIGNED, bits);
    }
  }

  private float(content: CborWriter, value: number): void {
    if (this.isSingle(value)) {
      scratch.setFloat32(0, value);
      content.float32(scratch.getUint32(0));
    } else {
      scratch.setFloat64(0, value);
      content.float64(scratch.getUint32(4), scratch.getUint32(0));
    }
  }

  /** NaN has many bits: only the usual one survives as f32. */
  private isSingle(value: number): boolean {
    const { float = 'auto' } = this.options;
    if (float !== 'auto') return float === 'f32';
    if (!Number.isNaN(value)) return Object.is(Math.fround(value), value);
    scratch.setFloat64(0, value);
    return scratch.getBigUint64(0) === CANONICAL_NAN;
  }

  private intern(text: FtrText): number {
    if (typeof text === 'string') return this.internString(text);
    if (this.options.text === 'valid') return this.internString(new TextDecoder().decode(text));
    return this.addText(text);
  }

  private internString(text: string): number {
    const known = this.texts.get(text);
    if (known !== undefined) return known;
    if (this.texts.size >= MAX_TEXTS || this.textUnits > MAX_TEXT_UNITS) {
      this.texts.clear();
      this.textUnits = 0;
    }
    const id = this.addText(this.encoder.encode(text));
    this.texts.set(text, id);
    this.textUnits += text.length;
    return id;
  }

  private addText(bytes: Uint8Array): number {
    const id = this.nextText++;
    encodeText(this.dictionary, id, bytes);
    this.dictionaryEntries++;
    // Texts may precede their use by as much as one likes.
    if (this.dictionary.length > BLOCK_BYTES) this.writeDictionary();
    return id;
  }

  private declare(entry: FtrDeclaration): void {
    if (this.directory.length === 0) this.directory.byte(INDEFINITE_ARRAY);
    encodeDeclaration(this.directory, entry);
    this.hasDeclarations = true;
  }

  private writeDeclarations(): void {
    if (!this.hasDeclarations) return;
    this.writeDictionary();
    this.directory.byte(END);
    this.content(FtrTag.DIRECTORY, [], this.directory);
    this.hasDeclarations = false;
  }

  private writeDictionary(): void {
    if (this.dictionaryEntries === 0) return;
    const content = new CborWriter();
    content.head(Major.MAP, this.dictionaryEntries);
    content.raw(this.dictionary.written);
    this.content(FtrTag.DICTIONARY, [], content);
    this.dictionary.clear();
    this.dictionaryEntries = 0;
  }

  private writeBlocks(): void {
    for (const [stream, block] of this.streams) this.writeBlock(stream, block);
  }

  private writeBlock(stream: bigint, block: Pending): void {
    const { content, start, end } = block;
    if (content.length === 0) return;
    this.writeDictionary();
    this.pendingBytes -= content.length;
    content.byte(END);
    this.content(FtrTag.TRANSACTIONS, [stream, start, end], content);
    block.start = MAX_U64;
    block.end = 0n;
  }

  private writeRelations(): void {
    if (this.relationContent.length === 0) return;
    this.writeDeclarations();
    this.writeDictionary();
    this.relationContent.byte(END);
    this.content(FtrTag.RELATIONS, [], this.relationContent);
  }

  private content(tag: number, head: readonly bigint[], content: CborWriter): void {
    encodeContent(this.out, tag, head, content.written, this.isCompressed);
    content.clear();
  }
}

const CANONICAL_NAN = 0x7ff8_0000_0000_0000n;
const scratch = new DataView(new ArrayBuffer(8));

function textValue(value: unknown, type: number): FtrText {
  if (typeof value === 'string' || value instanceof Uint8Array) return value;
  throw new UscopeError('CONVERT_SOURCE', `the value of an attribute of type ${type} is not text`);
}

function undeclared(kind: string, id: bigint, by: string): UscopeError {
  return new UscopeError('CONVERT_SOURCE', `${by} is of the ${kind} ${id}, which has not been declared`);
}
