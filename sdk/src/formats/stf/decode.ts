/** Records as objects: for code that wants them one by one, at the price of an allocation each. */
import type { StfCursor } from './cursor.js';
import { Channel, type StfMetadata, type StfRecord, type StfTransaction, StfType } from './types.js';

/** Reads the fields of one record one after the other. */
class FieldReader {
  at: number;

  constructor(private readonly cursor: StfCursor) {
    this.at = cursor.at + 1;
  }

  get left(): number {
    return this.cursor.at + this.cursor.size - this.at;
  }

  u8(): number {
    return this.cursor.view.getUint8(this.at++);
  }

  u16(): number {
    this.at += 2;
    return this.cursor.view.getUint16(this.at - 2, true);
  }

  u32(): number {
    this.at += 4;
    return this.cursor.view.getUint32(this.at - 4, true);
  }

  u64(): bigint {
    this.at += 8;
    return this.cursor.view.getBigUint64(this.at - 8, true);
  }

  /** A copy: what the cursor is on is overwritten. */
  bytes(size: number): Uint8Array {
    this.at += size;
    // Not slice: of a Buffer it is a view.
    return new Uint8Array(this.cursor.bytes.subarray(this.at - size, this.at));
  }

  words(): bigint[] {
    return Array.from({ length: this.left >>> 3 }, () => this.u64());
  }
}

/** The record that a cursor is at. It keeps nothing of the cursor's bytes. */
export function decodeRecord(cursor: StfCursor): StfRecord {
  const fields = new FieldReader(cursor);
  const type = cursor.type as StfRecord['type'];
  switch (type) {
    case StfType.IDENTIFIER:
    case StfType.END_HEADER:
      return { type };
    case StfType.VERSION:
      return { type, major: fields.u32(), minor: fields.u32() };
    case StfType.COMMENT:
    case StfType.ISA_EXTENDED:
      return { type, text: fields.bytes(fields.u32()) };
    case StfType.ISA:
      return { type, isa: fields.u16() };
    case StfType.INST_IEM:
      return { type, iem: fields.u16() };
    case StfType.TRACE_INFO:
      return {
        type,
        generator: fields.u8(),
        version: [fields.u8(), fields.u8(), fields.u8()],
        text: fields.bytes(fields.u16()),
      };
    case StfType.TRACE_INFO_FEATURE:
      return { type, features: fields.u64() };
    case StfType.PROCESS_ID_EXT:
      return { type, hwThread: fields.u32(), process: fields.u32(), thread: fields.u32() };
    case StfType.FORCE_PC:
    case StfType.INST_PC_TARGET:
    case StfType.EVENT_PC_TARGET:
      return { type, pc: fields.u64() };
    case StfType.VLEN_CONFIG:
      return { type, vlen: fields.u32() };
    case StfType.PROTOCOL_ID:
      return { type, protocol: fields.u8() };
    case StfType.CLOCK_ID:
      return { type, clock: fields.u8(), text: fields.bytes(fields.u16()) };
    case StfType.INST_REG:
      return { type, register: fields.u16(), meta: fields.u8(), values: fields.words() };
    case StfType.INST_READY_REG:
      return { type, register: fields.u16() };
    case StfType.PAGE_TABLE_WALK:
      return pageTableWalk(fields);
    case StfType.INST_MEM_ACCESS:
      return {
        type,
        address: fields.u64(),
        size: fields.u16(),
        attributes: fields.u16(),
        access: fields.u8(),
      };
    case StfType.INST_MEM_CONTENT:
    case StfType.BUS_MASTER_CONTENT:
      return { type, value: fields.u64() };
    case StfType.BUS_MASTER_ACCESS:
      return {
        type,
        address: fields.u64(),
        size: fields.u16(),
        source: fields.u8(),
        index: fields.u8(),
        attributes: fields.u32(),
        access: fields.u8(),
      };
    case StfType.EVENT: {
      const id = cursor.hasEvent64 ? fields.u64() : BigInt(fields.u32());
      fields.u8();
      return { type, id, data: fields.words() };
    }
    case StfType.INST_MICROOP:
      return { type, size: fields.u8(), op: fields.u32() };
    case StfType.INST_OPCODE32:
    case StfType.INST_OPCODE16:
      return { type, bits: cursor.bits };
    case StfType.TRANSACTION:
      return transaction(fields);
    case StfType.TRANSACTION_DEPENDENCY:
      return { type, id: fields.u64(), delta: fields.u64(), clock: fields.u8() };
  }
}

function pageTableWalk(fields: FieldReader): StfRecord {
  const [address, firstIndex, pageSize] = [fields.u64(), fields.u64(), fields.u32()];
  const entries = Array.from({ length: fields.u8() }, () => ({ address: fields.u64(), entry: fields.u64() }));
  return { type: StfType.PAGE_TABLE_WALK, address, firstIndex, pageSize, entries };
}

function transaction(fields: FieldReader): StfTransaction {
  const [id, delta, clock] = [fields.u64(), fields.u64(), fields.u8()];
  const metadata = Array.from({ length: fields.u16() }, (): StfMetadata => {
    const width = fields.u8() as StfMetadata['width'];
    const read = [() => BigInt(fields.u8()), () => BigInt(fields.u16()), () => BigInt(fields.u32())][width];
    return { width, value: read ? read() : fields.u64() };
  });
  const head = { type: StfType.TRANSACTION, id, delta, clock, metadata, channel: fields.u8() };
  if (head.channel === Channel.E) return { ...head, sink: fields.u64() };
  const message = {
    ...head,
    code: fields.u8(),
    param: fields.u8(),
    size: fields.u8(),
    source: fields.u64(),
    data: fields.bytes(fields.u16()),
  };
  if (head.channel === Channel.D) return { ...message, sink: fields.u64() };
  const address = fields.u64();
  if (head.channel === Channel.C) return { ...message, address };
  const maskBits = fields.u16();
  return { ...message, address, maskBits, mask: fields.bytes((maskBits + 7) >>> 3) };
}
