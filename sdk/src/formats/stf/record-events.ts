/**
 * STF records as events of a µScope trace, in both directions the same table. The payload of an event has the bytes of the record as far as
 * their number is fixed; texts are strings, lists are separate events after the record's, one per (index, value).
 */

import { MAX_STRING_BYTES } from '../../format/record.js';
import { qualifiedName, type Schema } from '../../format/types.js';
import { CPU, fieldsOf } from '../../protocols/index.js';
import { type Fields, SchemaBuilder, type ScopeBuilder } from '../../schema/index.js';
import { SYNTHETIC_TIME } from '../../semantics/cpu/analysis/analyze.js';
import {
  addCpuEvents,
  addProperties,
  cpuProperties,
  DEPENDENCY_TYPES,
  FLUSH_REASONS,
} from '../common/cpu-scope.js';
import { EventPacker, type PackedValue } from '../common/event-values.js';
import type { TraceFrames } from '../common/trace-frames.js';
import type { StfCursor } from './cursor.js';
import { decodeRecord } from './records.js';
import {
  bytesOfFields,
  Channel,
  LAYOUT,
  type StfRecord,
  type StfTransaction,
  StfType,
  TYPE_NAMES,
} from './types.js';

/** Scope of the record events. */
export const RECORD_SCOPE = 'stf';
export const HART_SCOPE = 'hart0';
/** In files of bus transactions: how many there were. */
export const TRANSACTION_COUNTER = 'transactions';
/** DUT properties: what the record events are, and that nothing may be concluded from the times. */
export const RECORDS_PROPERTY = 'stf.records';
export const RECORDS_VERSION = '1';
const TIME_PROPERTY = SYNTHETIC_TIME;
export const PERIOD_PS = 1000;
/** Slots of the catalog of instructions. */
export const ENTITY_SLOTS = 64;
/** Bytes that an event of `text_bytes`, `transaction_data` or `transaction_mask` holds. */
export const BYTES_PER_EVENT = 8;

const ACCESS = 'stf_access';
const OPERAND = 'stf_operand';

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Records whose event has exactly the bytes after the descriptor. */
export const FIXED: ReadonlyMap<number, Fields> = new Map(
  [...LAYOUT].flatMap(([type, fields]): [number, Fields][] => {
    if (Number.isNaN(bytesOfFields(fields))) return [];
    if (type === StfType.IDENTIFIER) return [[type, { magic0: 'u8', magic1: 'u8', magic2: 'u8' }]];
    const named = fields.map(({ name, kind }) => [snake(name), name === 'access' ? ACCESS : kind] as const);
    return [[type, Object.fromEntries(named)]];
  }),
);

/** Records of variable size. `size` of a text counts bytes; an empty text with a size has its bytes in `text_bytes`. */
const VARIABLE: ReadonlyMap<number, Fields> = new Map<number, Fields>([
  [StfType.COMMENT, { size: 'u32', text: 'string' }],
  [StfType.ISA_EXTENDED, { size: 'u32', text: 'string' }],
  [
    StfType.TRACE_INFO,
    { generator: 'u8', major: 'u8', minor: 'u8', patch: 'u8', size: 'u16', text: 'string' },
  ],
  [StfType.CLOCK_ID, { clock: 'u8', size: 'u16', text: 'string' }],
  [StfType.INST_REG, { register: 'u16', operand: OPERAND, value: 'u64' }],
  [StfType.PAGE_TABLE_WALK, { address: 'u64', first_index: 'u64', page_size: 'u32', entries: 'u8' }],
  [StfType.EVENT, { id: 'u64', count: 'u8' }],
  [
    StfType.TRANSACTION,
    {
      id: 'u64',
      delta: 'u64',
      clock: 'u8',
      metadata: 'u16',
      channel: 'u8',
      code: 'u8',
      param: 'u8',
      size: 'u8',
      source: 'u64',
      data_bytes: 'u16',
      address: 'u64',
      mask_bits: 'u16',
      sink: 'u64',
    },
  ],
]);

/** Items of lists, by the number that represents them where records have their descriptor. */
export const Part = {
  TEXT: 300,
  REGISTER: 301,
  PAGE_TABLE_ENTRY: 302,
  EVENT_DATA: 303,
  METADATA: 304,
  DATA: 305,
  MASK: 306,
} as const;

