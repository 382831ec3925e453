/**
 * A made-up pipeline that follows the conventions of the `cpu` protocol: at random it fetches, moves on, stalls, squashes and retires, and
 * keeps a record of what it did. What is read back from its trace must be that record.
 */
import { type FieldDef, FieldType, type Frame, type Item, type Schema } from '../../sdk/src/format/types.js';
import { clear, frame, set } from './build-trace.js';

export const PERIOD_PS = 500;
export const STAGES = ['fetch', 'decode', 'execute', 'writeback'];
const REASONS = ['mispredict', 'exception', 'interrupt', 'pipeline_clear'];
const DEP_TYPES = ['raw', 'war', 'waw', 'structural'];
const STALLS = ['rob_full', 'fetch_miss'];

export interface ModelInstruction {
  readonly seq: number;
  readonly id: number;
  readonly pc: bigint;
  readonly bits: number;
  readonly birth: number;
  stages: { name: string; cycle: number }[];
  text: string | null;
  dependencies: { on: number; seq: number; type: string; cycle: number }[];
  flush: { reason: string; cycle: number } | null;
  end: number | null;
}

export interface Model {
  readonly frames: readonly Frame[];
  readonly strings: readonly string[];
  readonly instructions: readonly ModelInstruction[];
  readonly stalls: readonly { cycle: number; reason: string }[];
  readonly cycles: number;
}

/** A source of randomness: an integer from 0 to `below` (exclusive). */
export type Choose = (below: number) => number;

const field = (name: string, type: FieldType, enumId = 0): FieldDef => ({
  name,
  type,
  enumId,
  role: 0,
  pairId: 0,
});
const entityId = field('entity_id', FieldType.U32);
const labels = (name: string, names: readonly string[]) => ({
  name,
  values: names.map((label, value) => ({ value, name: label })),
});

/** One core, or with `cores` 2 a second one with the same names and other ids: storages 2.., events 5... */
export function modelSchema({ cores = 1, slots = 24 } = {}): Schema {
  const scopes = Array.from({ length: cores }, (_, index) => index + 1);
  return {
    clocks: [{ name: 'core_clk', clockId: 0, periodPs: PERIOD_PS }],
    scopes: [
      { name: 'root', scopeId: 0, parentId: 0xffff, protocol: null, clockId: 0xff },
      ...scopes.map((scopeId) => ({
        name: `core${scopeId - 1}`,
        scopeId,
        parentId: 0,
        protocol: 'cpu',
        clockId: 0,
      })),
    ],
    enums: [
      labels('pipeline_stage', STAGES),
      labels('flush_reason', REASONS),
      labels('dep_type', DEP_TYPES),
      labels('stall_reason', STALLS),
    ],
    storages: scopes.flatMap((scopeId) => [
      {
        name: 'entities',
        storageId: (scopeId - 1) * 2,
        numSlots: slots,
        flags: 1,
        scopeId,
        fields: [entityId, field('pc', FieldType.U64), field('inst_bits', FieldType.U32)],
        properties: [],
      },
      {
        name: 'committed_insns',
        storageId: (scopeId - 1) * 2 + 1,
        numSlots: 1,
        flags: 0,
        scopeId,
        fields: [field('count', FieldType.U64)],
        properties: [],
      },
    ]),
    events: scopes.flatMap((scopeId) =>
      [
        { name: 'stage_transition', fields: [entityId, field('stage', FieldType.ENUM, 0)] },
        { name: 'annotate', fields: [entityId, field('text', FieldType.STRING_REF)] },
        {
          name: 'dependency',
          fields: [
            field('src_id', FieldType.U32),
            field('dst_id', FieldType.U32),
            field('dep_type', FieldType.ENUM, 2),
          ],
        },
        { name: 'flush', fields: [entityId, field('reason', FieldType.ENUM, 1)] },
        { name: 'stall', fields: [field('reason', FieldType.ENUM, 3)] },
      ].map((event, index) => ({ ...event, eventTypeId: (scopeId - 1) * 5 + index, scopeId })),
    ),
    summaryFields: [],
  };
}

export const u32 = (value: number): number[] => [
  value & 255,
  (value >>> 8) & 255,
  (value >>> 16) & 255,
  value >>> 24,
];
export const event = (eventTypeId: number, ...bytes: number[]): Item => ({
  kind: 'event',
  eventTypeId,
  payload: Uint8Array.from(bytes),
});

