/** The calls that a generated function makes. They are the same in all languages, which differ in how a call is written. */
import type { Constants } from './constants.js';
import type { FieldModel, StorageModel } from './model.js';
import {
  enumOf,
  MAX_CALL_VALUES,
  type Param,
  type ParamType,
  type Procedure,
  type SnapshotStep,
  snapshotSteps,
  wideOf,
  wideWords,
} from './procedures.js';

/** A parameter under the name that it has in the function. */
export interface NamedParam {
  readonly param: Param;
  readonly name: string;
}

/** How a language writes calls. */
export interface CallSyntax {
  readonly constants: Constants;
  /** Lines that call `fn` with the trace and `args`. */
  statement(fn: string, args: readonly string[]): string[];
  /** A value as the client takes it: 64 bits, sign-extended when its type is signed. */
  widened(value: NamedParam): string;
  /** Field `index` of those that hold a wide value (`ValueModel.fields`), as `widened` has it. */
  wideWord(value: NamedParam, index: number): string;
  emptyEvent(id: string): string[];
  /** An event with more fields than the fixed calls take; its payload has `size` bytes. */
  packedEvent(id: string, size: number, values: readonly FieldValue[]): string[];
}

/** @param slot expression of the slot */
export function callLines(
  { action }: Procedure,
  slot: string,
  params: readonly NamedParam[],
  syntax: CallSyntax,
): string[] {
  const { constants } = syntax;
  const values = params.flatMap((value) => fieldValues(value, syntax));
  const wide = values.map(({ text }) => text);
  switch (action.kind) {
    case 'set':
      return action.fields.flatMap((field, index) => {
        const target = [constants.of(action.storage), slot, constants.of(field)];
        return syntax.statement('uscope_slot_set', [...target, wide[index]]);
      });
    case 'add': {
      const target = [constants.of(action.storage), slot, constants.of(action.field)];
      return syntax.statement('uscope_slot_add', [...target, ...wide]);
    }
    case 'clear':
      return syntax.statement('uscope_slot_clear', [constants.of(action.storage), slot]);
    case 'put': {
      const storage = constants.of(action.storage);
      const put = (count: number) => ({ fn: `uscope_slot_put${count}`, lead: [storage, slot] });
      const set = { fn: 'uscope_slot_set', lead: [storage, slot] };
      return slotLines(action.storage, wide, put, set, syntax);
    }
    case 'snapshot':
      return snapshotSteps(action.step).flatMap((step) =>
        snapshotLines(step, action.storage, slot, wide, syntax),
      );
    case 'prop':
      return action.properties.flatMap((property, index) => {
        const target = [constants.of(action.storage), constants.of(property)];
        return syntax.statement('uscope_prop_set', [...target, wide[index]]);
      });
    case 'event': {
      const id = constants.of(action.event);
      if (values.length === 0) return syntax.emptyEvent(id);
      if (values.length > MAX_CALL_VALUES) return syntax.packedEvent(id, action.event.payloadSize, values);
      return syntax.statement(`uscope_event${values.length}`, [id, ...wide]);
    }
  }
}

/** How a language writes the calls of a trace object, which takes fields one by one. */
export interface MethodSyntax {
  readonly constants: Constants;
  readonly names: Readonly<Record<'set' | 'add' | 'clear' | 'prop' | 'event', string>>;
  statement(method: string, args: readonly string[]): string[];
  /** The values of an event as one argument. */
  list(values: readonly string[]): string;
}

/**
 * @param slot expression of the slot
 * @param values expressions of all fields
 */
export function methodLines(
  { action }: Procedure,
  slot: string,
  values: readonly string[],
  { constants, names, statement, list }: MethodSyntax,
): string[] {
  if (action.kind === 'event') return statement(names.event, [constants.of(action.event), list(values)]);
  const storage = constants.of(action.storage);
  const set = (fields: readonly FieldModel[]): string[] =>
    fields.flatMap((field, index) =>
      statement(names.set, [storage, slot, constants.of(field), values[index]]),
    );
  switch (action.kind) {
    case 'set':
      return set(action.fields);
    case 'put':
      return set(action.storage.fields);
    case 'add':
      return statement(names.add, [storage, slot, constants.of(action.field), ...values]);
    case 'clear':
      return statement(names.clear, [storage, slot]);
    case 'prop':
      return action.properties.flatMap((property, index) =>
        statement(names.prop, [storage, constants.of(property), values[index]]),
      );
    case 'snapshot':
      throw new Error('such an object takes no snapshots slot by slot');
  }
}

/** A value of a field: what the client's calls take, and where it comes from. */
export interface FieldValue {
  readonly text: string;
  readonly value: NamedParam;
}

const PACKED_BYTES: Readonly<Record<Extract<ParamType, string>, number>> = {
  ...{ u8: 1, u16: 2, u32: 4, u64: 8, i8: 1, i16: 2, i32: 4, i64: 8 },
  ...{ bool: 1, string: 4, slot: 2, text: 4 },
};

/** What the value takes in a packed payload. */
export function packedBytes({ value: { param } }: FieldValue): number {
  if (enumOf(param.type)) return 1;
  return wideOf(param.type) ? 8 : PACKED_BYTES[param.type as Extract<ParamType, string>];
}

function fieldValues(value: NamedParam, syntax: CallSyntax): FieldValue[] {
  const type = wideOf(value.param.type);
  if (!type) return [{ text: syntax.widened(value), value }];
  const count = wideWords(type) * (type.isFourState ? 2 : 1);
  return Array.from({ length: count }, (_, index) => ({ text: syntax.wideWord(value, index), value }));
}

function snapshotLines(
  step: Exclude<SnapshotStep, 'whole'>,
  storage: StorageModel,
  slot: string,
  wide: readonly string[],
  syntax: CallSyntax,
): string[] {
  if (step === 'begin') return syntax.statement('uscope_checkpoint_begin', [syntax.constants.of(storage)]);
  if (step === 'end') return syntax.statement('uscope_checkpoint_end', []);
  const put = (count: number) => ({ fn: `uscope_checkpoint_slot${count}`, lead: [slot] });
  return slotLines(storage, wide, put, { fn: 'uscope_checkpoint_field', lead: [slot] }, syntax);
}

/** A function with the arguments that it always has. */
interface Target {
  readonly fn: string;
  readonly lead: readonly string[];
}

/** All fields of a slot: as many as one call takes, then the others one by one. */
function slotLines(
  { fields }: StorageModel,
  wide: readonly string[],
  put: (count: number) => Target,
  set: Target,
  { constants, statement }: CallSyntax,
): string[] {
  const first = wide.slice(0, MAX_CALL_VALUES);
  const { fn, lead } = put(first.length);
  return [
    ...statement(fn, [...lead, ...first]),
    ...fields
      .slice(MAX_CALL_VALUES)
      .flatMap((field) => statement(set.fn, [...set.lead, constants.of(field), wide[field.index]])),
  ];
}
