/** Columns of a table, with the values of the present page. */
import type { ColumnChunk, DictionaryPage } from './column-chunk.js';
import { Encoding } from './column-chunk.js';
import { type Dictionary, TextDictionary } from './dictionary.js';
import type { Levels, ParquetKernel, Present } from './kernel/parquet-kernel.js';
import { flatNode, PhysicalType, type SchemaNode } from './schema.js';

const WORD = 0x1_0000_0000;

/** Where values of a row are put. */
export interface Cells {
  /** @param value a whole number, of at most 53 bits and a sign */
  set(row: number, value: number): void;
  /** The halves of a number of 64 bits. */
  setWords(row: number, lo: number, hi: number): void;
  setNull(row: number): void;
}

/** What a table does with a column, of whatever kind. */
export interface Column {
  readonly name: string;
  readonly node: SchemaNode;
  /** Its numbers of 64 bits have no sign: the file says so, and has their bits. */
  readonly isUnsigned?: boolean;
  /** It has enough for a row group. */
  readonly isFull: boolean;
  /** Room for that number of rows; those that are there stay. */
  reserve(rows: number): void;
  /** After the last page: there is no room any more. */
  release(): void;
  /** Writes the first `rows` rows as a page of each chunk, one for each leaf of `node`. */
  addPage(kernel: ParquetKernel, rows: number, chunks: readonly ColumnChunk[]): void;
  /** Looks up what its dictionaries do not know yet: between segments, and before `dictionaries`. */
  settle(): Promise<void>;
  /** Dictionaries of the row group, for each leaf; null: it has none. */
  dictionaries(): (DictionaryPage | null)[];
}

/** A column with one value for each row. It can be in a list too: then for each entry. */
export abstract class FlatColumn implements Column, Cells {
  readonly node: SchemaNode;

  constructor(
    readonly name: string,
    type: PhysicalType,
    isRequired = false,
  ) {
    this.node = flatNode(name, type, isRequired);
  }

  abstract set(row: number, value: number): void;
  abstract setWords(row: number, lo: number, hi: number): void;
  abstract setNull(row: number): void;
  abstract reserve(rows: number): void;
  /** The values that are there, and which. */
  abstract present(kernel: ParquetKernel, count: number): Present;
  /** Puts these values, encoded, into the page; notes what the chunk says of them. */
  protected abstract putBody(kernel: ParquetKernel, present: Present, chunk: ColumnChunk): void;
  protected abstract readonly encoding: Encoding;

  get isFull(): boolean {
    return false;
  }

  addPage(kernel: ParquetKernel, rows: number, [chunk]: readonly ColumnChunk[]): void {
    kernel.reset();
    const present = this.present(kernel, rows);
    this.write(kernel, present, { definition: present.levels, repetition: 0, count: rows }, chunk);
  }

  /** A page whose levels are those of a list or its own. */
  write(kernel: ParquetKernel, present: Present, levels: Levels, chunk: ColumnChunk): void {
    // Of no values engines take no other encoding for granted.
    const putBody = (): void => {
      if (present.count > 0) this.putBody(kernel, present, chunk);
    };
    chunk.addPage(kernel, levels, present.count, putBody, present.count > 0 ? this.encoding : Encoding.PLAIN);
  }

  /** Most have little that others could use. */
  release(): void {}

  async settle(): Promise<void> {}

  dictionaries(): (DictionaryPage | null)[] {
    return [null];
  }
}

/** Whole numbers of at most 53 bits: NaN is none. Loops over many rows may set `values` themselves. */
export class NumberColumn extends FlatColumn {
  values = new Float64Array(0);
  protected readonly encoding = Encoding.DELTA_BINARY_PACKED;

  constructor(name: string) {
    super(name, PhysicalType.INT64);
  }

  set(row: number, value: number): void {
    this.values[row] = value;
  }

  setWords(row: number, lo: number, hi: number): void {
    this.values[row] = hi * WORD + (lo >>> 0);
  }

  setNull(row: number): void {
    this.values[row] = Number.NaN;
  }

  reserve(rows: number): void {
    this.values = grownPage(this.values, rows);
  }

  override release(): void {
    keepArray(this.values);
    this.values = new Float64Array(0);
  }

  present(kernel: ParquetKernel, count: number): Present {
    return kernel.presentNumbers(this.values, count);
  }

  protected putBody(kernel: ParquetKernel, present: Present, chunk: ColumnChunk): void {
    chunk.noteBounds(kernel.bounds(present));
    kernel.putDelta(present);
  }
}

/** Numbers of 64 bits, by their bits. */
export class WordColumn extends FlatColumn {
  private words = new Uint32Array(0);
  private missing = new Uint8Array(0);
  protected readonly encoding = Encoding.DELTA_BINARY_PACKED;

  constructor(
    name: string,
    readonly isUnsigned = false,
  ) {
    super(name, PhysicalType.INT64);
  }

  set(row: number, value: number): void {
    this.setWords(row, value, Math.floor(value / WORD));
  }

  setWords(row: number, lo: number, hi: number): void {
    this.words[row * 2] = lo;
    this.words[row * 2 + 1] = hi;
    this.missing[row] = 0;
  }

  setNull(row: number): void {
    this.missing[row] = 1;
  }

  /** As a number without sign. */
  wordAt(row: number): bigint {
    return (BigInt(this.words[row * 2 + 1]) << 32n) | BigInt(this.words[row * 2]);
  }

