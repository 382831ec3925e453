/**
 * Strings of segments that are gone: any later item may name them. They are appended, and durable, before their segment is unlinked. The
 * file is a row of groups, their indices rising; what is left out between two groups was let go:
 *
 *   0 u32 magic "uSTR"   4 u32 size, padding included   8 u32 CRC-32 of the group, with this field taken as 0   12 u32 number of strings
 *  16 u64 index of the first string   24 per string: u32 length, bytes; zeros up to a multiple of 8
 */
import { crc32 } from '#platform/crc32';
import { align8, ByteReader, ByteWriter } from '../../base/bytes.js';
import { MAX_STRING_BYTES } from '../../format/record.js';
import type { OutputFile } from '../output/output-file.js';
import type { SpoolFiles } from './spool-files.js';
import type { SpoolEntry } from './spooled-segment.js';

const STRINGS_MAGIC = 0x52545375; // "uSTR"
const HEADER_BYTES = 24;
const CRC_OFFSET = 8;
/** A group is smaller: what claims more is damage. */
const MAX_GROUP_BYTES = 1024 * 1024 + 2 * MAX_STRING_BYTES;

export interface IndexedText {
  readonly index: number;
  readonly text: Uint8Array;
}

/** What a text takes in the file. */
export const textBytes = (text: Uint8Array): number => 4 + text.length;

export class StringFile {
  /** Bytes of the whole groups in it. */
  size = 0;
  /** Strings from this index on have not been in it. */
  end = 0;

  constructor(private readonly file: OutputFile) {}

  /** Takes the groups that are whole; what is torn after them is cut off. The file is closed where that fails. */
  static async open(file: OutputFile): Promise<StringFile> {
    return closedOnFailure(file, async () => {
      const strings = await StringFile.read(file);
      await file.truncate(strings.size);
      return strings;
    });
  }

  /** As `open`, without touching the file. */
  static async read(file: OutputFile): Promise<StringFile> {
    const strings = new StringFile(file);
    for await (const _ of strings.groups(await file.size()));
    return strings;
  }

  /** Appends strings that begin at index `first`; those already there are left out. Durable when it resolves. */
  async append(first: number, strings: readonly Uint8Array[]): Promise<void> {
    const known = Math.max(0, this.end - first);
    await this.appendIndexed(strings.slice(known).map((text, i) => ({ index: first + known + i, text })));
  }

  /** As `append`, of strings with rising indices, not below `end`. */
  async appendIndexed(strings: readonly IndexedText[]): Promise<void> {
    if (strings.length === 0) return;
    let [at, next] = [this.size, this.end];
    for (let done = 0; done < strings.length; ) {
      const end = groupEnd(strings, done);
      const texts = strings.slice(done, end).map(({ text }) => text);
      const group = encodeGroup(strings[done].index, texts);
      await this.file.write([group], at);
      at += group.length;
      next = strings[end - 1].index + 1;
      done = end;
    }
    await this.file.sync();
    [this.size, this.end] = [at, next];
  }

  /** Strings below `end` that are not in the file were let go. */
  async endAt(end: number): Promise<void> {
    if (end <= this.end) return;
    const group = encodeGroup(end, []);
    await this.file.write([group], this.size);
    await this.file.sync();
    this.size += group.length;
    this.end = end;
  }

  /** All strings, in order. */
  async *all(): AsyncGenerator<IndexedText> {
    for await (const { first, texts } of this.groups(this.size, false)) {
      for (const [i, text] of texts.entries()) yield { index: first + i, text };
    }
  }

  close(): Promise<void> {
    return this.file.close();
  }

  private async *groups(end: number, grow = true): AsyncGenerator<Group> {
    let index = 0;
    for (let at = 0; at + HEADER_BYTES <= end; ) {
      const head = new ByteReader(await this.file.read(at, HEADER_BYTES));
      if (head.remaining < HEADER_BYTES || head.u32() !== STRINGS_MAGIC) return;
      const size = head.u32();
      if (size < HEADER_BYTES || size > MAX_GROUP_BYTES || at + size > end) return;
      const group = decodeGroup(await this.file.read(at, size), index);
      if (group === null) return;
      at += size;
      index = group.first + group.texts.length;
      if (grow) [this.size, this.end] = [at, index];
      yield group;
    }
  }
}

/** What `work` gives; a file that was opened for it is not left open where it fails. */
export async function closedOnFailure<T>(
  file: { close(): Promise<void> },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await file.close();
    throw error;
  }
}

interface Group {
  readonly first: number;
  readonly texts: readonly Uint8Array[];
}

/** A group has no gaps. */
function groupEnd(strings: readonly IndexedText[], start: number): number {
  let bytes = 0;
  let end = start;
  const { index } = strings[start];
  while (end < strings.length && bytes < 1024 * 1024 && strings[end].index === index + end - start) {
    bytes += textBytes(strings[end++].text);
  }
  return end;
}

function encodeGroup(first: number, strings: readonly Uint8Array[]): Uint8Array {
  const size = align8(strings.reduce((sum, { length }) => sum + 4 + length, HEADER_BYTES));
  const writer = new ByteWriter(size)
    .u32(STRINGS_MAGIC)
    .u32(size)
    .u32(0)
    .u32(strings.length)
    .u64(BigInt(first));
  for (const text of strings) writer.u32(text.length).bytes(text);
  const bytes = writer.align(8).finish();
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(CRC_OFFSET, crc32(bytes), true);
  return bytes;
}

function decodeGroup(bytes: Uint8Array, index: number): Group | null {
  if (bytes.length < HEADER_BYTES) return null;
  const reader = new ByteReader(bytes);
  reader.skip(CRC_OFFSET);
  const crc = reader.u32();
  const count = reader.u32();
  const first = Number(reader.u64());
  if (first < index || count * 4 > reader.remaining) return null;
  const copy = bytes.slice();
  new DataView(copy.buffer).setUint32(CRC_OFFSET, 0, true);
  if (crc32(copy) !== crc) return null;
  return { first, texts: Array.from({ length: count }, () => reader.bytes(reader.u32()).slice()) };
}

/**
 * The strings of a client from the first one on, with their indices: those kept of segments let go, then those of the segments given.
 * @param gone may grow meanwhile, and hold strings of the segments given already
 */
export async function* stringsOf(
  files: SpoolFiles,
  gone: { all(): AsyncIterable<IndexedText> } | null,
  segments: readonly SpoolEntry[],
): AsyncGenerator<IndexedText> {
  const [first] = segments;
  const end = first ? Number(first.nextString) - first.numStrings : 0;
  if (end > 0 && gone) {
    for await (const one of gone.all()) {
      if (one.index >= end) break;
      yield one;
    }
  }
  for (const { ordinal, numStrings, nextString } of segments) {
    if (numStrings === 0) continue;
    const { strings } = (await files.readSegment(ordinal)).record;
    const start = Number(nextString) - numStrings;
    for (const [i, text] of strings.entries()) yield { index: start + i, text };
  }
}
