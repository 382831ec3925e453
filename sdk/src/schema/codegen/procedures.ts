/** The functions generated per storage, field, property and event, before any language's spelling: what keeps the languages parallel. */
import type {
  CodeModel,
  EnumModel,
  EventModel,
  FieldModel,
  StorageModel,
  ValueModel,
  WideType,
} from './model.js';

/** `text`: a string that the function interns; `string`: the index of one interned before. */
export type ParamType = ValueModel['type'] | 'slot' | 'text';

export interface Param {
  readonly word: string;
  readonly type: ParamType;
}

/** `whole`: all three at once, of a storage of one value. */
export type SnapshotStep = 'begin' | 'slot' | 'end' | 'whole';

/** What a function does. Values are parameters, in the order of the fields. A wide value sets all of its fields. */
export type Action =
  | { readonly kind: 'set'; readonly storage: StorageModel; readonly fields: readonly FieldModel[] }
  | { readonly kind: 'add'; readonly storage: StorageModel; readonly field: FieldModel }
  | { readonly kind: 'put' | 'clear'; readonly storage: StorageModel }
  | { readonly kind: 'snapshot'; readonly step: SnapshotStep; readonly storage: StorageModel }
  | { readonly kind: 'prop'; readonly storage: StorageModel; readonly properties: readonly FieldModel[] }
  | { readonly kind: 'event'; readonly event: EventModel };

export interface Procedure {
  /** Without the storage: `set_pc`, `put`, `prop_head`; for events `ev_flush`. */
  readonly word: string;
  /** The slot, where there is one, then the values. */
  readonly params: readonly Param[];
  readonly action: Action;
  /** A second form of the one before it, which takes texts where that takes indices. */
  readonly interning: boolean;
}

/** A procedure with the name that a language gives it. */
export interface NamedProcedure {
  readonly name: string;
  readonly procedure: Procedure;
}

/** All of a schema, for languages whose functions are in one name space. `claim` takes `STORAGE_WORD` or, for events, `WORD`. */
export function namedProcedures(
  model: CodeModel,
  claim: (words: string) => string,
): (readonly [StorageModel | EventModel, readonly NamedProcedure[]])[] {
  const named = (prefix: string, procedures: readonly Procedure[]): NamedProcedure[] =>
    procedures.map((procedure) => ({ name: claim(prefix + procedure.word), procedure }));
  return [
    ...model.storages.map(
      (def) => [def, named(`${def.word}_`, [...storageProcedures(def), ...snapshotProcedures(def)])] as const,
    ),
    ...model.events.map((def) => [def, named('', eventProcedures(def))] as const),
  ];
}

export const SLOT: Param = { word: 'slot', type: 'slot' };

export function storageProcedures(storage: StorageModel): Procedure[] {
  const { fields, values, single } = storage;
  const slot = single ? [] : [SLOT];
  const suffix = (field: ValueModel | FieldModel): string => (single ? '' : `_${field.word}`);
  return [
    ...values.flatMap((value) =>
      bothForms(`set${suffix(value)}`, slot, [valueParam(value)], {
        kind: 'set',
        storage,
        fields: value.fields,
      }),
    ),
    ...values.flatMap((value) => {
      const delta = deltaType(value);
      if (!delta) return [];
      const [field] = value.fields;
      const action: Action = { kind: 'add', storage, field };
      return bothForms(`add${suffix(value)}`, slot, [{ word: 'delta', type: delta }], action);
    }),
    ...(single || fields.length === 0 ? [] : bothForms('put', slot, values, { kind: 'put', storage })),
    ...(storage.sparse ? bothForms('clear', slot, [], { kind: 'clear', storage }) : []),
    ...storage.propertyValues.flatMap((property) =>
      bothForms(`prop_${property.word}`, [], [valueParam(property)], {
        kind: 'prop',
        storage,
        properties: property.fields,
      }),
    ),
  ];
}

/** What answers a checkpoint with the state of this storage, slot by slot. Texts are given as indices. */
export function snapshotProcedures(storage: StorageModel): Procedure[] {
  const { fields, values, single } = storage;
  if (fields.length === 0) return [];
  const step = (word: string, step: SnapshotStep, params: readonly Param[]): Procedure => {
    return { word, params, action: { kind: 'snapshot', step, storage }, interning: false };
  };
  if (single) return [step('snapshot', 'whole', [valueParam(values[0])])];
  return [
    step('snapshot_begin', 'begin', []),
    step('snapshot_slot', 'slot', [SLOT, ...values]),
    step('snapshot_end', 'end', []),
  ];
}

/** The calls of the client that a step represents. */
export function snapshotSteps(step: SnapshotStep): readonly Exclude<SnapshotStep, 'whole'>[] {
  return step === 'whole' ? ['begin', 'slot', 'end'] : [step];
}

export function eventProcedures(event: EventModel): Procedure[] {
  return bothForms(`ev_${event.word}`, [], event.values, { kind: 'event', event });
}

/** Events with fields beyond what the fixed calls of the client take. */
export const MAX_CALL_VALUES = 8;

export function enumOf(type: ParamType): EnumModel | undefined {
  return typeof type === 'string' || 'bits' in type ? undefined : type;
}

export function wideOf(type: ParamType): WideType | undefined {
  return typeof type !== 'string' && 'bits' in type ? type : undefined;
}

/** Fields of 64 bits that hold the bits of a wide value; of four states as many again hold which of them are unknown. */
export const wideWords = ({ bits }: WideType): number => Math.ceil(bits / 64);

/** Bits of the wide value that its field `index` holds, of the unknown ones too. */
export function wideSlice(
  type: WideType,
  index: number,
): { readonly from: number; readonly bits: number; readonly unknown: boolean } {
  const words = wideWords(type);
  const from = 64 * (index % words);
  return { from, bits: Math.min(64, type.bits - from), unknown: index >= words };
}

/** The wide values that functions of the model take. */
export function wideTypes({ storages, events }: CodeModel): WideType[] {
  const values = [
    ...storages.flatMap((def) => [...def.values, ...def.propertyValues]),
    ...events.flatMap((def) => def.values),
  ];
  return values.flatMap(({ type }) => wideOf(type) ?? []);
}

export function hasWideEvents(model: CodeModel): boolean {
  return model.events.some((event) => event.fields.length > MAX_CALL_VALUES);
}

function valueParam(field: ValueModel): Param {
  return { word: 'value', type: field.type };
}

/** 64 bits, whatever the field's width: additions wrap. Only numbers can be added to. */
function deltaType({ type }: ValueModel): 'u64' | 'i64' | undefined {
  if (typeof type !== 'string' || type === 'bool' || type === 'string') return undefined;
  return type.startsWith('i') ? 'i64' : 'u64';
}

function bothForms(
  word: string,
  slot: readonly Param[],
  values: readonly Param[],
  action: Action,
): Procedure[] {
  const params = [...slot, ...values];
  const plain: Procedure = { word, params, action, interning: false };
  if (!values.some((value) => value.type === 'string')) return [plain];
  const texts = params.map(
    (param): Param => (param.type === 'string' ? { word: param.word, type: 'text' } : param),
  );
  return [plain, { word: `${word}_str`, params: texts, action, interning: true }];
}