const PARTS: ReadonlyMap<number, readonly [name: string, fields: Fields]> = new Map([
  [Part.TEXT, ['text_bytes', { index: 'u32', value: 'u64' }]],
  [Part.REGISTER, ['reg_word', { index: 'u32', value: 'u64' }]],
  [Part.PAGE_TABLE_ENTRY, ['page_table_entry', { index: 'u32', address: 'u64', entry: 'u64' }]],
  [Part.EVENT_DATA, ['event_data', { index: 'u32', value: 'u64' }]],
  [Part.METADATA, ['transaction_metadata', { index: 'u32', width: 'u8', value: 'u64' }]],
  [Part.DATA, ['transaction_data', { index: 'u32', value: 'u64' }]],
  [Part.MASK, ['transaction_mask', { index: 'u32', value: 'u64' }]],
]);

/** Name of the event of a record or of an item of its lists. */
export function eventName(kind: number): string {
  return PARTS.get(kind)?.[0] ?? TYPE_NAMES.get(kind)?.toLowerCase() ?? '';
}

/** Every kind that has an event. */
export const EVENT_KINDS: readonly number[] = [...TYPE_NAMES.keys(), ...PARTS.keys()];

/** What the schema of a trace made of STF depends on. */
export interface StfShape {
  /** RISC-V instructions, not bus transactions: there is a hart. */
  readonly hasInstructions: boolean;
  readonly isa: string;
  readonly name: string;
}

export function buildSchema({ hasInstructions, isa, name }: StfShape) {
  const builder = new SchemaBuilder()
    .dut('dut_name', name)
    .dut(RECORDS_PROPERTY, RECORDS_VERSION)
    .dut(TIME_PROPERTY, hasInstructions ? '1 instruction = 1 cycle' : '1 transaction = 1 cycle')
    .clock(hasInstructions ? 'instruction' : 'transaction', PERIOD_PS)
    .enum(ACCESS, { unknown: 0, read: 1, write: 2 })
    .enum(OPERAND, operandNames());
  const clock = hasInstructions ? 'instruction' : 'transaction';
  if (hasInstructions) {
    addProperties(builder, cpuProperties(['instruction'], isa));
    builder.enum('pipeline_stage', ['instruction']).enum('dep_type', DEPENDENCY_TYPES);
    builder.enum('flush_reason', FLUSH_REASONS);
    addHart(builder.scope(HART_SCOPE, { protocol: 'cpu', clock }));
  }
  const records = builder.scope(RECORD_SCOPE, { clock });
  if (!hasInstructions) records.counter(TRANSACTION_COUNTER);
  for (const [type, fields] of [...FIXED, ...VARIABLE]) records.event(eventName(type), fields);
  for (const [partName, fields] of PARTS.values()) records.event(partName, fields);
  return builder.build();
}

function addHart(hart: ScopeBuilder): void {
  hart
    .storage('entities', {
      slots: ENTITY_SLOTS,
      kind: 'sparse',
      fields: fieldsOf(CPU.storages.entities, ['entity_id', 'pc', 'inst_bits']),
    })
    .counter('committed_insns');
  addCpuEvents(hart, ['stage_transition', 'annotate', 'dependency', 'flush', 'trap']);
}

/** `meta` of INST_REG: role in the high, register file in the low nibble. */
function operandNames(): Record<string, number> {
  const names: Record<string, number> = { none: 0 };
  for (const [r, role] of ['state', 'source', 'dest'].entries()) {
    for (const [f, file] of ['x', 'f', 'v', 'csr'].entries())
      names[`${role}_${file}`] = ((r + 1) << 4) | (f + 1);
  }
  return names;
}

// Turns the record that a cursor is at into events of a batch.

/** Bytes between the descriptor and the text of a record: fixed fields, and the size of the text. */
export function bytesBeforeText(kind: number): number {
  const fields = LAYOUT.get(kind) ?? [];
  return bytesOfFields(fields.slice(0, -1)) + (fields.at(-1)?.kind === 'text16' ? 2 : 4);
}

/** Kind (descriptor or `Part`) -> event type id. */
export function eventIds(schema: Schema): Int32Array {
  const ids = new Int32Array(512).fill(-1);
  const byName = new Map(schema.events.map((event) => [qualifiedName(schema, event), event.eventTypeId]));
  for (const kind of EVENT_KINDS) ids[kind] = byName.get(`${RECORD_SCOPE}/${eventName(kind)}`) ?? -1;
  return ids;
}

