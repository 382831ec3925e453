/** A trace of what instruction set simulators retire: one instruction a cycle, with the registers and the memory that it wrote. */

import { UscopeError } from '../../base/errors.js';
import { Action, type Schema } from '../../format/types.js';
import { CPU, fieldsOf } from '../../protocols/index.js';
import { SchemaBuilder } from '../../schema/index.js';
import type { TraceOutput } from '../../stream/trace-output.js';
import type { TraceStats } from '../../writer/index.js';
import type { RecordBatch } from '../../writer/records/record-batch.js';
import { createCpuSummarizer } from '../../writer/summary/cpu-summarizer.js';
import {
  addCpuEvents,
  addProperties,
  cpuProperties,
  FLUSH_REASONS,
  PRIVILEGES,
} from '../common/cpu-scope.js';
import type { ConversionContext, FormatOption, TraceTarget } from '../common/foreign-format.js';
import type { ConversionReport } from '../common/report.js';
import {
  checkpointIntervalFor,
  type EventShape,
  scopeIds,
  TraceFrames,
  writeFrames,
} from '../common/trace-frames.js';
import { TraceStrings } from '../pipeline/trace-strings.js';
import { TextBytes } from '../text/columns.js';
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
/** Kinds of annotations (docs/reference/formats/konata.md): what the instruction is, and remarks. */
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
  const spanPs = BigInt(instructions) * BigInt(PERIOD_PS);
  const content = {
    ...schemaOf(shape, context.options),
    checkpointIntervalPs: checkpointIntervalFor(spanPs, instructions * ITEMS_PER_INSTRUCTION),
    summarizer: createCpuSummarizer,
  };
  return writeFrames(
    target,
    content,
    context.signal,
    (batch, output) => new RetiredTrace(content.schema, shape, batch, output, context),
    async (trace) => {
      await fill(trace);
      trace.finish();
    },
  );
}

export class RetiredTrace extends TraceFrames implements RetiredSink {
  private cycle = 0;
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
    batch: RecordBatch,
    output: TraceOutput,
    { report, options }: ConversionContext,
  ) {
    super(batch, output);
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
    const { view, offset } = this.eventOf(core.events.interrupt, core.slot);
    view.setBigUint64(offset, epc, true);
    view.setBigUint64(offset + 8, core.pc, true);
    view.setBigUint64(offset + 16, cause, true);
  }

  register(isFloat: boolean, index: number, low: number, high: number): void {
    const { core } = this;
    if (!core) return;
    const { view, offset } = this.eventOf(
      isFloat ? core.events.freg_write : core.events.reg_write,
      core.slot,
    );
    view.setUint8(offset, index);
    putWord(view, offset + 1, low, high);
    if (!isFloat) this.op(Action.SET, core.regs, index, 0, low, high);
    this.tallies[isFloat ? 'floats' : 'integers'].count++;
  }

  csr(number: number, name: TextBytes, low: number, high: number): void {
    const { core } = this;
    if (!core) return;
    const string = this.strings.of(name);
    const { view, offset } = this.eventOf(core.events.csr_write, core.slot);
    view.setUint16(offset, number, true);
    view.setUint32(offset + 2, string, true);
    putWord(view, offset + 6, low, high);
    this.tallies.csrs.count++;
  }

  store(addressLow: number, addressHigh: number, bytes: number, low: number, high: number): void {
    const { core } = this;
    if (!core) return;
    const { view, offset } = this.eventOf(core.events.mem_write, core.slot);
    putWord(view, offset, addressLow, addressHigh);
    view.setUint8(offset + 8, bytes >= 8 ? 0xff : (1 << bytes) - 1);
    putWord(view, offset + 9, low, high);
    this.tallies.stores.count++;
  }

  load(addressLow: number, addressHigh: number): void {
    const { core } = this;
    if (!core) return;
    const { view, offset } = this.eventOf(core.events.mem_load, core.slot);
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
    this.beginCycle();
    for (const core of this.cores.values()) this.end(core, 0n);
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
    this.beginCycle();
    this.end(core, core.trap ? join64(pcLow, pcHigh) : 0n);
    const slot = core.next(pcLow, pcHigh);
    const { entities } = core;
    this.op(Action.SET, entities, slot, Field.ENTITY_ID, slot, 0);
    this.op(Action.SET, entities, slot, Field.PC, pcLow, pcHigh);
    if (bits !== UNKNOWN) this.op(Action.SET, entities, slot, Field.INST_BITS, bits, 0);
    this.op(Action.SET, entities, slot, Field.PRIV_LEVEL, privilege === UNKNOWN ? MACHINE : privilege, 0);
    const { view, offset } = this.eventOf(core.events.stage_transition, slot);
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
      const { view, offset } = this.eventOf(core.events.trap, slot);
      view.setBigUint64(offset, trap.cause, true);
      view.setBigUint64(offset + 8, trap.value, true);
      view.setBigUint64(offset + 16, next, true);
      const flush = this.eventOf(core.events.flush, slot);
      flush.view.setUint8(flush.offset, EXCEPTION);
      this.tallies.traps.count++;
    }
    this.op(Action.CLEAR, core.entities, slot, 0, 0, 0);
    core.isBusy = false;
    core.trap = null;
  }

  private annotate(core: Core, text: string, kind: number): void {
    const string = this.strings.of(this.word.set(text));
    const { view, offset } = this.eventOf(core.events.annotate, core.slot);
    view.setUint32(offset, string, true);
    view.setUint8(offset + 4, kind);
  }

  /** The caller fills what follows the instruction's slot. */
  private eventOf(shape: EventShape, slot: number): { view: DataView; offset: number } {
    const place = this.event(shape);
    place.view.setUint32(place.offset, slot, true);
    place.offset += 4;
    return place;
  }

  private beginCycle(): void {
    this.beginFrame(this.cycle++ * PERIOD_PS);
  }
}

type Core = ReturnType<typeof coreOf>;

/** What one hart has in flight: the last instruction, which ends when the next one is known. */
function coreOf(schema: Schema, hart: number) {
  const { storage, event } = scopeIds(schema, `core${hart}`);
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
  const builder = new SchemaBuilder().clock('instruction', PERIOD_PS).dut('dut_name', name);
  addProperties(builder, cpuProperties(['retire'], options.get('isa') ?? `RV${xlen}I`));
  builder
    .enum('pipeline_stage', ['retire'])
    .enum('flush_reason', FLUSH_REASONS)
    .enum('privilege', PRIVILEGES);
  for (const hart of harts) {
    const scope = builder
      .scope(`core${hart}`, { protocol: 'cpu', clock: 'instruction' })
      .storage('entities', {
        slots: SLOTS,
        kind: 'sparse',
        fields: fieldsOf(CPU.storages.entities, ['entity_id', 'pc', 'inst_bits', 'priv_level']),
      })
      .storage('regs', { slots: 32, kind: 'dense', fields: fieldsOf(CPU.storages.regs) })
      .counter('committed_insns');
    addCpuEvents(scope, ['stage_transition', 'flush']);
    scope.event('annotate', fieldsOf(CPU.events.annotate));
    addCpuEvents(scope, ['trap']);
    scope.event('interrupt', fieldsOf(CPU.events.interrupt));
    if (says.registers) addCpuEvents(scope, ['reg_write', 'freg_write', 'csr_write']);
    if (says.memory) addCpuEvents(scope, ['mem_write', 'mem_load']);
  }
  return builder.build();
}
