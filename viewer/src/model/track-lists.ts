/** What the tracks can show of a trace, by name, and what they show until the user chooses. */
import { type FieldType, type LogicalField, logicalFields } from 'uscope/format';
import type { SlotField } from './window.js';

const SF_SPARSE = 1;
const SF_BUFFER = 2;
const U64 = 0x04;

export type TrackList = 'counters' | 'buffers' | 'events' | 'values';

interface Field {
  readonly name: string;
  readonly type: FieldType;
}

/** Of the schema what is needed here. */
export interface Described {
  readonly schema: {
    readonly storages: readonly {
      readonly name: string;
      readonly storageId: number;
      readonly numSlots: number;
      readonly flags: number;
      readonly scopeId: number;
      readonly fields: readonly Field[];
    }[];
    readonly events: readonly { readonly eventTypeId: number }[];
    readonly scopes: readonly { readonly protocol: string | null }[];
  };
  readonly storageNames: readonly string[];
  readonly eventNames: readonly string[];
  /** Path of the core shown; null: none. */
  readonly core: string | null;
}

type Storage = Described['schema']['storages'][number];

const isTaken = ({ flags }: Storage): boolean => (flags & (SF_SPARSE | SF_BUFFER)) !== 0;
/** As the conventions say: one dense slot with one u64. */
export const isCounter = (storage: Storage): boolean =>
  !isTaken(storage) &&
  storage.numSlots === 1 &&
  storage.fields.length === 1 &&
  storage.fields[0]!.type === U64;

const known = new WeakMap<readonly Field[], readonly LogicalField[]>();

/** One for each value: the pieces of a wide field (docs/reference/format.md#wide-fields) are one. */
export function valuesOf(fields: readonly Field[]): readonly LogicalField[] {
  const values = known.get(fields) ?? logicalFields(fields);
  known.set(fields, values);
  return values;
}

/** Names in the order of the schema; of the core shown first. */
function ownFirst(names: readonly string[], core: string | null): string[] {
  const isOwn = (name: string): boolean => core !== null && name.startsWith(`${core}/`);
  return [...names.filter(isOwn), ...names.filter((name) => !isOwn(name))];
}

export function namesOf(list: Exclude<TrackList, 'values'>, trace: Described): string[] {
  const { schema, storageNames, eventNames, core } = trace;
  if (list === 'events')
    return ownFirst(
      schema.events.map(({ eventTypeId }) => eventNames[eventTypeId]!),
      core,
    );
  const fits = list === 'counters' ? isCounter : isTaken;
  return ownFirst(
    schema.storages.filter(fits).map(({ storageId }) => storageNames[storageId]!),
    core,
  );
}

/** `core0/rob[3].pc`; without the slot where there is one only, without the field where there is one only. */
export function slotFieldName(
  { storage, slot, field }: SlotField,
  { schema, storageNames }: Described,
): string {
  const { numSlots, fields } = schema.storages[storage]!;
  const values = valuesOf(fields);
  const value = values.find(({ pieces }) => pieces[0] === field);
  const name = values.length > 1 ? `.${value?.name ?? field}` : '';
  return `${storageNames[storage]}${numSlots > 1 ? `[${slot}]` : ''}${name}`;
}

/** null: the trace has nothing of that name. */
export function slotFieldOf(name: string, { schema, storageNames }: Described): SlotField | null {
  const match = /^([^[\].]+)(?:\[(\d+)\])?(?:\.([^.[\]]+))?$/.exec(name.trim());
  if (!match) return null;
  const storage = storageNames.indexOf(match[1]!);
  const def = schema.storages[storage];
  if (!def) return null;
  const slot = Number(match[2] ?? 0);
  const values = valuesOf(def.fields);
  const value = match[3] === undefined ? values[0] : values.find((one) => one.name === match[3]);
  return slot < def.numSlots && value ? { storage, slot, field: value.pieces[0]! } : null;
}

/** Names of fields of slots that hold every word of a filter, at most `most`. */
export function findSlotFields(filter: string, trace: Described, most: number): string[] {
  const words = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const exact = slotFieldOf(filter, trace);
  const found: string[] = exact ? [slotFieldName(exact, trace)] : [];
  const storages = trace.schema.storages.filter((storage) => !isCounter(storage));
  const order = new Map(ownFirst(trace.storageNames, trace.core).map((name, index) => [name, index]));
  const place = ({ storageId }: Storage): number => order.get(trace.storageNames[storageId]!) ?? 0;
  for (const { storageId, numSlots, fields } of [...storages].sort((a, b) => place(a) - place(b))) {
    for (let slot = 0; slot < numSlots && found.length < most; slot++) {
      for (const { pieces } of valuesOf(fields)) {
        if (found.length >= most) break;
        const name = slotFieldName({ storage: storageId, slot, field: pieces[0]! }, trace);
        const text = name.toLowerCase();
        if (words.every((word) => text.includes(word)) && !found.includes(name)) found.push(name);
      }
    }
  }
  return found;
}

const DEFAULT_COUNTERS = 4;
const DEFAULT_LANES = 40;
const DEFAULT_VALUES = 12;

/** Before the user has chosen. */
export function defaultChoice(list: TrackList, trace: Described): string[] {
  if (list === 'values') return defaultValues(trace);
  const { core } = trace;
  const all = namesOf(list, trace);
  const own = core === null ? all : all.filter((name) => name.startsWith(`${core}/`));
  if (list !== 'counters') return own.slice(0, DEFAULT_LANES);
  // That of the clock says nothing: one for each cycle.
  return own.filter((name) => !/(^|\/)(m?cycles?|cycle_count)$/.test(name)).slice(0, DEFAULT_COUNTERS);
}

/** Registers come first, then the slots of small storages. */
function defaultValues(trace: Described): string[] {
  const own = trace.schema.storages.filter(
    (storage) =>
      !isCounter(storage) &&
      (trace.core === null || trace.storageNames[storage.storageId]!.startsWith(`${trace.core}/`)),
  );
  const found: string[] = [];
  for (const { storageId, numSlots, fields } of [...own].sort((a, b) => a.numSlots - b.numSlots)) {
    for (let slot = 0; slot < numSlots && found.length < DEFAULT_VALUES; slot++) {
      for (const { pieces } of valuesOf(fields).slice(0, DEFAULT_VALUES - found.length))
        found.push(slotFieldName({ storage: storageId, slot, field: pieces[0]! }, trace));
    }
  }
  return found;
}
