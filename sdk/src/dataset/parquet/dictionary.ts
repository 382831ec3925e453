/** Dictionaries of columns: the distinct values of a row group. A column has codes, which mean the same in all rows; a dictionary gives each an index. */
import { type DictionaryPage, int64Bytes } from './column-chunk.js';

export interface Dictionary {
  /** Indices of codes in the present row group; -1 for NaN. */
  indicesOf(codes: Float64Array, count: number, indices: Int32Array): void;
  readonly size: number;
  /** It has enough values for a row group. */
  readonly isFull: boolean;
  /** Looks up what it does not know yet: between segments, since it may wait, and before it is finished. */
  settle(): Promise<void>;
  /** What the file has of it; it begins again. */
  finish(): DictionaryPage;
}

/** Engines read a dictionary as a whole: these bound it, and the memory of an export. */
const MAX_VALUES = 131_072;
const MAX_BYTES = 4 << 20;
/** Longer bounds say little, and the footer has them all. */
const MAX_BOUND_BYTES = 64;
/** Among more, any text is between the bounds. */
const MAX_BOUND_VALUES = 4096;
/** Codes below have their indices in an array. */
const SMALL_CODES = 1 << 20;

/** Of codes that are indices. */
function copyIndices(codes: Float64Array, count: number, indices: Int32Array): void {
  for (let row = 0; row < count; row++) {
    const code = codes[row];
    // biome-ignore lint/suspicious/noSelfCompare: NaN, without a call for each row
    indices[row] = code === code ? code : -1;
  }
}

/** Indices of codes. */
class CodeIndices {
  private small = new Int32Array(0);
  private readonly large = new Map<number, number>();

  /** @param add gives a new code its index */
  fill(codes: Float64Array, count: number, indices: Int32Array, add: (code: number) => number): void {
    let { small } = this;
    for (let row = 0; row < count; row++) {
      const code = codes[row];
      // biome-ignore lint/suspicious/noSelfCompare: NaN, without a call for each row
      if (code !== code) {
        indices[row] = -1;
        continue;
      }
      let index = code < small.length ? small[code] : (this.large.get(code) ?? -1);
      if (index < 0) {
        index = add(code);
        this.set(code, index);
        small = this.small;
      }
      indices[row] = index;
    }
  }

  private set(code: number, index: number): void {
    if (code >= SMALL_CODES) {
      this.large.set(code, index);
      return;
    }
    if (code >= this.small.length) {
      const grown = new Int32Array(Math.min(SMALL_CODES, Math.max(64, code * 2))).fill(-1);
      grown.set(this.small);
      this.small = grown;
    }
    this.small[code] = index;
  }

  clear(): void {
    this.small.fill(-1);
    this.large.clear();
  }
}

/** Texts as a dictionary page has them: each with its length before it. */
class TextValues {
  private bytes = new Uint8Array(1024);
  private at = 0;
  private readonly starts: number[] = [];

  get count(): number {
    return this.starts.length;
  }

  get isFull(): boolean {
    return this.starts.length >= MAX_VALUES || this.at >= MAX_BYTES;
  }

  add(text: string): void {
    // Three bytes for each unit of UTF-16 at most.
    const needed = this.at + 4 + text.length * 3;
    if (needed > this.bytes.length) {
      const grown = new Uint8Array(needed * 2);
      grown.set(this.bytes.subarray(0, this.at));
      this.bytes = grown;
    }
    const { bytes, at } = this;
    const length = putAscii(text, bytes, at + 4) ? text.length : putText(text, bytes, at + 4);
    for (let i = 0; i < 4; i++) bytes[at + i] = length >>> (8 * i);
    this.starts.push(at);
    this.at += 4 + length;
  }

  /** It begins again. */
  finish(): DictionaryPage {
    const { count } = this;
    const page = { count, bytes: this.bytes.slice(0, this.at), bounds: this.bounds() };
    this.bytes = new Uint8Array(1024);
    this.at = 0;
    this.starts.length = 0;
    return page;
  }

  private bounds(): DictionaryPage['bounds'] {
    const { starts } = this;
    if (starts.length === 0 || starts.length > MAX_BOUND_VALUES) return null;
    const valueAt = (index: number): Uint8Array =>
      this.bytes.subarray(starts[index] + 4, starts[index + 1] ?? this.at);
    let [lowest, highest] = [valueAt(0), valueAt(0)];
    for (let index = 1; index < starts.length; index++) {
      const value = valueAt(index);
      if (Buffer.compare(value, lowest) < 0) lowest = value;
      else if (Buffer.compare(value, highest) > 0) highest = value;
    }
    return Math.max(lowest.length, highest.length) > MAX_BOUND_BYTES ? null : [lowest, highest];
  }
}

