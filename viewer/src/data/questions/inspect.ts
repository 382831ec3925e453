/** What every storage holds after a cycle, and what of it that cycle changed. */

import * as cpu from 'uscope/cpu';
import { type LogicalField, logicalFields, SF_BUFFER, SF_SPARSE, type StorageDef } from 'uscope/format';
import type { StorageSlot, StorageState, ValueOf } from '../../model/inspection.js';
import { type Changes, changesOf } from '../cycle-changes.js';
import type { Trace } from '../library.js';
import { isString, logicalText } from '../value-text.js';
import type { Question, QuestionContext } from './question.js';

interface InspectArgs {
  readonly cycle: number;
  /** Ids of storages of which all slots are listed, up to `MAX_LISTED`; of others the first few. */
  readonly open: readonly number[];
}

export interface InspectAnswer {
  readonly cycle: number;
  readonly storages: readonly StorageState[];
}

/** Cycles over which the rate of a counter is taken. */
const RATE_CYCLES = 256;
/** By role of a property: docs/reference/format.md#storage-properties. */
const ROLES: Readonly<Record<number, string>> = { 1: 'head', 2: 'tail' };
const FEW = 64;
const MAX_LISTED = 4096;

type State = Awaited<ReturnType<Trace['stateAt']>>;

export const inspect: Question<InspectArgs, InspectAnswer> = async ({ cycle, open }, context, signal) => {
  const { trace, periodPs } = context;
  const from = BigInt(Math.max(0, cycle)) * periodPs;
  const to = from + periodPs;
  const earlierPs = from - BigInt(RATE_CYCLES - 1) * periodPs - 1n;
  const after = await trace.stateAt(to - 1n);
  signal.throwIfAborted();
  const before = from > 0n ? await trace.stateAt(from - 1n) : null;
  signal.throwIfAborted();
  const earlier = earlierPs > 0n ? await trace.stateAt(earlierPs) : null;
  signal.throwIfAborted();
  const changes = await changesOf(trace, from, to);
  await loadStrings(trace, after, before);
  signal.throwIfAborted();
  const inspection = new Inspection(context, { after, before, earlier }, changes);
  return { cycle, storages: trace.schema.storages.map((def) => inspection.storage(def, open)) };
};

/** Of the fields of small storages: enough of them for what is listed. */
async function loadStrings(trace: Trace, ...states: readonly (State | null)[]): Promise<void> {
  const wanted = new Set<number>();
  for (const state of states) {
    for (const def of trace.schema.storages) {
      const fields = def.fields.flatMap((field, index) => (isString(field) ? [index] : []));
      for (const [index, property] of def.properties.entries())
        if (isString(property)) wanted.add(Number(state?.raw.property(def.storageId, index) ?? 0n));
      if (fields.length === 0 || !state) continue;
      for (let slot = 0; slot < Math.min(def.numSlots, MAX_LISTED); slot++) {
        if (!state.raw.slotValid(def.storageId, slot)) continue;
        for (const field of fields) wanted.add(Number(state.raw.value(def.storageId, slot, field)));
      }
    }
  }
  await trace.strings.load(wanted);
}

interface States {
  readonly after: State;
  /** null: there is no cycle before. */
  readonly before: State | null;
  readonly earlier: State | null;
}

class Inspection {
  constructor(
    private readonly context: QuestionContext,
    private readonly states: States,
    private readonly changes: Changes,
  ) {}

  storage(def: StorageDef, open: readonly number[]): StorageState {
    const { after } = this.states;
    const { storageId, numSlots, flags } = def;
    const isBuffer = (flags & SF_BUFFER) !== 0;
    const isCounter = cpu.isCounterStorage(def);
    const kind = isCounter
      ? 'counter'
      : isBuffer
        ? 'buffer'
        : (flags & SF_SPARSE) !== 0
          ? 'table'
          : 'registers';
    const limit = open.includes(storageId) ? MAX_LISTED : FEW;
    const { slots, taken } = this.slots(def, limit);
    return {
      id: storageId,
      name: this.context.trace.names.storageNames[storageId]!,
      kind,
      isOfCore: this.context.core !== null && def.scopeId === this.context.core.scopeId,
      slotCount: numSlots,
      occupied: after.occupancy(storageId),
      fields: logicalFields(def.fields).map(({ name }) => name),
      properties: logicalFields(def.properties).map((property) => {
        const textIn = (state: State): string =>
          this.text(def.properties, property, (index) => state.raw.property(storageId, index));
        const isWritten = piecesOf(property).some((index) => this.changes.hasProperty(storageId, index));
        const { before } = this.states;
        return {
          name: property.name,
          ...this.change(textIn(after), isWritten && before ? textIn(before) : null),
        };
      }),
      slots,
      hidden: Math.max(0, taken - slots.filter(({ isCleared }) => !isCleared).length),
      counter: isCounter ? this.counter(def) : null,
      markers: markersOf(def, (index) => Number(after.raw.property(storageId, index))),
    };
  }

