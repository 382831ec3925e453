/** Records as bytes. */
import type { ByteWriter } from '../../base/bytes.js';
import { UscopeError } from '../../base/errors.js';
import { Channel, MAGIC, type StfRecord, type StfTransaction, StfType, TYPE_NAMES } from './types.js';

const MAX_EVENT_DATA = 255;

/** What the bytes of a record depend on besides itself. */
export interface EncodeContext {
  /** Event ids have 64 bits: the feature EVENT64. */
  readonly event64: boolean;
  /** Bits of a vector register; 0: none are allowed. */
  readonly vlen: number;
}

/**
 * Appends a record.
 * @throws UscopeError FORMAT_VALUE for a number that does not fit its field, CONVERT_SOURCE for lists of a length the format cannot hold
 */
export function encodeRecord(out: ByteWriter, record: StfRecord, context: EncodeContext): void {
  const { type } = record;
  if (!TYPE_NAMES.has(type))
    throw new UscopeError('CONVERT_SOURCE', `there is no record with the descriptor ${type}`);
  out.u8(type);
  switch (type) {
    case StfType.IDENTIFIER:
      out.bytes(MAGIC.subarray(1));
      break;
    case StfType.VERSION:
      out.u32(record.major).u32(record.minor);
      break;
    case StfType.COMMENT:
    case StfType.ISA_EXTENDED:
      out.u32(record.text.length).bytes(record.text);
      break;
    case StfType.ISA:
      out.u16(record.isa);
      break;
    case StfType.INST_IEM:
      out.u16(record.iem);
      break;
    case StfType.TRACE_INFO:
      out.u8(record.generator).u8(record.version[0]).u8(record.version[1]).u8(record.version[2]);
      out.u16(record.text.length).bytes(record.text);
      break;
    case StfType.TRACE_INFO_FEATURE:
      out.u64(record.features);
      break;
    case StfType.PROCESS_ID_EXT:
      out.u32(record.hwThread).u32(record.process).u32(record.thread);
      break;
    case StfType.FORCE_PC:
    case StfType.INST_PC_TARGET:
    case StfType.EVENT_PC_TARGET:
      out.u64(record.pc);
      break;
    case StfType.VLEN_CONFIG:
      out.u32(record.vlen);
      break;
    case StfType.PROTOCOL_ID:
      out.u8(record.protocol);
      break;
    case StfType.CLOCK_ID:
      out.u8(record.clock).u16(record.text.length).bytes(record.text);
      break;
    case StfType.INST_REG:
      checkWords(record.meta, record.values.length, context.vlen);
      out.u16(record.register).u8(record.meta);
      for (const value of record.values) out.u64(value);
      break;
    case StfType.INST_READY_REG:
      out.u16(record.register);
      break;
    case StfType.PAGE_TABLE_WALK:
      out.u64(record.address).u64(record.firstIndex).u32(record.pageSize).u8(record.entries.length);
      for (const { address, entry } of record.entries) out.u64(address).u64(entry);
      break;
    case StfType.INST_MEM_ACCESS:
      out.u64(record.address).u16(record.size).u16(record.attributes).u8(record.access);
      break;
    case StfType.INST_MEM_CONTENT:
    case StfType.BUS_MASTER_CONTENT:
      out.u64(record.value);
      break;
    case StfType.BUS_MASTER_ACCESS:
      out.u64(record.address).u16(record.size).u8(record.source).u8(record.index);
      out.u32(record.attributes).u8(record.access);
      break;
    case StfType.EVENT:
      encodeEvent(out, record.id, record.data, context.event64);
      break;
    case StfType.INST_MICROOP:
      out.u8(record.size).u32(record.op);
      break;
    case StfType.INST_OPCODE32:
      out.u32(record.bits);
      break;
    case StfType.INST_OPCODE16:
      out.u16(record.bits);
      break;
    case StfType.TRANSACTION:
      encodeTransaction(out, record);
      break;
    case StfType.TRANSACTION_DEPENDENCY:
      out.u64(record.id).u64(record.delta).u8(record.clock);
      break;
  }
}

function encodeEvent(out: ByteWriter, id: bigint, data: readonly bigint[], event64: boolean): void {
  if (data.length > MAX_EVENT_DATA) {
    throw new UscopeError(
      'CONVERT_SOURCE',
      `an EVENT with ${data.length} values; ${MAX_EVENT_DATA} are the most`,
    );
  }
  if (event64) out.u64(id);
  else out.u32(Number(id));
  out.u8(data.length);
  for (const value of data) out.u64(value);
}

function checkWords(meta: number, words: number, vlen: number): void {
  const isVector = (meta & 15) === 3;
  const expected = isVector ? (vlen + 63) >>> 6 : 1;
  if (words === expected && expected > 0) return;
  const why = isVector ? `VLEN_CONFIG says ${vlen} bits` : 'only vector registers have several';
  throw new UscopeError('CONVERT_SOURCE', `an INST_REG with ${words} words: ${why}`);
}

function encodeTransaction(out: ByteWriter, record: StfTransaction): void {
  out.u64(record.id).u64(record.delta).u8(record.clock).u16(record.metadata.length);
  for (const { width, value } of record.metadata) {
    out.u8(width);
    if (width === 3) out.u64(value);
    else if (width === 2) out.u32(Number(value));
    else if (width === 1) out.u16(Number(value));
    else out.u8(Number(value));
  }
  const { channel } = record;
  if (channel < Channel.A || channel > Channel.E) {
    throw new UscopeError(
      'CONVERT_SOURCE',
      `a TRANSACTION of the unknown channel ${channel}; they are 1 to 5`,
    );
  }
  out.u8(channel);
  if (channel !== Channel.E) {
    const data = record.data ?? new Uint8Array(0);
    out
      .u8(record.code ?? 0)
      .u8(record.param ?? 0)
      .u8(record.size ?? 0)
      .u64(record.source ?? 0n);
    out.u16(data.length).bytes(data);
  }
  if (channel >= Channel.D) out.u64(record.sink ?? 0n);
  else out.u64(record.address ?? 0n);
  if (channel <= Channel.B) encodeMask(out, record.maskBits ?? 0, record.mask ?? new Uint8Array(0));
}

function encodeMask(out: ByteWriter, bits: number, mask: Uint8Array): void {
  if (mask.length !== (bits + 7) >>> 3) {
    throw new UscopeError('CONVERT_SOURCE', `a mask of ${bits} bits in ${mask.length} bytes`);
  }
  out.u16(bits).bytes(mask);
}
