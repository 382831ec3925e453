/** A trace of what instruction set simulators retire: one instruction a cycle, with the registers and the memory that it wrote. */
import { UscopeError } from '../../base/errors.js';
import { MAX_ITEMS_PER_FRAME } from '../../format/record.js';
import { SessionStatus } from '../../format/session-chunk.js';
import { Action, packedSize, type Schema } from '../../format/types.js';
import { SchemaBuilder } from '../../schema/index.js';
import { type TraceOutput, withOutput } from '../../stream/trace-output.js';
import { createSegmentIndexer } from '../../trace-index/recording/segment-indexer.js';
import type { TraceStats } from '../../writer/index.js';
import { RecordBatch } from '../../writer/records/record-batch.js';
import { createCpuSummarizer } from '../../writer/summary/cpu-summarizer.js';
import { checkpointIntervalFor } from '../common/checkpoint-interval.js';
import type { ConversionContext, FormatOption, TraceTarget } from '../common/foreign-format.js';
import type { ConversionReport } from '../common/report.js';
import { TraceStrings } from '../pipeline/trace-strings.js';
import { TextBytes } from '../text/text-bytes.js';
import { type Interrupt, join64, type RetiredShape, type RetiredSink, UNKNOWN } from './sink.js';

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
/** Of annotations (docs/reference/formats/konata.md): what the instruction is, and remarks. */
const AnnotationKind = { NAME: 0, REMARK: 1 } as const;

/** @throws UscopeError CONVERT_OPTION; null without the option */
export function startOption(options: ReadonlyMap<string, string>): bigint | null {
  const text = options.get('start');
  if (text === undefined) return null;
  if (/^(0x[0-9a-fA-F]{1,16}|\d{1,19})$/.test(text)) return BigInt(text);
  throw new UscopeError('CONVERT_OPTION', `start=${text}: it is an address, such as 0x80000000`);
}

/** Writes the instructions that `fill` gives. @throws UscopeError WRITER_*, SCHEMA_*, CONVERT_OPTION, and what `fill` throws */
export function writeRetired(
  target: TraceTarget,
  shape: RetiredShape,
  context: ConversionContext,
  fill: (trace: RetiredTrace) => Promise<void>,
): Promise<TraceStats> {
  const { instructions } = shape;
  const options = {
    ...target,
    checkpointIntervalPs:
      target.checkpointIntervalPs ??
      checkpointIntervalFor(BigInt(instructions) * BigInt(PERIOD_PS), instructions * ITEMS_PER_INSTRUCTION),
    ...schemaOf(shape, context.options),
    summarizer: createCpuSummarizer,
    index: createSegmentIndexer,
  };
  const batch = new RecordBatch();
  return withOutput(options, batch, context.signal, async (output) => {
    const trace = new RetiredTrace(options.schema, shape, batch, output, context);
    await fill(trace);
    trace.finish();
    return output.finish({ status: SessionStatus.CLOSED, lost: 0n, rejected: 0n });
  });
}

export class RetiredTrace implements RetiredSink {
  private cycle = 0;
  private isOpen = false;
  /** In the open frame. */
  private items = 0;
  /** The hart whose instruction is open; null: before the start. */
  private core: Core | null = null;
  private readonly cores = new Map<number, Core>();
  private readonly strings: TraceStrings;
  private readonly word = new TextBytes();
  private readonly tallies: ReturnType<typeof talliesOf>;
  private readonly start: bigint | null;
  private hasStarted: boolean;

  constructor(
    schema: Schema,
    { harts }: RetiredShape,
    private readonly batch: RecordBatch,
    private readonly output: TraceOutput,
    { report, options }: ConversionContext,
  ) {
    for (const hart of harts) this.cores.set(hart, coreOf(schema, hart));
    this.strings = new TraceStrings(batch);
    this.tallies = talliesOf(report);
    this.start = startOption(options);
    this.hasStarted = this.start === null;
  }

  /** False: no instruction was at the address of the option `start`. */
  get isStarted(): boolean {
    return this.hasStarted;
  }

  /** Whether `push` is due. */
  get isFull(): boolean {
    return this.output.isFull;
  }

  async push(): Promise<void> {
    this.close();
    await this.output.push();
  }

  begin(
    hart: number,
    pcLow: number,
    pcHigh: number,
    bits: number,
    text: string | null,
    privilege: number,
  ): void {
    const core = this.open(hart, pcLow, pcHigh, bits, text, privilege);
    if (core) this.op(Action.ADD, core.committed, 0, 0, 1, 0);
  }