export function runModel(choose: Choose, cycles: number, slots = 24): Model {
  const model = new PipelineModel(choose, slots);
  for (let cycle = 0; cycle < cycles; cycle++) model.step(cycle);
  return {
    frames: model.frames,
    strings: model.strings,
    instructions: model.instructions,
    stalls: model.stalls,
    cycles,
  };
}

class PipelineModel {
  readonly frames: Frame[] = [];
  readonly strings: string[] = [];
  readonly instructions: ModelInstruction[] = [];
  readonly stalls: { cycle: number; reason: string }[] = [];
  private readonly free: number[];
  private live: ModelInstruction[] = [];

  constructor(
    private readonly choose: Choose,
    slots: number,
  ) {
    this.free = Array.from({ length: slots }, (_, slot) => slot);
  }

  step(cycle: number): void {
    const items: Item[] = [];
    for (const one of [...this.live]) this.act(one, cycle, items);
    const births = Math.min(this.choose(3), this.free.length);
    for (let i = 0; i < births; i++) this.fetch(cycle, items);
    if (this.choose(6) === 0) {
      const reason = this.choose(STALLS.length);
      this.stalls.push({ cycle, reason: STALLS[reason]! });
      items.push(event(4, reason));
    }
    // Idle cycles need no frame.
    if (items.length > 0) this.frames.push(frame(cycle * PERIOD_PS, ...items));
  }

  private fetch(cycle: number, items: Item[]): void {
    // Any free slot, the one cleared in this very cycle too.
    const [id] = this.free.splice(this.choose(this.free.length), 1);
    const seq = this.instructions.length;
    const pc = 0x8000_0000n + BigInt(seq * 4);
    const bits = 0x13 | (seq << 20);
    const one: ModelInstruction = {
      seq,
      id: id!,
      pc,
      bits: bits >>> 0,
      birth: cycle,
      stages: [],
      text: null,
      dependencies: [],
      flush: null,
      end: null,
    };
    items.push(set(0, one.id, 0, one.id), set(0, one.id, 1, pc), set(0, one.id, 2, one.bits));
    this.instructions.push(one);
    this.live.push(one);
    if (this.choose(4) > 0) this.enter(one, 0, cycle, items);
    if (this.choose(3) === 0) {
      one.text = `${pc.toString(16)}: insn ${seq}`;
      items.push(event(1, ...u32(one.id), ...u32(this.strings.length)));
      this.strings.push(one.text);
    }
  }

  private act(one: ModelInstruction, cycle: number, items: Item[]): void {
    if (one.flush) {
      if (this.choose(2) === 0) this.end(one, cycle, items);
      return;
    }
    const dice = this.choose(20);
    if (dice === 0) this.flush(one, cycle, items);
    else if (dice < 3) this.depend(one, cycle, items);
    else if (dice < 12 && one.stages.length < STAGES.length) {
      this.enter(one, one.stages.length, cycle, items);
      // Some models clear in the cycle of the last stage.
      if (one.stages.length === STAGES.length && this.choose(4) === 0) this.end(one, cycle, items);
    } else if (dice < 16 && one.stages.length === STAGES.length) this.end(one, cycle, items);
  }

  private enter(one: ModelInstruction, stage: number, cycle: number, items: Item[]): void {
    one.stages.push({ name: STAGES[stage]!, cycle });
    items.push(event(0, ...u32(one.id), stage));
  }

  private flush(one: ModelInstruction, cycle: number, items: Item[]): void {
    const reason = this.choose(REASONS.length);
    one.flush = { reason: REASONS[reason]!, cycle };
    items.push(event(3, ...u32(one.id), reason));
    if (this.choose(3) > 0) this.end(one, cycle, items);
  }

  private depend(one: ModelInstruction, cycle: number, items: Item[]): void {
    const producer = this.live[this.choose(this.live.length)]!;
    const type = this.choose(DEP_TYPES.length);
    one.dependencies.push({ on: producer.id, seq: producer.seq, type: DEP_TYPES[type]!, cycle });
    items.push(event(2, ...u32(producer.id), ...u32(one.id), type));
  }

  private end(one: ModelInstruction, cycle: number, items: Item[]): void {
    one.end = cycle;
    items.push(clear(0, one.id));
    this.live = this.live.filter((other) => other !== one);
    this.free.push(one.id);
  }
}
