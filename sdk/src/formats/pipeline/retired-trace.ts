/** A trace of what instruction set simulators retire: one instruction a cycle, with the registers and the memory that it wrote. */
import { UscopeError } from '../../base/errors.js';
import { SchemaBuilder } from '../../schema/index.js';
import { createCpuSummarizer } from '../../semantics/cpu/index.js';
import { createSegmentIndexer } from '../../trace-index/recording/segment-indexer.js';
import { type TraceStats, TraceWriter } from '../../writer/index.js';
import { checkpointIntervalFor } from '../common/checkpoint-interval.js';
import type { ConversionContext, FormatOption, TraceTarget } from '../common/foreign-format.js';

/** What one instruction did. */
export interface RetiredRecord {
  readonly hart: number;
  readonly pc: bigint;
  /** Null: the log does not say. */
  readonly bits: number | null;
  readonly text: string | null;
  /** 0 user, 1 supervisor, 3 machine; null: the log does not say. */
  readonly privilege: number | null;
  readonly registers: readonly { readonly file: 'x' | 'f'; readonly index: number; readonly value: bigint }[];
  readonly csrs: readonly { readonly number: number; readonly name: string; readonly value: bigint }[];
  readonly stores: readonly { readonly address: bigint; readonly bytes: number; readonly value: bigint }[];
  readonly loads: readonly bigint[];
  /** What has no event: vector registers, the vector configuration. */
  readonly notes: readonly string[];
  /** It did not retire. */
  readonly trap: { readonly cause: bigint; readonly value: bigint } | null;
  /** Taken before it. */
  readonly interrupt: { readonly cause: bigint; readonly epc: bigint } | null;
}

/** Of which effects of instructions a log tells. */
export interface Says {
  readonly registers: boolean;
  readonly memory: boolean;
}

export interface RetiredShape {
  /** Numbers of the harts, rising. */
  readonly harts: readonly number[];
  readonly xlen: 32 | 64;
  readonly instructions: number;
  readonly says: Says;
  /** What the log is of: `spike`, `qemu`. */
  readonly name: string;
}

export const ISA_OPTION: FormatOption = {
  name: 'isa',
  help: 'instruction set, by which tools disassemble: RV32IMC; default RV32I or RV64I by the width of addresses',
  direction: 'import',
};
export const START_OPTION: FormatOption = {
  name: 'start',
  help: 'address of the first instruction to take; those before it (a boot ROM) are left out',
  direction: 'import',
};

const PERIOD_PS = 1000;
const SLOTS = 4;
const ITEMS_PER_INSTRUCTION = 8;
const RETIRE = 0;
const EXCEPTION = 1;
const MACHINE = 3;
const Field = { ENTITY_ID: 0, PC: 1, INST_BITS: 2, PRIV_LEVEL: 3 } as const;

/** @throws UscopeError CONVERT_OPTION; null without the option */
export function startOption(options: ReadonlyMap<string, string>): bigint | null {
  const text = options.get('start');
  if (text === undefined) return null;
  if (/^(0x[0-9a-fA-F]{1,16}|\d{1,19})$/.test(text)) return BigInt(text);
  throw new UscopeError('CONVERT_OPTION', `start=${text}: it is an address, such as 0x80000000`);
}

export class RetiredTrace {
  private cycle = 0;
  private readonly cores = new Map<number, Core>();
  private readonly tally;

  private constructor(
    private readonly writer: TraceWriter,
    { harts }: RetiredShape,
    context: ConversionContext,
  ) {
    for (const hart of harts) this.cores.set(hart, new Core(writer, hart, context));
    this.tally = context.report.kept('instructions', 'entities, one a cycle in the order of the log');
  }

  /** @throws UscopeError WRITER_*, SCHEMA_*, CONVERT_OPTION */
  static async create(
    target: TraceTarget,
    shape: RetiredShape,
    context: ConversionContext,
  ): Promise<RetiredTrace> {
    const { instructions } = shape;
    const writer = await TraceWriter.create({
      ...target,
      checkpointIntervalPs:
        target.checkpointIntervalPs ??
        checkpointIntervalFor(BigInt(instructions) * BigInt(PERIOD_PS), instructions * ITEMS_PER_INSTRUCTION),
      ...schemaOf(shape, context.options),
      summarizer: createCpuSummarizer,
      index: createSegmentIndexer,
      signal: context.signal,
    });
    return new RetiredTrace(writer, shape, context);
  }

  /** False: the disk lags, await `ready()`. @throws UscopeError CONVERT_SOURCE for a hart that the first pass did not meet */
  put(record: RetiredRecord): boolean {
    const core = this.cores.get(record.hart);
    if (!core)
      throw new UscopeError('CONVERT_SOURCE', 'the log changed while it was read: another hart is in it');
    this.writer.beginCycle(this.cycle * PERIOD_PS);
    core.take(record);
    this.cycle++;
    this.tally.count++;
    return this.writer.endCycle();
  }

  ready(): Promise<void> {
    return this.writer.ready();
  }

  async close(): Promise<TraceStats> {
    this.writer.beginCycle(this.cycle * PERIOD_PS);
    for (const core of this.cores.values()) core.end(null);
    this.writer.endCycle();
    return this.writer.close();
  }

  async abandon(): Promise<void> {
    await this.writer.discard();
  }
}

/** What one hart has in flight: the last instruction, which ends when the next one is known. */
class Core {
  private held: { readonly slot: number; readonly record: RetiredRecord } | null = null;
  private slot = 0;
  private readonly entities: number;
  private readonly regs: number;
  private readonly committed: number;
  private readonly path: string;

