/** A line of text per record: offset in the uncompressed stream, size, descriptor, name, and what the record says. */
import { toHex } from '../../base/hex.js';
import type { StfCursor } from './cursor.js';
import { decodeRecord } from './records.js';
import {
  ACCESS_NAMES,
  CHANNELS,
  REGISTER_FILES,
  REGISTER_ROLES,
  type StfRecord,
  type StfTransaction,
  StfType,
  TYPE_NAMES,
} from './types.js';

const hex = (value: number | bigint): string => `0x${value.toString(16)}`;
const padded = (value: number | bigint, digits: number): string => value.toString(16).padStart(digits, '0');
const decoder = new TextDecoder();

/** The line of the record that a cursor is at. */
export function listRecord(cursor: StfCursor): string {
  const name = TYPE_NAMES.get(cursor.type) ?? '';
  const record = decodeRecord(cursor);
  const place = `${padded(cursor.streamOffset, 8)} +${String(cursor.size).padEnd(5)}${String(cursor.type).padStart(3)}`;
  const pc = cursor.isMarker && cursor.type !== StfType.TRANSACTION ? `  pc=${hex(pcOf(cursor))}` : '';
  return `${place} ${name.padEnd(22)} ${describe(record)}${pc}`;
}

/** The address of the instruction whose OPCODE the cursor is on. */
export function pcOf({ pcLo, pcHi }: StfCursor): bigint {
  return (BigInt(pcHi) << 32n) | BigInt(pcLo);
}

/** Quotes as they are usual for text with and without apostrophes. */
export function quoted(text: Uint8Array): string {
  const decoded = decoder.decode(text);
  const escaped = JSON.stringify(decoded).slice(1, -1).replaceAll('\\"', '"');
  return escaped.includes("'") ? `"${escaped.replaceAll('"', '\\"')}"` : `'${escaped}'`;
}

function describe(record: StfRecord): string {
  switch (record.type) {
    case StfType.IDENTIFIER:
      return 'STF';
    case StfType.VERSION:
      return `${record.major}.${record.minor}`;
    case StfType.COMMENT:
    case StfType.ISA_EXTENDED:
      return quoted(record.text);
    case StfType.ISA:
      return String(record.isa);
    case StfType.INST_IEM:
      return String(record.iem);
    case StfType.TRACE_INFO:
      return `gen=${record.generator} ver=${record.version.join('.')} ${quoted(record.text)}`;
    case StfType.TRACE_INFO_FEATURE:
      return hex(record.features);
    case StfType.PROCESS_ID_EXT:
      return `hwtid=${record.hwThread} pid=${record.process} tid=${record.thread}`;
    case StfType.FORCE_PC:
    case StfType.INST_PC_TARGET:
    case StfType.EVENT_PC_TARGET:
      return hex(record.pc);
    case StfType.VLEN_CONFIG:
      return String(record.vlen);
    case StfType.PROTOCOL_ID:
      return String(record.protocol);
    case StfType.CLOCK_ID:
      return `id=${record.clock} ${quoted(record.text)}`;
    case StfType.END_HEADER:
      return '';
    case StfType.INST_REG: {
      const role = REGISTER_ROLES[record.meta >> 4] || `ROLE${record.meta >> 4}`;
      const values = record.values.map((value) => `0x${padded(value, 16)}`).join(' ');
      return `${role} ${REGISTER_FILES[record.meta & 15]}[${hex(record.register)}] ${values}`;
    }
    case StfType.INST_READY_REG:
      return hex(record.register);
    case StfType.PAGE_TABLE_WALK: {
      const entries = record.entries.map(({ address, entry }) => ` (pa=${hex(address)} pte=${hex(entry)})`);
      const walk = `va=${hex(record.address)} first_index=${record.firstIndex} page=${record.pageSize}`;
      return walk + entries.join('');
    }
    case StfType.INST_MEM_ACCESS:
      return `${accessName(record.access)} addr=${hex(record.address)} size=${record.size} attr=${hex(record.attributes)}`;
    case StfType.INST_MEM_CONTENT:
    case StfType.BUS_MASTER_CONTENT:
      return `0x${padded(record.value, 16)}`;
    case StfType.BUS_MASTER_ACCESS:
      return `type=${record.access} addr=${hex(record.address)} size=${record.size} src=${record.source} idx=${record.index} attr=${hex(record.attributes)}`;
    case StfType.EVENT:
      return `${hex(record.id)} [${record.data.map(hex).join(', ')}]`;
    case StfType.INST_MICROOP:
      return `size=${record.size} uop=${hex(record.op)}`;
    case StfType.INST_OPCODE32:
      return padded(record.bits, 8);
    case StfType.INST_OPCODE16:
      return padded(record.bits, 4);
    case StfType.TRANSACTION:
      return describeTransaction(record);
    case StfType.TRANSACTION_DEPENDENCY:
      return `dep=${record.id} delta=${record.delta} clk=${record.clock}`;
  }
}

function accessName(access: number): string {
  return ACCESS_NAMES[access] || `TYPE${access}`;
}

function describeTransaction(record: StfTransaction): string {
  const bytes = (data: Uint8Array = new Uint8Array(0)): string => toHex(data);
  const metadata = record.metadata.map(({ width, value }) => `'u${8 << width}:${hex(value)}'`).join(', ');
  const parts = [
    `id=${record.id} delta=${record.delta} clk=${record.clock} meta=[${metadata}] ch=${CHANNELS[record.channel]}`,
  ];
  if (record.code !== undefined) {
    parts.push(`code=${record.code} param=${record.param} size=${record.size} source=${record.source}`);
    parts.push(`data=${bytes(record.data)}`);
  }
  if (record.address !== undefined) parts.push(`address=${hex(record.address)}`);
  if (record.mask !== undefined) parts.push(`mask_bits=${record.maskBits} mask=${bytes(record.mask)}`);
  if (record.sink !== undefined) parts.push(`sink=${record.sink}`);
  return parts.join(' ');
}