const encoder = new TextEncoder();

/** The usual text is short, and calls into Node take longer than this. @returns false: it is not ASCII */
function putAscii(text: string, bytes: Uint8Array, at: number): boolean {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7f) return false;
    bytes[at + i] = unit;
  }
  return true;
}

/** Unpaired surrogates become U+FFFD, so that the file has UTF-8. @returns bytes */
function putText(text: string, bytes: Uint8Array, at: number): number {
  return encoder.encodeInto(text, bytes.subarray(at)).written;
}

/** Texts, each once. */
export class TextDictionary implements Dictionary {
  private readonly indices = new Map<string, number>();
  private readonly values = new TextValues();

  get size(): number {
    return this.values.count;
  }

  get isFull(): boolean {
    return this.values.isFull;
  }

  indicesOf(codes: Float64Array, count: number, indices: Int32Array): void {
    copyIndices(codes, count, indices);
  }

  intern(text: string): number {
    let index = this.indices.get(text);
    if (index === undefined) {
      index = this.values.count;
      this.indices.set(text, index);
      this.values.add(text);
    }
    return index;
  }

  async settle(): Promise<void> {}

  finish(): DictionaryPage {
    this.indices.clear();
    return this.values.finish();
  }
}

/** Texts that codes mean: labels of an enum. Codes that mean the same text have an index each. */
export class LabelDictionary implements Dictionary {
  private readonly indices = new CodeIndices();
  private readonly values = new TextValues();

  constructor(private readonly textOf: (code: number) => string) {}

  get size(): number {
    return this.values.count;
  }

  get isFull(): boolean {
    return this.values.isFull;
  }

  indicesOf(codes: Float64Array, count: number, indices: Int32Array): void {
    this.indices.fill(codes, count, indices, (code) => {
      this.values.add(this.textOf(code));
      return this.values.count - 1;
    });
  }

  async settle(): Promise<void> {}

  finish(): DictionaryPage {
    this.indices.clear();
    return this.values.finish();
  }
}

/** Texts that take time to find: strings of the trace. */
export class LaterDictionary implements Dictionary {
  private readonly indices = new CodeIndices();
  private readonly values = new TextValues();
  /** Those without a text yet. */
  private codes: number[] = [];

  /** @param textsOf of codes, in their order */
  constructor(private readonly textsOf: (codes: readonly number[]) => Promise<string[]>) {}

  get size(): number {
    return this.values.count + this.codes.length;
  }

  get isFull(): boolean {
    return this.values.isFull;
  }

  indicesOf(codes: Float64Array, count: number, indices: Int32Array): void {
    this.indices.fill(codes, count, indices, (code) => {
      this.codes.push(code);
      return this.size - 1;
    });
  }

  async settle(): Promise<void> {
    if (this.codes.length === 0) return;
    for (const text of await this.textsOf(this.codes)) this.values.add(text);
    this.codes = [];
  }

  finish(): DictionaryPage {
    this.indices.clear();
    return this.values.finish();
  }
}

/** Numbers of 32 bits, each once. */
export class NumberDictionary implements Dictionary {
  private readonly indices = new Map<number, number>();
  /** Low and high word of each. */
  private words: Uint32Array = new Uint32Array(64);
  private lowest = Number.POSITIVE_INFINITY;
  private highest = 0;

  get size(): number {
    return this.indices.size;
  }

  get isFull(): boolean {
    return this.size >= MAX_VALUES;
  }

  indicesOf(codes: Float64Array, count: number, indices: Int32Array): void {
    copyIndices(codes, count, indices);
  }

  intern(value: number): number {
    let index = this.indices.get(value);
    if (index === undefined) {
      index = this.size;
      this.indices.set(value, index);
      this.add(index, value);
    }
    return index;
  }

  async settle(): Promise<void> {}

  finish(): DictionaryPage {
    const { size: count, words, lowest, highest } = this;
    const page: DictionaryPage = {
      count,
      bytes: new Uint8Array(words.buffer.slice(0, count * 8)),
      bounds: count > 0 ? [int64Bytes(BigInt(lowest)), int64Bytes(BigInt(highest))] : null,
    };
    this.indices.clear();
    this.lowest = Number.POSITIVE_INFINITY;
    this.highest = 0;
    return page;
  }

  private add(index: number, value: number): void {
    if (index * 2 === this.words.length) {
      const grown = new Uint32Array(this.words.length * 2);
      grown.set(this.words);
      this.words = grown;
    }
    this.words[index * 2] = value;
    this.lowest = Math.min(this.lowest, value);
    this.highest = Math.max(this.highest, value);
  }
}
