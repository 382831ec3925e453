/** Records as objects: for code that wants them one by one, at the price of an allocation each. */

import { ByteReader, type ByteWriter } from '../../base/bytes.js';
import { UscopeError } from '../../base/errors.js';
import type { StfCursor } from './cursor.js';
import {
  Channel,
  type FieldKind,
  LAYOUT,
  MAGIC,
  type StfMetadata,
  type StfRecord,
  type StfTransaction,
  StfType,
  TYPE_NAMES,
} from './types.js';

/** The record that a cursor is at. It keeps nothing of the cursor's bytes. */
export function decodeRecord(cursor: StfCursor): StfRecord {
  const { type, bytes, at, size } = cursor;
  const reader = new ByteReader(bytes, at + 1, at + size);
  if (type === StfType.EVENT) return event(reader, cursor.hasEvent64);
  if (type === StfType.PAGE_TABLE_WALK) return pageTableWalk(reader);
  if (type === StfType.TRANSACTION) return transaction(reader);
  const fields = (LAYOUT.get(type) ?? []).map(({ name, kind }) => [name, readField(reader, kind)] as const);
  return { type, ...Object.fromEntries(fields) } as unknown as StfRecord;
}

function readField(reader: ByteReader, kind: FieldKind): unknown {
  switch (kind) {
    case 'text16':
      return copyOf(reader, reader.u16());
    case 'text32':
      return copyOf(reader, reader.u32());
    case 'version':
      return [reader.u8(), reader.u8(), reader.u8()];
    case 'words':
      return words(reader);
    default:
      return reader[kind]();
  }
}

/** A copy: what the cursor is on is overwritten. */
function copyOf(reader: ByteReader, size: number): Uint8Array {
  // Not slice: of a Buffer it is a view.
  return new Uint8Array(reader.bytes(size));
}

function words(reader: ByteReader): bigint[] {
  return Array.from({ length: reader.remaining >>> 3 }, () => reader.u64());
}

function event(reader: ByteReader, isWide: boolean): StfRecord {
  const id = isWide ? reader.u64() : BigInt(reader.u32());
  reader.skip(1);
  return { type: StfType.EVENT, id, data: words(reader) };
}

function pageTableWalk(fields: ByteReader): StfRecord {
  const [address, firstIndex, pageSize] = [fields.u64(), fields.u64(), fields.u32()];
  const entries = Array.from({ length: fields.u8() }, () => ({ address: fields.u64(), entry: fields.u64() }));
  return { type: StfType.PAGE_TABLE_WALK, address, firstIndex, pageSize, entries };
}

function transaction(fields: ByteReader): StfTransaction {
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
    data: copyOf(fields, fields.u16()),
  };
  if (head.channel === Channel.D) return { ...message, sink: fields.u64() };
  const address = fields.u64();
  if (head.channel === Channel.C) return { ...message, address };
  const maskBits = fields.u16();
  return { ...message, address, maskBits, mask: copyOf(fields, (maskBits + 7) >>> 3) };
}

// Records as bytes.

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
  if (type === StfType.IDENTIFIER) out.bytes(MAGIC.subarray(1));
  else if (type === StfType.EVENT) encodeEvent(out, record.id, record.data, context.event64);
  else if (type === StfType.TRANSACTION) encodeTransaction(out, record);
  else if (type === StfType.PAGE_TABLE_WALK) {
    out.u64(record.address).u64(record.firstIndex).u32(record.pageSize).u8(record.entries.length);
    for (const { address, entry } of record.entries) out.u64(address).u64(entry);
  } else {
    if (type === StfType.INST_REG) checkWords(record.meta, record.values.length, context.vlen);
    const values = record as unknown as Readonly<Record<string, unknown>>;
    for (const { name, kind } of LAYOUT.get(type) ?? []) writeField(out, kind, values[name]);
  }
}

function writeField(out: ByteWriter, kind: FieldKind, value: unknown): void {
  if (kind === 'text16' || kind === 'text32') {
    const text = value as Uint8Array;
    out[kind === 'text16' ? 'u16' : 'u32'](text.length).bytes(text);
  } else if (kind === 'version') for (const part of value as readonly number[]) out.u8(part);
  else if (kind === 'words') for (const word of value as readonly bigint[]) out.u64(word);
  else if (kind === 'u64') out.u64(value as bigint);
  else out[kind](value as number);
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
