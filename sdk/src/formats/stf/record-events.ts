/**
 * STF records as events of a µScope trace, in both directions the same table. The payload of an event has the bytes of the record as far as
 * their number is fixed; texts are strings, lists are separate events after the record's, one per (index, value).
 */

import { type Fields, SchemaBuilder, type ScopeBuilder } from '../../schema/index.js';
import { SYNTHETIC_TIME } from '../../semantics/cpu/analysis/analyze.js';
import { StfType, TYPE_NAMES } from './types.js';

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

/** Records whose event has exactly the bytes after the descriptor. */
export const FIXED: ReadonlyMap<number, Fields> = new Map<number, Fields>([
  [StfType.IDENTIFIER, { magic0: 'u8', magic1: 'u8', magic2: 'u8' }],
  [StfType.VERSION, { major: 'u32', minor: 'u32' }],
  [StfType.ISA, { isa: 'u16' }],
  [StfType.INST_IEM, { iem: 'u16' }],
  [StfType.TRACE_INFO_FEATURE, { features: 'u64' }],
  [StfType.PROCESS_ID_EXT, { hw_thread: 'u32', process: 'u32', thread: 'u32' }],
  [StfType.FORCE_PC, { pc: 'u64' }],
  [StfType.VLEN_CONFIG, { vlen: 'u32' }],
  [StfType.PROTOCOL_ID, { protocol: 'u8' }],
  [StfType.END_HEADER, {}],
  [StfType.INST_PC_TARGET, { pc: 'u64' }],
  [StfType.INST_READY_REG, { register: 'u16' }],
  [StfType.INST_MEM_ACCESS, { address: 'u64', size: 'u16', attributes: 'u16', access: ACCESS }],
  [StfType.INST_MEM_CONTENT, { value: 'u64' }],
  [
    StfType.BUS_MASTER_ACCESS,
    { address: 'u64', size: 'u16', source: 'u8', index: 'u8', attributes: 'u32', access: ACCESS },
  ],
  [StfType.BUS_MASTER_CONTENT, { value: 'u64' }],
  [StfType.EVENT_PC_TARGET, { pc: 'u64' }],
  [StfType.INST_MICROOP, { size: 'u8', op: 'u32' }],
  [StfType.INST_OPCODE32, { bits: 'u32' }],
  [StfType.INST_OPCODE16, { bits: 'u16' }],
  [StfType.TRANSACTION_DEPENDENCY, { id: 'u64', delta: 'u64', clock: 'u8' }],
]);

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
    builder.dut('cpu.protocol_version', '0.1').dut('cpu.isa', isa).dut('cpu.pipeline_stages', 'instruction');
    builder.enum('pipeline_stage', ['instruction']).enum('dep_type', ['raw', 'war', 'waw', 'structural']);
    builder.enum('flush_reason', ['mispredict', 'exception', 'interrupt', 'pipeline_clear']);
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
      fields: { entity_id: 'u32', pc: 'u64', inst_bits: 'u32' },
    })
    .counter('committed_insns')
    .event('stage_transition', { entity_id: 'u32', stage: 'pipeline_stage' })
    .event('annotate', { entity_id: 'u32', text: 'string' })
    .event('dependency', { src_id: 'u32', dst_id: 'u32', dep_type: 'dep_type' })
    .event('flush', { entity_id: 'u32', reason: 'flush_reason' })
    .event('trap', { entity_id: 'u32', cause: 'u64', tval: 'u64', target: 'u64' });
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
