/** What of a core is needed to follow its instructions through their stages: derived from the schema, as the rest of the plan. */
import { FieldType, fieldSize, packedSize, type Schema } from '../format/types.js';
import { payloadLayout } from '../reader/index.js';
import { type CoreEntities, type CpuCore, NO_STAGE } from '../semantics/cpu/cores.js';
import { type PayloadField, payloadField } from '../semantics/cpu/payload-field.js';
import type { Xlen } from '../semantics/cpu/riscv/encodings.js';

/** Stages that have columns; later ones are counted with unknown values. */
const MAX_STAGES = 31;

/** In `RowPlan.stageOf`, as the compiled code has it: no stage is entered. */
export const NO_COLUMN = 0xff;

/** Stages that are counted, the one for all others included. */
export function stageColumns({ stages }: { readonly stages: readonly string[] }): number {
  return Math.min(stages.length, MAX_STAGES) + 1;
}

/** A field of the catalog. */
export interface SlotField {
  readonly index: number;
  /** In the bytes of a slot. */
  readonly offset: number;
  readonly bytes: number;
}

export interface RowPlan {
  /** As `stageColumns`. */
  readonly stages: number;
  /** Value of the field `stage` (0 to 255) -> its column, or `NO_COLUMN`; greater ones have the last. */
  readonly stageOf: Uint8Array;
  readonly stageEvent: {
    readonly type: number;
    readonly id: PayloadField;
    readonly stage: PayloadField;
  } | null;
  /** Where a stall says which instruction it is about. */
  readonly stallId: PayloadField | null;
  readonly pc: SlotField | null;
  readonly bits: SlotField | null;
  /** Retired instructions are counted by the class of their machine code, as that of this word size; null: they are not. */
  readonly mixXlen: Xlen | null;
}

/** null: the core has no instructions. */
export function rowPlan(core: CpuCore): RowPlan | null {
  const { entities, events } = core;
  if (!entities) return null;
  const stages = stageColumns(core);
  const stageOf = new Uint8Array(256).fill(stages - 1);
  for (let value = 0; value < 256; value++) {
    const stage = core.stageOf(value);
    if (stage >= 0 && stage < stages) stageOf[value] = stage;
    else if (stage === NO_STAGE) stageOf[value] = NO_COLUMN;
  }
  const transition = events.get('stage_transition');
  const [id, stage] = ['entity_id', 'stage'].map((name) =>
    transition ? payloadField(transition, name) : null,
  );
  const stall = events.get('stall');
  return {
    stages,
    stageOf,
    stageEvent: transition && id && stage ? { type: transition.def.eventTypeId, id, stage } : null,
    stallId: stall ? payloadField(stall, 'entity_id') : null,
    pc: slotField(entities, entities.pcField),
    bits: slotField(entities, entities.bitsField),
    mixXlen: entities.bitsField >= 0 ? core.xlen : null,
  };
}

function slotField({ def }: CoreEntities, index: number): SlotField | null {
  if (index < 0) return null;
  const { type } = def.fields[index]!;
  return { index, offset: payloadLayout(def.fields).offsets[index]!, bytes: fieldSize(type) };
}

/** By event type, where its first string lies in the payload; -1: it has none. */
export function stringOffsets({ events }: Schema): number[] {
  return events.map(({ fields }) => {
    const index = fields.findIndex(({ type }) => type === FieldType.STRING_REF);
    return index < 0 || packedSize(fields) === 0 ? -1 : payloadLayout(fields).offsets[index]!;
  });
}
