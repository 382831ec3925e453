/**
 * Sorts more than memory holds: items gather in a buffer; full buffers are sorted and written to a temporary file, and merged at the end.
 * Items of equal keys stay in the order in which they came.
 */
import { type FileHandle, open, rm } from 'node:fs/promises';
import { PRIVATE_MODE } from '../../base/file-mode.js';

/** Words of the buffer: 32 MiB. */
const BUFFER_WORDS = 8 * 1024 * 1024;
/** Words read ahead of each run, and gathered of the merged ones. */
const MERGE_WORDS = 64 * 1024;
/** In front of each item's words: how many, and its key. */
const ITEM_HEAD_WORDS = 3;

/** Items in order: item `i` begins at `starts[i]` of `words`. */
export class SortedBatch {
  constructor(
    readonly words: Uint32Array,
    readonly starts: Uint32Array,
    readonly count: number,
  ) {}

  keyHi(i: number): number {
    return this.words[this.starts[i] + 1];
  }

  keyLo(i: number): number {
    return this.words[this.starts[i] + 2];
  }

  /** Index in `words` of the first word of an item. */
  at(i: number): number {
    return this.starts[i] + ITEM_HEAD_WORDS;
  }
}

interface Run {
  readonly offset: number;
  readonly words: number;
}

export class ExternalSorter {
  private words = new Uint32Array(64 * 1024);
  private length = 0;
  private starts = new Uint32Array(4096);
  private count = 0;
  private isSorted = true;
  private readonly runs: Run[] = [];
  private file: FileHandle | null = null;
  private fileWords = 0;

  /** @param path of the temporary file, made when it is needed @param limit words in memory */
  constructor(
    private readonly path: string,
    private readonly limit = BUFFER_WORDS,
  ) {}

  /** Whether `spill` is due. */
  get isFull(): boolean {
    return this.length >= this.limit;
  }

  /** Runs written so far. */
  get spilled(): number {
    return this.runs.length;
  }

  /** Room for an item of `size` words under a key (u32 halves): the caller fills `target` from the returned index on. */
  add(keyHi: number, keyLo: number, size: number): number {
    const at = this.length;
    const end = at + ITEM_HEAD_WORDS + size;
    // At once to all that may be used: memory that nobody has written takes no room, and nothing is copied again.
    if (end > this.words.length) this.words = grown(this.words, Math.max(end, this.limit));
    if (this.count === this.starts.length) this.starts = grown(this.starts, this.count + 1);
    if (this.count > 0 && this.isSorted) {
      const last = this.starts[this.count - 1];
      const hi = this.words[last + 1];
      this.isSorted = keyHi > hi || (keyHi === hi && keyLo >= this.words[last + 2]);
    }
    this.words[at] = size;
    this.words[at + 1] = keyHi;
    this.words[at + 2] = keyLo;
    this.starts[this.count++] = at;
    this.length = end;
    return at + ITEM_HEAD_WORDS;
  }

  /** Where items lie; another array after `add`. */
  get target(): Uint32Array {
    return this.words;
  }

  /** Writes what is in memory to the file. */
  async spill(): Promise<void> {
    if (this.count === 0) return;
    this.file ??= await open(this.path, 'wx+', PRIVATE_MODE);
    const offset = this.fileWords;
    const order = this.order();
    const out = new Uint32Array(Math.max(MERGE_WORDS, 1));
    let filled = 0;
    for (let i = 0; i < this.count; i++) {
      const from = order[i];
      const size = ITEM_HEAD_WORDS + this.words[from];
      if (filled + size > out.length) {
        await this.append(out.subarray(0, filled));
        filled = 0;
      }
      if (size > out.length) await this.append(this.words.subarray(from, from + size));
      else {
        copyWords(this.words, from, size, out, filled);
        filled += size;
      }
    }
    await this.append(out.subarray(0, filled));
    this.runs.push({ offset, words: this.fileWords - offset });
    this.length = this.count = 0;
    this.isSorted = true;
  }

  /** Everything, once. */
  async *sorted(): AsyncGenerator<SortedBatch> {
    if (this.runs.length === 0) {
      yield new SortedBatch(this.words, this.order(), this.count);
      return;
    }
    await this.spill();
    this.words = new Uint32Array(0);
    yield* merged(this.runs.map((run) => new RunReader(this.file!, run)));
  }

  /** Removes the temporary file. */
  async close(): Promise<void> {
    if (!this.file) return;
    await this.file.close();
    this.file = null;
    await rm(this.path, { force: true });
  }

  private order(): Uint32Array {
    const { words } = this;
    const starts = this.starts.subarray(0, this.count);
    return this.isSorted ? starts : sortedByKey(starts, words);
  }

  private async append(words: Uint32Array): Promise<void> {
    if (words.length === 0) return;
    const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
    for (let at = 0; at < bytes.length; ) {
      const { bytesWritten } = await this.file!.write(bytes, at, bytes.length - at, this.fileWords * 4 + at);
      at += bytesWritten;
    }
    this.fileWords += words.length;
  }
}

/** Items are short: a loop is faster than a view and a copy. */
function copyWords(from: Uint32Array, at: number, count: number, to: Uint32Array, start: number): void {
  for (let i = 0; i < count; i++) to[start + i] = from[at + i];
}