  reserve(rows: number): void {
    this.words = grown(this.words, new Uint32Array(rows * 2));
    this.missing = grown(this.missing, new Uint8Array(rows));
  }

  present(kernel: ParquetKernel, count: number): Present {
    return kernel.presentWords(this.words, this.missing, count);
  }

  protected putBody(kernel: ParquetKernel, present: Present, chunk: ColumnChunk): void {
    chunk.noteBounds(kernel.bounds(present));
    kernel.putDelta(present);
  }
}

/** Codes of a dictionary: labels, strings, or numbers of which few differ. NaN is none. */
export class CodeColumn extends FlatColumn {
  values = new Float64Array(0);
  protected readonly encoding = Encoding.RLE_DICTIONARY;

  constructor(
    name: string,
    private readonly dictionary: Dictionary,
    type: PhysicalType = PhysicalType.BYTE_ARRAY,
    isRequired = false,
  ) {
    super(name, type, isRequired);
  }

  override get isFull(): boolean {
    return this.dictionary.isFull;
  }

  set(row: number, value: number): void {
    this.values[row] = value;
  }

  setWords(row: number, lo: number, hi: number): void {
    this.values[row] = (hi >>> 0) * WORD + (lo >>> 0);
  }

  setNull(row: number): void {
    this.values[row] = Number.NaN;
  }

  reserve(rows: number): void {
    this.values = grownPage(this.values, rows);
  }

  override release(): void {
    keepArray(this.values);
    this.values = new Float64Array(0);
  }

  present(kernel: ParquetKernel, count: number): Present {
    const { values, dictionary } = this;
    return kernel.presentCodes(count, (indices) => dictionary.indicesOf(values, count, indices));
  }

  protected putBody(kernel: ParquetKernel, { values, count }: Present): void {
    const width = Math.max(1, 32 - Math.clz32(this.dictionary.size - 1));
    kernel.put(Uint8Array.of(width));
    kernel.putRuns(values, count, width);
  }

  override settle(): Promise<void> {
    return this.dictionary.settle();
  }

  override dictionaries(): DictionaryPage[] {
    return [this.dictionary.finish()];
  }
}

/** Texts that are known when they are set. */
export class TextColumn extends CodeColumn {
  private readonly texts: TextDictionary;

  constructor(name: string, isRequired = false) {
    const texts = new TextDictionary();
    super(name, texts, PhysicalType.BYTE_ARRAY, isRequired);
    this.texts = texts;
  }

  /** @param text null: none */
  setText(row: number, text: string | null): void {
    if (text === null) this.setNull(row);
    else this.set(row, this.texts.intern(text));
  }
}

/** 0 is false. */
export class BooleanColumn extends FlatColumn {
  private values = new Int32Array(0);
  protected readonly encoding = Encoding.PLAIN;

  constructor(name: string) {
    super(name, PhysicalType.BOOLEAN);
  }

  set(row: number, value: number): void {
    this.values[row] = value === 0 ? 0 : 1;
  }

  setWords(row: number, lo: number, hi: number): void {
    this.values[row] = lo === 0 && hi === 0 ? 0 : 1;
  }

  setNull(row: number): void {
    this.values[row] = -1;
  }

  reserve(rows: number): void {
    this.values = grown(this.values, new Int32Array(rows));
  }

  present(kernel: ParquetKernel, count: number): Present {
    return kernel.presentCodes(count, (codes) => codes.set(this.values.subarray(0, count)));
  }

  protected putBody(kernel: ParquetKernel, present: Present): void {
    const bytes = new Uint8Array(Math.ceil(present.count / 8));
    kernel.codes(present).forEach((value, at) => {
      bytes[at >> 3] |= value << (at & 7);
    });
    kernel.put(bytes);
  }
}

/** The values of a page, with room for `rows`. */
function grownPage(from: Float64Array<ArrayBuffer>, rows: number): Float64Array<ArrayBuffer> {
  if (rows <= from.length) return from;
  const to = takeArray(rows);
  to.set(from);
  keepArray(from);
  return to;
}

/** The larger array with what the smaller one has; that one where it is large enough. */
export function grown<T extends Uint32Array | Int32Array | Uint8Array>(from: T, to: T): T {
  if (to.length <= from.length) return from;
  to.set(from);
  return to;
}

/**
 * Arrays of pages that are kept for the next table of this thread: memory that was used already costs neither zeros nor garbage. Like a column
 * after its first page, they have old values: each row of a page is set before it is written.
 */
const kept = new Map<number, Float64Array<ArrayBuffer>[]>();
let keptBytes = 0;
/** The tables of one export may hold as much. */
const MOST_KEPT_BYTES = 64 << 20;
/** Small arrays cost little. */
const LEAST_KEPT = 2048;

/** Whatever is in it. */
function takeArray(length: number): Float64Array<ArrayBuffer> {
  const array = kept.get(length)?.pop();
  if (!array) return new Float64Array(length);
  keptBytes -= array.byteLength;
  return array;
}

/** Nobody uses it any more. */
function keepArray(array: Float64Array<ArrayBuffer>): void {
  const { length, byteLength } = array;
  if (length < LEAST_KEPT || keptBytes + byteLength > MOST_KEPT_BYTES) return;
  keptBytes += byteLength;
  const others = kept.get(length);
  if (others) others.push(array);
  else kept.set(length, [array]);
}