  /** Those changed come along even beyond the limit. */
  private slots(def: StorageDef, limit: number): { slots: StorageSlot[]; taken: number } {
    const view = this.states.after.storage(def.storageId);
    const changed = this.changes.slotsOf(def.storageId).filter((slot) => slot < def.numSlots);
    const isEmptyListed = (def.flags & SF_BUFFER) !== 0 && def.numSlots <= FEW;
    const listed = new Set<number>();
    let taken = 0;
    for (let slot = 0; slot < def.numSlots; slot++) {
      const isTaken = view.occupied(slot);
      if (isTaken) taken++;
      if ((isTaken || isEmptyListed) && listed.size < limit) listed.add(slot);
    }
    for (const slot of changed.slice(0, FEW)) listed.add(slot);
    const slots = [...listed].sort((a, b) => a - b).map((slot) => this.slot(def, slot, view.occupied(slot)));
    return { slots: slots.filter(({ isTaken, isCleared }) => isTaken || isCleared || isEmptyListed), taken };
  }

  private slot(def: StorageDef, slot: number, isTaken: boolean): StorageSlot {
    const { after, before } = this.states;
    const { storageId } = def;
    const wasTaken = before?.storage(storageId).occupied(slot) ?? false;
    const values = logicalFields(def.fields).map((field): ValueOf => {
      const textIn = (state: State): string =>
        this.text(def.fields, field, (index) => state.raw.value(storageId, slot, index));
      const isWritten = piecesOf(field).some((index) => this.changes.hasField(storageId, slot, index));
      const then = isWritten && before && wasTaken ? textIn(before) : null;
      return this.change(isTaken ? textIn(after) : '', isWritten && !wasTaken ? '' : then);
    });
    return {
      slot,
      values,
      isTaken,
      isNew: isTaken && !wasTaken && this.changes.hasSlot(storageId, slot),
      isCleared: !isTaken && wasTaken,
      entity: isTaken ? this.entityOf(def, slot) : null,
    };
  }

  /** Id of the instruction that a slot names. */
  private entityOf(def: StorageDef, slot: number): number | null {
    const field = def.fields.findIndex(({ name }) => name === 'entity_id');
    return field < 0 ? null : Number(this.states.after.raw.value(def.storageId, slot, field));
  }

  private counter({ storageId, fields }: StorageDef): StorageState['counter'] {
    const { after, before, earlier } = this.states;
    const index = fields.length - 1;
    const of = (state: State | null): bigint =>
      state?.slotValid(storageId, 0) ? state.raw.value(storageId, 0, index) : 0n;
    const value = of(after);
    const cycles = earlier
      ? RATE_CYCLES
      : Math.max(1, Math.min(RATE_CYCLES, Number(after.timePs / this.context.periodPs) + 1));
    return {
      value: String(value),
      delta: String(value - of(before)),
      rate: Number(value - of(earlier)) / cycles,
    };
  }

  private change(now: string, before: string | null): ValueOf {
    return { text: now, before: before !== null && before !== now ? before : null };
  }

  private text(fields: StorageDef['fields'], field: LogicalField, raw: (index: number) => bigint): string {
    const { schema, strings } = this.context.trace;
    return logicalText(fields, field, raw, schema, (index) => strings.peek(index) ?? null);
  }
}

const piecesOf = ({ pieces, unknown }: LogicalField): readonly number[] => [...pieces, ...unknown];

/** Slots that properties point to. */
function markersOf(
  { properties, numSlots }: StorageDef,
  slotOf: (index: number) => number,
): StorageState['markers'] {
  return properties.flatMap(({ role }, index) => {
    const slot = slotOf(index);
    const name = ROLES[role];
    return name !== undefined && slot < numSlots ? [{ name, slot }] : [];
  });
}