/** Radix sort by the two words of the key: equal keys stay in their order. `starts` is used as scratch. */
function sortedByKey(starts: Uint32Array, words: Uint32Array): Uint32Array {
  let order: Order = { starts, keys: new Uint32Array(starts.length) };
  let scratch: Order = { starts: new Uint32Array(starts.length), keys: new Uint32Array(starts.length) };
  const counts = new Uint32Array(RADIX);
  for (const word of KEY_WORDS) {
    for (let i = 0; i < starts.length; i++) order.keys[i] = words[order.starts[i] + word];
    for (let shift = 0; shift < 32; shift += RADIX_BITS)
      if (sortByDigit(order, scratch, shift, counts)) [order, scratch] = [scratch, order];
  }
  return order.starts;
}

interface Order {
  readonly starts: Uint32Array;
  /** The word of each that is sorted by: next to each other, which memory likes better than where the items are. */
  readonly keys: Uint32Array;
}

/** False: all have the same digit, and nothing was moved. */
function sortByDigit(from: Order, to: Order, shift: number, counts: Uint32Array): boolean {
  const { starts, keys } = from;
  const { length } = keys;
  counts.fill(0);
  for (let i = 0; i < length; i++) counts[(keys[i] >>> shift) & (RADIX - 1)]++;
  if (counts[(keys[0] >>> shift) & (RADIX - 1)] === length) return false;
  let sum = 0;
  for (let digit = 0; digit < RADIX; digit++) {
    const count = counts[digit];
    counts[digit] = sum;
    sum += count;
  }
  for (let i = 0; i < length; i++) {
    const place = counts[(keys[i] >>> shift) & (RADIX - 1)]++;
    to.starts[place] = starts[i];
    to.keys[place] = keys[i];
  }
  return true;
}

const RADIX_BITS = 16;
const RADIX = 1 << RADIX_BITS;
/** In the head of an item, the low one first. */
const KEY_WORDS = [2, 1];

function grown(old: Uint32Array, least: number): Uint32Array<ArrayBuffer> {
  const wider = new Uint32Array(Math.max(least, old.length * 2));
  wider.set(old);
  return wider;
}

/** The items of a run, one after the other; `words` from `at` on are the present one. */
class RunReader {
  words = new Uint32Array(0);
  at = 0;
  /** Words of the present item with its head; 0 after the last. */
  size = 0;
  private filled = 0;
  private read = 0;

  constructor(
    private readonly file: FileHandle,
    private readonly run: Run,
  ) {}

  /** Whether `next` can continue without reading. */
  get isReady(): boolean {
    const at = this.at + this.size;
    return at < this.filled && at + ITEM_HEAD_WORDS + this.words[at] <= this.filled;
  }

  next(): void {
    this.at += this.size;
    this.size = this.at < this.filled ? ITEM_HEAD_WORDS + this.words[this.at] : 0;
  }

  async load(): Promise<void> {
    const rest = this.words.slice(this.at + this.size, this.filled);
    this.at = this.size = 0;
    await this.fill(rest, Math.max(MERGE_WORDS, rest.length + 1));
    if (this.filled > 0 && ITEM_HEAD_WORDS + this.words[0] > this.filled)
      await this.fill(this.words.slice(0, this.filled), ITEM_HEAD_WORDS + this.words[0]);
  }

  private async fill(rest: Uint32Array, wanted: number): Promise<void> {
    const words = new Uint32Array(wanted);
    words.set(rest);
    const there = Math.min(wanted - rest.length, this.run.words - this.read);
    const bytes = new Uint8Array(words.buffer, rest.length * 4, there * 4);
    for (let at = 0; at < bytes.length; ) {
      const position = (this.run.offset + this.read) * 4 + at;
      const { bytesRead } = await this.file.read(bytes, at, bytes.length - at, position);
      if (bytesRead === 0) throw new Error('the temporary file of a sort has been cut');
      at += bytesRead;
    }
    this.read += there;
    this.words = words;
    this.filled = rest.length + there;
  }
}

async function* merged(readers: RunReader[]): AsyncGenerator<SortedBatch> {
  for (const reader of readers) {
    await reader.load();
    reader.next();
  }
  let words = new Uint32Array(MERGE_WORDS * 2);
  let starts = new Uint32Array(MERGE_WORDS);
  let filled = 0;
  let count = 0;
  for (;;) {
    const least = leastOf(readers);
    if (!least) break;
    if (filled > 0 && (filled + least.size > words.length || count === starts.length)) {
      yield new SortedBatch(words, starts, count);
      filled = count = 0;
    }
    if (least.size > words.length) words = new Uint32Array(least.size);
    copyWords(least.words, least.at, least.size, words, filled);
    starts[count++] = filled;
    filled += least.size;
    if (!least.isReady) await least.load();
    least.next();
  }
  if (count > 0) yield new SortedBatch(words, starts, count);
  starts = new Uint32Array(0);
}

/** Of equal ones that of the earliest run. */
function leastOf(readers: readonly RunReader[]): RunReader | null {
  let least: RunReader | null = null;
  for (const reader of readers) {
    if (reader.size === 0) continue;
    if (!least) least = reader;
    else {
      const hi = reader.words[reader.at + 1] - least.words[least.at + 1];
      if (hi < 0 || (hi === 0 && reader.words[reader.at + 2] < least.words[least.at + 2])) least = reader;
    }
  }
  return least;
}

// How transactions and relations lie in the words that are sorted.

/** First words of what is sorted: what it is. */
export const Kind = { BEGIN: 0, END: 1, RELATION: 2 } as const;
/** Kind, tx, stream, generator, t, number of attributes. */
export const HEAD_WORDS = 10;
/** Index, phase and type, name, low and high half of its bits, or the number of the text. */
export const ATTRIBUTE_WORDS = 4;
/** Kind, name, source, sink and their streams. */
export const RELATION_WORDS = 10;