  trap(
    hart: number,
    pcLow: number,
    pcHigh: number,
    bits: number,
    text: string | null,
    cause: bigint,
    value: bigint,
  ): void {
    const core = this.open(hart, pcLow, pcHigh, bits, text, UNKNOWN);
    if (core) core.trap = { cause, value };
  }

  interrupt({ cause, epc }: Interrupt): void {
    const { core } = this;
    if (!core) return;
    const { view, offset } = this.event(core.events.interrupt, core.slot);
    view.setBigUint64(offset, epc, true);
    view.setBigUint64(offset + 8, core.pc, true);
    view.setBigUint64(offset + 16, cause, true);
  }

  register(isFloat: boolean, index: number, low: number, high: number): void {
    const { core } = this;
    if (!core) return;
    const { view, offset } = this.event(isFloat ? core.events.freg_write : core.events.reg_write, core.slot);
    view.setUint8(offset, index);
    putWord(view, offset + 1, low, high);
    if (!isFloat) this.op(Action.SET, core.regs, index, 0, low, high);
    this.tallies[isFloat ? 'floats' : 'integers'].count++;
  }

  csr(number: number, name: TextBytes, low: number, high: number): void {
    const { core } = this;
    if (!core) return;
    const string = this.strings.of(name);
    const { view, offset } = this.event(core.events.csr_write, core.slot);
    view.setUint16(offset, number, true);
    view.setUint32(offset + 2, string, true);
    putWord(view, offset + 6, low, high);
    this.tallies.csrs.count++;
  }

  store(addressLow: number, addressHigh: number, bytes: number, low: number, high: number): void {
    const { core } = this;
    if (!core) return;
    const { view, offset } = this.event(core.events.mem_write, core.slot);
    putWord(view, offset, addressLow, addressHigh);
    view.setUint8(offset + 8, bytes >= 8 ? 0xff : (1 << bytes) - 1);
    putWord(view, offset + 9, low, high);
    this.tallies.stores.count++;
  }

  load(addressLow: number, addressHigh: number): void {
    const { core } = this;
    if (!core) return;
    const { view, offset } = this.event(core.events.mem_load, core.slot);
    putWord(view, offset, addressLow, addressHigh);
    this.tallies.loads.count++;
  }

  note(text: string): void {
    if (!this.core) return;
    this.annotate(this.core, text, AnnotationKind.REMARK);
    this.tallies.notes.count++;
  }

  /** After the last instruction: those in flight end. */
  finish(): void {
    this.beginFrame();
    for (const core of this.cores.values()) this.end(core, 0n);
    this.close();
  }

  /** Null: before the start. @throws UscopeError CONVERT_SOURCE for a hart that the first pass did not meet */
  private open(
    hart: number,
    pcLow: number,
    pcHigh: number,
    bits: number,
    text: string | null,
    privilege: number,
  ): Core | null {
    if (!this.hasStarted && !this.startsAt(pcLow, pcHigh)) return null;
    const core = this.core?.hart === hart ? this.core : this.cores.get(hart);
    if (!core)
      throw new UscopeError('CONVERT_SOURCE', 'the log changed while it was read: another hart is in it');
    this.core = core;
    this.beginFrame();
    this.end(core, core.trap ? join64(pcLow, pcHigh) : 0n);
    const slot = core.next(pcLow, pcHigh);
    const { entities } = core;
    this.op(Action.SET, entities, slot, Field.ENTITY_ID, slot, 0);
    this.op(Action.SET, entities, slot, Field.PC, pcLow, pcHigh);
    if (bits !== UNKNOWN) this.op(Action.SET, entities, slot, Field.INST_BITS, bits, 0);
    this.op(Action.SET, entities, slot, Field.PRIV_LEVEL, privilege === UNKNOWN ? MACHINE : privilege, 0);
    const { view, offset } = this.event(core.events.stage_transition, slot);
    view.setUint8(offset, RETIRE);
    if (text !== null) this.annotate(core, text, AnnotationKind.NAME);
    this.tallies.instructions.count++;
    return core;
  }

  private startsAt(pcLow: number, pcHigh: number): boolean {
    this.hasStarted = join64(pcLow, pcHigh) === this.start;
    if (!this.hasStarted) this.tallies.early.count++;
    return this.hasStarted;
  }

