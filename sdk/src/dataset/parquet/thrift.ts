/** Structs in the compact protocol of Thrift, in which Parquet writes its headers and its footer. */

const Kind = { I32: 5, I64: 6, BINARY: 8, LIST: 9, STRUCT: 12 } as const;
type Kind = (typeof Kind)[keyof typeof Kind];

const encoder = new TextEncoder();

export class ThriftWriter {
  private readonly bytes: number[] = [];
  private field = 0;
  private readonly fields: number[] = [];

  i32(id: number, value: number): this {
    this.header(id, Kind.I32);
    return this.zigzag(BigInt(value));
  }

  i64(id: number, value: number | bigint): this {
    this.header(id, Kind.I64);
    return this.zigzag(BigInt(value));
  }

  text(id: number, value: string): this {
    return this.binary(id, encoder.encode(value));
  }

  binary(id: number, value: Uint8Array): this {
    this.header(id, Kind.BINARY);
    return this.counted(value);
  }

  struct(id: number, write: (writer: this) => void): this {
    this.header(id, Kind.STRUCT);
    return this.element(write);
  }

  structs<T>(id: number, items: readonly T[], write: (writer: this, item: T) => void): this {
    this.list(id, Kind.STRUCT, items.length);
    for (const item of items) this.element((writer) => write(writer, item));
    return this;
  }

  i32s(id: number, values: readonly number[]): this {
    this.list(id, Kind.I32, values.length);
    for (const value of values) this.zigzag(BigInt(value));
    return this;
  }

  texts(id: number, values: readonly string[]): this {
    this.list(id, Kind.BINARY, values.length);
    for (const value of values) this.counted(encoder.encode(value));
    return this;
  }

  /** Ends the outermost struct. */
  end(): Uint8Array {
    this.bytes.push(0);
    return Uint8Array.from(this.bytes);
  }

  private element(write: (writer: this) => void): this {
    this.fields.push(this.field);
    this.field = 0;
    write(this);
    this.bytes.push(0);
    this.field = this.fields.pop() ?? 0;
    return this;
  }

  /** Fields are written in ascending order, at most 15 apart. */
  private header(id: number, kind: Kind): void {
    this.bytes.push(((id - this.field) << 4) | kind);
    this.field = id;
  }

  private list(id: number, kind: Kind, count: number): void {
    this.header(id, Kind.LIST);
    if (count < 15) this.bytes.push((count << 4) | kind);
    else {
      this.bytes.push(0xf0 | kind);
      this.varint(BigInt(count));
    }
  }

  private counted(value: Uint8Array): this {
    this.varint(BigInt(value.length));
    for (const byte of value) this.bytes.push(byte);
    return this;
  }

  private zigzag(value: bigint): this {
    this.varint(BigInt.asUintN(64, (value << 1n) ^ (value >> 63n)));
    return this;
  }

  private varint(value: bigint): void {
    let rest = value;
    for (; rest >= 0x80n; rest >>= 7n) this.bytes.push(Number(rest & 0x7fn) | 0x80);
    this.bytes.push(Number(rest));
  }
}