  constructor(
    private readonly writer: TraceWriter,
    hart: number,
    private readonly context: ConversionContext,
  ) {
    this.path = `core${hart}`;
    const scope = writer.schema.scopes.findIndex(({ name }) => name === this.path);
    const storage = (name: string): number =>
      writer.schema.storages.findIndex((def) => def.scopeId === scope && def.name === name);
    this.entities = storage('entities');
    this.regs = storage('regs');
    this.committed = storage('committed_insns');
  }

  take(record: RetiredRecord): void {
    this.end(record.pc);
    const { writer, entities } = this;
    const slot = this.slot;
    this.slot = (slot + 1) % SLOTS;
    writer.slotSet(entities, slot, Field.ENTITY_ID, slot);
    writer.slotSet(entities, slot, Field.PC, record.pc);
    if (record.bits !== null) writer.slotSet(entities, slot, Field.INST_BITS, record.bits);
    writer.slotSet(entities, slot, Field.PRIV_LEVEL, record.privilege ?? MACHINE);
    this.event('stage_transition', [slot, RETIRE]);
    if (record.interrupt)
      this.event('interrupt', [slot, record.interrupt.epc, record.pc, record.interrupt.cause]);
    if (!record.trap) this.effects(slot, record);
    this.held = { slot, record };
  }

  /** @param next where the hart continues; null: it does not */
  end(next: bigint | null): void {
    if (!this.held) return;
    const { slot, record } = this.held;
    if (record.trap) {
      this.event('trap', [slot, record.trap.cause, record.trap.value, next ?? 0n]);
      this.event('flush', [slot, EXCEPTION]);
      this.context.report.kept('traps', 'trap, and flush instead of retirement').count++;
    }
    this.writer.slotClear(this.entities, slot);
    this.held = null;
  }

  private effects(slot: number, record: RetiredRecord): void {
    const { writer, context } = this;
    writer.slotAdd(this.committed, 0, 0, 1);
    for (const { file, index, value } of record.registers) {
      this.event(file === 'x' ? 'reg_write' : 'freg_write', [slot, index, value]);
      if (file === 'x') writer.slotSet(this.regs, index, 0, value);
      context.report.kept(`writes of ${file} registers`, file === 'x' ? 'reg_write, and regs' : 'freg_write')
        .count++;
    }
    for (const { number, name, value } of record.csrs) {
      this.event('csr_write', [slot, number, name, value]);
      context.report.kept('writes of CSRs', 'csr_write').count++;
    }
    for (const { address, bytes, value } of record.stores) {
      this.event('mem_write', [slot, address, bytes >= 8 ? 0xff : (1 << bytes) - 1, value]);
      context.report.kept('stores', 'mem_write').count++;
    }
    for (const address of record.loads) {
      this.event('mem_load', [slot, address]);
      context.report.kept('loads', 'mem_load: the log has no size and no value').count++;
    }
    for (const note of record.notes) {
      this.event('annotate', [slot, note]);
      context.report.kept('vector registers and their configuration', 'annotate').count++;
    }
  }

  private event(name: string, fields: readonly (number | bigint | string)[]): void {
    this.writer.event(`${this.path}/${name}`, fields);
  }
}

function schemaOf({ harts, xlen, name, says }: RetiredShape, options: ReadonlyMap<string, string>) {
  const builder = new SchemaBuilder()
    .clock('instruction', PERIOD_PS)
    .dut('dut_name', name)
    .dut('cpu.protocol_version', '0.1')
    .dut('cpu.isa', options.get('isa') ?? `RV${xlen}I`)
    .dut('cpu.pipeline_stages', 'retire')
    .enum('pipeline_stage', ['retire'])
    .enum('flush_reason', ['mispredict', 'exception', 'interrupt', 'pipeline_clear'])
    .enum('privilege', { user: 0, supervisor: 1, reserved: 2, machine: 3 });
  for (const hart of harts) {
    const scope = builder
      .scope(`core${hart}`, { protocol: 'cpu', clock: 'instruction' })
      .storage('entities', {
        slots: SLOTS,
        kind: 'sparse',
        fields: { entity_id: 'u32', pc: 'u64', inst_bits: 'u32', priv_level: 'privilege' },
      })
      .storage('regs', { slots: 32, kind: 'dense', fields: { value: 'u64' } })
      .counter('committed_insns')
      .event('stage_transition', { entity_id: 'u32', stage: 'pipeline_stage' })
      .event('flush', { entity_id: 'u32', reason: 'flush_reason' })
      .event('annotate', { entity_id: 'u32', text: 'string' })
      .event('trap', { entity_id: 'u32', cause: 'u64', tval: 'u64', target: 'u64' })
      .event('interrupt', { entity_id: 'u32', epc: 'u64', target: 'u64', cause: 'u64' });
    if (says.registers) {
      scope
        .event('reg_write', { entity_id: 'u32', index: 'u8', value: 'u64' })
        .event('freg_write', { entity_id: 'u32', index: 'u8', value: 'u64' })
        .event('csr_write', { entity_id: 'u32', number: 'u16', name: 'string', value: 'u64' });
    }
    if (says.memory) {
      scope
        .event('mem_write', { entity_id: 'u32', addr: 'u64', mask: 'u8', data: 'u64' })
        .event('mem_load', { entity_id: 'u32', addr: 'u64' });
    }
  }
  return builder.build();
}