export class EventEmitter {
  private readonly ids: Int32Array;
  private readonly packer: EventPacker;
  private readonly decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  constructor(
    schema: Schema,
    private readonly frames: TraceFrames,
  ) {
    this.packer = new EventPacker(schema, frames);
    this.ids = eventIds(schema);
  }

  emit(cursor: StfCursor): void {
    const { type } = cursor;
    if (FIXED.has(type)) this.copy(cursor, type, cursor.size - 1);
    else if (type === StfType.INST_REG) this.register(cursor);
    else if (type === StfType.PAGE_TABLE_WALK) this.pageTableWalk(cursor);
    else if (LAYOUT.has(type)) this.text(cursor, type);
    else {
      const record = decodeRecord(cursor);
      if (record.type === StfType.EVENT) this.event(record);
      else if (record.type === StfType.TRANSACTION) this.transaction(record);
    }
  }

  private copy({ bytes, at }: StfCursor, kind: number, size: number): void {
    const { view, offset } = this.open(kind, size);
    for (let i = 0; i < size; i++) view.setUint8(offset + i, bytes[at + 1 + i]);
  }

  private register(cursor: StfCursor): void {
    this.copy(cursor, StfType.INST_REG, 11);
    const words = (cursor.size - 4) >>> 3;
    for (let i = 1; i < words; i++) {
      this.word(Part.REGISTER, i, cursor.view.getBigUint64(cursor.at + 4 + 8 * i, true));
    }
  }

  private pageTableWalk(cursor: StfCursor): void {
    const { view, at } = cursor;
    this.copy(cursor, StfType.PAGE_TABLE_WALK, 21);
    for (let i = 0, from = at + 22; i < view.getUint8(at + 21); i++, from += 16)
      this.emitValues(
        Part.PAGE_TABLE_ENTRY,
        i,
        view.getBigUint64(from, true),
        view.getBigUint64(from + 8, true),
      );
  }

  private event({ id, data }: StfRecord & { type: 100 }): void {
    this.emitValues(StfType.EVENT, id, data.length);
    for (const [i, value] of data.entries()) this.word(Part.EVENT_DATA, i, value);
  }

  /** Text after fixed fields and its size; bytes that are not UTF-8, or too many for a string, follow in events. */
  private text({ bytes, at, size }: StfCursor, kind: number): void {
    const head = bytesBeforeText(kind);
    const text = bytes.subarray(at + 1 + head, at + size);
    const string = this.decode(text);
    const index = this.packer.string(string ?? '');
    const { view, offset } = this.open(kind, head + 4);
    for (let i = 0; i < head; i++) view.setUint8(offset + i, bytes[at + 1 + i]);
    view.setUint32(offset + head, index, true);
    if (string === null) this.blob(Part.TEXT, text);
  }

  private decode(text: Uint8Array): string | null {
    if (text.length > MAX_STRING_BYTES || text.includes(0)) return null;
    try {
      return this.decoder.decode(text);
    } catch {
      return null;
    }
  }

  private blob(kind: number, bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += BYTES_PER_EVENT) {
      let value = 0n;
      const end = Math.min(at + BYTES_PER_EVENT, bytes.length);
      for (let i = end - 1; i >= at; i--) value = (value << 8n) | BigInt(bytes[i]);
      this.word(kind, at / BYTES_PER_EVENT, value);
    }
  }

  private word(kind: number, index: number, value: bigint): void {
    this.emitValues(kind, index, value);
  }

  private transaction(record: StfTransaction): void {
    const { type, id, delta, clock, metadata, channel } = record;
    const { code = 0, param = 0, size = 0, source = 0n, data = new Uint8Array(0) } = record;
    const { address = 0n, maskBits = 0, sink = 0n } = record;
    const head = [id, delta, clock, metadata.length, channel, code, param, size, source] as const;
    this.emitValues(type, ...head, data.length, address, maskBits, sink);
    for (const [i, { width, value }] of metadata.entries()) this.emitValues(Part.METADATA, i, width, value);
    if (record.channel !== Channel.E) this.blob(Part.DATA, data);
    if (record.mask) this.blob(Part.MASK, record.mask);
  }

  /** One value per field, in their order. */
  private emitValues(kind: number, ...values: readonly PackedValue[]): void {
    this.packer.emit(this.ids[kind], ...values);
  }

  private open(kind: number, size: number): { view: DataView; offset: number } {
    return this.frames.event({ id: this.ids[kind], size });
  }
}
