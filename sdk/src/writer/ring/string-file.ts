/**
 * Strings of segments that are gone: any later item may name them. They are appended, and durable, before their segment is unlinked. The
 * file is a row of groups:
 *
 *   0 u32 magic "uSTR"   4 u32 size, padding included   8 u32 CRC-32 of the group, with this field taken as 0   12 u32 number of strings
 *  16 u64 index of the first string   24 per string: u32 length, bytes; zeros up to a multiple of 8
 */
import { crc32 } from 'node:zlib';
import { align8, ByteReader, ByteWriter } from '../../base/bytes.js';
import { MAX_STRING_BYTES } from '../../format/record.js';
import type { OutputFile } from '../output-file.js';

const STRINGS_MAGIC = 0x52545375; // "uSTR"
const HEADER_BYTES = 24;
const CRC_OFFSET = 8;
/** A group is smaller: what claims more is damage. */
const MAX_GROUP_BYTES = 1024 * 1024 + 2 * MAX_STRING_BYTES;

export class StringFile {
  /** Bytes of the whole groups in it. */
  size = 0;
  /** Number of strings in it: from index 0 on. */
  count = 0;

  constructor(private readonly file: OutputFile) {}

  /** Takes the groups that are whole; what is torn behind them is cut off. */
  static async open(file: OutputFile): Promise<StringFile> {
    const strings = await StringFile.read(file);
    await file.truncate(strings.size);
    return strings;
  }

  /** As `open`, without touching the file. */
  static async read(file: OutputFile): Promise<StringFile> {
    const strings = new StringFile(file);
    for await (const group of strings.groups(await file.size())) strings.count += group.length;
    return strings;
  }

  /** Appends strings that begin at index `first`; those already there are left out. Durable when it resolves. */
  async append(first: number, strings: readonly Uint8Array[]): Promise<void> {
    const rest = strings.slice(Math.max(0, this.count - first));
    if (rest.length === 0) return;
    let [at, index] = [this.size, this.count];
    for (let done = 0; done < rest.length; ) {
      const end = groupEnd(rest, done);
      const group = encodeGroup(index, rest.slice(done, end));
      await this.file.write([group], at);
      at += group.length;
      index += end - done;
      done = end;
    }
    await this.file.sync();
    [this.size, this.count] = [at, index];
  }

  /** All strings, in order. */
  async *all(): AsyncGenerator<Uint8Array> {
    for await (const group of this.groups(this.size, false)) yield* group;
  }

  close(): Promise<void> {
    return this.file.close();
  }

  private async *groups(end: number, grow = true): AsyncGenerator<readonly Uint8Array[]> {
    let index = 0;
    for (let at = 0; at + HEADER_BYTES <= end; ) {
      const head = new ByteReader(await this.file.read(at, HEADER_BYTES));
      if (head.remaining < HEADER_BYTES || head.u32() !== STRINGS_MAGIC) return;
      const size = head.u32();
      if (size < HEADER_BYTES || size > MAX_GROUP_BYTES || at + size > end) return;
      const group = decodeGroup(await this.file.read(at, size), index);
      if (group === null) return;
      at += size;
      index += group.length;
      if (grow) this.size = at;
      yield group;
    }
  }
}

function groupEnd(strings: readonly Uint8Array[], start: number): number {
  let bytes = 0;
  let end = start;
  while (end < strings.length && bytes < 1024 * 1024) bytes += 4 + strings[end++].length;
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

function decodeGroup(bytes: Uint8Array, index: number): Uint8Array[] | null {
  if (bytes.length < HEADER_BYTES) return null;
  const reader = new ByteReader(bytes);
  reader.skip(CRC_OFFSET);
  const crc = reader.u32();
  const count = reader.u32();
  if (reader.u64() !== BigInt(index) || count * 4 > reader.remaining) return null;
  const copy = bytes.slice();
  new DataView(copy.buffer).setUint32(CRC_OFFSET, 0, true);
  if (crc32(copy) !== crc) return null;
  return Array.from({ length: count }, () => reader.bytes(reader.u32()).slice());
}