  /** The hart's last instruction ends. @param next where the hart continues after a trap */
  private end(core: Core, next: bigint): void {
    if (!core.isBusy) return;
    const { slot, trap } = core;
    if (trap) {
      const { view, offset } = this.event(core.events.trap, slot);
      view.setBigUint64(offset, trap.cause, true);
      view.setBigUint64(offset + 8, trap.value, true);
      view.setBigUint64(offset + 16, next, true);
      const flush = this.event(core.events.flush, slot);
      flush.view.setUint8(flush.offset, EXCEPTION);
      this.tallies.traps.count++;
    }
    this.op(Action.CLEAR, core.entities, slot, 0, 0, 0);
    core.isBusy = false;
    core.trap = null;
  }

  private annotate(core: Core, text: string, kind: number): void {
    const string = this.strings.of(this.word.set(text));
    const { view, offset } = this.event(core.events.annotate, core.slot);
    view.setUint32(offset, string, true);
    view.setUint8(offset + 4, kind);
  }

  private op(action: Action, storage: number, slot: number, field: number, low: number, high: number): void {
    this.room();
    this.batch.op(action, storage, slot, field, low, high);
  }

  /** The caller fills what follows the instruction's slot. */
  private event({ id, size }: EventShape, slot: number): { view: DataView; offset: number } {
    this.room();
    const place = this.batch.event(id, size);
    place.view.setUint32(place.offset, slot, true);
    place.offset += 4;
    return place;
  }

  /** A cycle with more items than a frame may hold continues in a frame of the same time. */
  private room(): void {
    if (this.items < MAX_ITEMS_PER_FRAME && this.isOpen) {
      this.items++;
      return;
    }
    this.close();
    this.batch.begin((this.cycle - 1) * PERIOD_PS);
    this.isOpen = true;
    this.items = 1;
  }

  private beginFrame(): void {
    this.close();
    this.batch.begin(this.cycle++ * PERIOD_PS);
    this.isOpen = true;
    this.items = 0;
  }

  private close(): void {
    if (this.isOpen) this.batch.end(this.items, this.output.frames++);
    this.isOpen = false;
  }
}

interface EventShape {
  readonly id: number;
  /** Bytes of the payload. */
  readonly size: number;
}

type Core = ReturnType<typeof coreOf>;

/** What one hart has in flight: the last instruction, which ends when the next one is known. */
function coreOf({ scopes, storages, events }: Schema, hart: number) {
  const scope = scopes.findIndex(({ name }) => name === `core${hart}`);
  const storage = (name: string): number =>
    storages.findIndex((def) => def.scopeId === scope && def.name === name);
  const event = (name: string): EventShape => {
    const found = events.find((def) => def.scopeId === scope && def.name === name);
    return found ? { id: found.eventTypeId, size: packedSize(found.fields) } : { id: -1, size: 0 };
  };
  let [pcLow, pcHigh] = [0, 0];
  return {
    hart,
    isBusy: false,
    slot: SLOTS - 1,
    trap: null as { readonly cause: bigint; readonly value: bigint } | null,
    get pc(): bigint {
      return join64(pcLow, pcHigh);
    },
    /** The slot of the next instruction. */
    next(low: number, high: number): number {
      [pcLow, pcHigh] = [low, high];
      this.isBusy = true;
      this.slot = (this.slot + 1) % SLOTS;
      return this.slot;
    },
    entities: storage('entities'),
    regs: storage('regs'),
    committed: storage('committed_insns'),
    events: {
      stage_transition: event('stage_transition'),
      annotate: event('annotate'),
      flush: event('flush'),
      trap: event('trap'),
      interrupt: event('interrupt'),
      reg_write: event('reg_write'),
      freg_write: event('freg_write'),
      csr_write: event('csr_write'),
      mem_write: event('mem_write'),
      mem_load: event('mem_load'),
    },
  };
}

function talliesOf(report: ConversionReport) {
  return {
    instructions: report.kept('instructions', 'entities, one a cycle in the order of the log'),
    integers: report.kept('writes of x registers', 'reg_write, and regs'),
    floats: report.kept('writes of f registers', 'freg_write'),
    csrs: report.kept('writes of CSRs', 'csr_write'),
    stores: report.kept('stores', 'mem_write'),
    loads: report.kept('loads', 'mem_load: the log has no size and no value'),
    notes: report.kept('vector registers and their configuration', 'annotate'),
    traps: report.kept('traps', 'trap, and flush instead of retirement'),
    early: report.dropped('instructions before the start', 'start=ADDRESS leaves them out'),
  };
}

function putWord(view: DataView, at: number, low: number, high: number): void {
  view.setUint32(at, low, true);
  view.setUint32(at + 4, high, true);
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
      .event('annotate', { entity_id: 'u32', text: 'string', kind: 'u8' })
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
