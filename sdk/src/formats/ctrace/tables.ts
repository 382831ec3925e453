/** Reading FlatBuffers tables of files that are not trusted: every offset is checked against the bytes before it is followed. */
import { UscopeError } from '../../base/errors.js';
import { decodeText } from './text.js';

/** The bytes of one buffer; `end` becomes the end of what has been read so far, for buffers whose size is not known. */
export class TableBuffer {
  end = 0;
  readonly view: DataView;
  private readonly texts = new Map<number, string>();
  private textBytes = 0;
  private tableBytes = 0;

  /** @param offset of `bytes` in the file */
  constructor(
    readonly bytes: Uint8Array,
    readonly offset: number,
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  root(): Table {
    return new Table(this, this.indirect(0));
  }

  /** The place that the offset at `at` points to. */
  indirect(at: number): number {
    const to = at + this.u32(at);
    if (to >= this.bytes.length) throw this.error(at, 'points beyond its end');
    return to;
  }

  u32(at: number): number {
    this.need(at, 4);
    return this.view.getUint32(at, true);
  }

  need(at: number, size: number): void {
    if (at < 0 || at + size > this.bytes.length)
      throw this.error(Math.max(0, at), 'continues beyond its end');
    if (at + size > this.end) this.end = at + size;
  }

  /** The string at `at`. Strings may be shared but do not overlap: all of them together are no longer than the buffer. */
  text(at: number): string {
    const known = this.texts.get(at);
    if (known !== undefined) return known;
    const length = this.u32(at);
    this.need(at + 4, length);
    if (at + 4 + length < this.bytes.length) this.need(at + 4 + length, 1); // the NUL after it
    this.textBytes += length + 4;
    if (this.textBytes > this.bytes.length) throw this.error(at, 'has strings that overlap');
    const text = decodeText(this.bytes.subarray(at + 4, at + 4 + length));
    this.texts.set(at, text);
    return text;
  }

  /** Tables do not overlap, and none is there twice: so a vector holds no more of them than there is room for. */
  claim(at: number, size: number): void {
    this.need(at, size);
    this.tableBytes += size;
    if (this.tableBytes > this.bytes.length) throw this.error(at, 'is there more than once');
  }

  error(at: number, what: string): UscopeError {
    const offset = this.offset + Math.min(at, this.bytes.length);
    return new UscopeError('CONVERT_FORMAT', `a FlatBuffers table ${what}`, { offset });
  }
}

export class Table {
  private readonly vtable: number;
  private readonly vtableBytes: number;

  constructor(
    readonly buffer: TableBuffer,
    readonly at: number,
  ) {
    buffer.need(at, 4);
    this.vtable = at - buffer.view.getInt32(at, true);
    buffer.need(this.vtable, 4);
    this.vtableBytes = buffer.view.getUint16(this.vtable, true);
    if (this.vtableBytes < 4) throw buffer.error(this.vtable, 'has a vtable that is too small');
    buffer.need(this.vtable, this.vtableBytes);
    buffer.claim(at, Math.max(4, buffer.view.getUint16(this.vtable + 2, true)));
  }

  u8(id: number): number {
    const at = this.field(id, 1);
    return at ? this.buffer.view.getUint8(at) : 0;
  }

  i8(id: number): number {
    return (this.u8(id) << 24) >> 24;
  }

  u16(id: number): number {
    const at = this.field(id, 2);
    return at ? this.buffer.view.getUint16(at, true) : 0;
  }

  u32(id: number, byDefault = 0): number {
    const at = this.field(id, 4);
    return at ? this.buffer.view.getUint32(at, true) : byDefault;
  }

  u64(id: number): bigint {
    const at = this.field(id, 8);
    return at ? this.buffer.view.getBigUint64(at, true) : 0n;
  }

  text(id: number): string {
    const field = this.field(id, 4);
    return field ? this.buffer.text(this.buffer.indirect(field)) : '';
  }

  /** A vector of bytes. */
  bytes(id: number): Uint8Array {
    const vector = this.vector(id, 1);
    return this.buffer.bytes.subarray(vector.at, vector.at + vector.length);
  }

  /** Number of tables in a vector. */
  count(id: number): number {
    return this.vector(id, 4).length;
  }

  *tables(id: number): Generator<Table> {
    const { at, length } = this.vector(id, 4);
    for (let i = 0; i < length; i++) yield new Table(this.buffer, this.buffer.indirect(at + 4 * i));
  }

  private vector(id: number, elementBytes: number): { at: number; length: number } {
    const field = this.field(id, 4);
    if (!field) return { at: 0, length: 0 };
    const at = this.buffer.indirect(field);
    const length = this.buffer.u32(at);
    this.buffer.need(at + 4, length * elementBytes);
    return { at: at + 4, length };
  }

  /** Where a field is; 0 when it has its default. */
  private field(id: number, size: number): number {
    const entry = 4 + 2 * id;
    if (entry + 2 > this.vtableBytes) return 0;
    const offset = this.buffer.view.getUint16(this.vtable + entry, true);
    if (offset === 0) return 0;
    this.buffer.need(this.at + offset, size);
    return this.at + offset;
  }
}
