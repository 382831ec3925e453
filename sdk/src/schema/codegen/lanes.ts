/**
 * Calls that represent one item per bit of a mask (`uscope_*_lanes` of the client). Generated where a call into the client is what costs: C
 * and SystemVerilog.
 */
import type { Names } from './identifiers.js';
import type { CodeModel, EventModel, FieldModel, StorageModel, ValueType } from './model.js';
import { enumOf } from './procedures.js';

/** Bits of a mask. */
const MAX_LANES = 64;

/** A function generated over one of the client's calls for lanes. */
export interface LaneCall {
  /** Without the storage: `set_pc_lanes`, `clear_lanes`; for events `ev_flush_lanes`. */
  readonly word: string;
  readonly callee: string;
  /** The field of the storage that it sets. */
  readonly field?: FieldModel;
  /** Whether lanes have values. */
  readonly values: boolean;
  /** Type of an event's second field, which follows from the lane's number. */
  readonly second?: ValueType;
}

/** A storage of one slot has nothing to gain, one of more than a mask has bits no lanes. */
function storageLaneCalls({ slots, sparse, fields }: StorageModel): LaneCall[] {
  if (slots < 2 || slots > MAX_LANES) return [];
  const sets = fields
    .filter(({ type }) => !isAlone(type))
    .map((field) => ({
      word: `set_${field.word}_lanes`,
      callee: 'uscope_slot_set_lanes',
      field,
      values: true,
    }));
  return sparse ? [...sets, { word: 'clear_lanes', callee: 'uscope_slot_clear_lanes', values: false }] : sets;
}

/** Events whose first field differs from lane to lane and whose second, if any, follows from the lane's number. */
function eventLaneCalls({ word, fields }: EventModel): LaneCall[] {
  const [first, second, ...more] = fields;
  if (first === undefined || first.type === 'string' || more.length > 0) return [];
  const call = { word: `ev_${word}_lanes`, values: true };
  if (second === undefined) return [{ ...call, callee: 'uscope_event1_lanes' }];
  return isSmall(second.type) ? [{ ...call, callee: 'uscope_event2_lanes', second: second.type }] : [];
}

/** Of 64 bits there is but one lane, and indices of texts come one at a time. */
function isAlone(type: ValueType): boolean {
  return type === 'u64' || type === 'i64' || type === 'string';
}

function isSmall(type: ValueType): boolean {
  return enumOf(type) !== undefined || type === 'u8' || type === 'u16' || type === 'u32' || type === 'bool';
}

/** Counters that one call counts: of one scope, with ids that follow each other. */
interface CounterGroup {
  /** `count`, or `count_SCOPE` where there are several. */
  readonly word: string;
  readonly counters: readonly StorageModel[];
}

function counterGroups({ storages }: CodeModel): CounterGroup[] {
  const groups: StorageModel[][] = [];
  for (const storage of storages.filter(isCounter)) {
    const group = groups.at(-1);
    const previous = group?.at(-1);
    if (group && previous && group.length < MAX_LANES && follows(previous, storage)) group.push(storage);
    else groups.push([storage]);
  }
  const counting = groups.filter((group) => group.length > 1);
  return counting.map((counters) => {
    const scope = counting.length > 1 ? counters[0]!.scopeWord : '';
    return { word: scope === '' ? 'count' : `count_${scope}`, counters };
  });
}

/** One value of 64 bits: what counts whole events, not what holds a state or a level. */
function isCounter({ single, fields }: StorageModel): boolean {
  return single && fields[0]?.type === 'u64';
}

function follows(before: StorageModel, after: StorageModel): boolean {
  return after.id === before.id + 1 && after.scopeWord === before.scopeWord;
}

export interface LaneFunction {
  readonly name: string;
  readonly call: LaneCall;
}

/** The function that counts, and its counters' constants: bit i represents the i-th storage from `first` on. */
export interface CountFunction {
  readonly name: string;
  readonly first: StorageModel;
  readonly bits: readonly string[];
}

/** All lane functions of a schema under the names of one language. */
export class Lanes {
  readonly counts: readonly CountFunction[];
  private readonly functions = new Map<StorageModel | EventModel, readonly LaneFunction[]>();

  /** @param prefix in front of every name, for languages without name spaces */
  constructor(model: CodeModel, names: Names, prefix = '') {
    const named = (owner: string, calls: readonly LaneCall[]): LaneFunction[] =>
      calls.map((call) => ({ name: names.claim(prefix + owner + call.word), call }));
    for (const def of model.storages) this.functions.set(def, named(`${def.word}_`, storageLaneCalls(def)));
    for (const def of model.events) this.functions.set(def, named('', eventLaneCalls(def)));
    this.counts = counterGroups(model).map(({ word, counters }) => ({
      name: names.claim(prefix + word),
      first: counters[0]!,
      bits: counters.map((counter) => names.claim(`${prefix}COUNT_${counter.word}`.toUpperCase())),
    }));
  }

  of(def: StorageModel | EventModel): readonly LaneFunction[] {
    return this.functions.get(def) ?? [];
  }
}
