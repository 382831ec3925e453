/** Triggers of a flight recorder by name: what `--trigger` says, and the control event of the stream, as ids of a schema. */
import { UscopeError } from '../../base/errors.js';
import {
  type EventDef,
  type FieldDef,
  FieldType,
  fieldSize,
  isSigned,
  qualifiedName,
  type Schema,
} from '../../format/types.js';
import { NameIndex } from '../../reader/names.js';
import { payloadLayout } from '../../reader/payload.js';
import type { EventTrigger, FieldTest, TriggerSource } from '../../writer/ring/index.js';

/** `EVENT [FIELD=VALUE ...]` */
export interface TriggerPattern {
  /** As it was written: what the trigger is called. */
  readonly text: string;
  readonly event: string;
  readonly conditions: readonly { readonly field: string; readonly value: string }[];
}

const CONTROL_EVENT = 'uscope/control';
const CONTROL_ACTION = 'trigger';

/**
 * An event's name, and fields that must have a value, written as `uscope events --where` takes it: an enum's label, a text, `true`, a number. A value with
 * blanks is in double quotes.
 * @throws UscopeError BRIDGE_TRIGGER
 */
export function parseTrigger(text: string): TriggerPattern {
  const [, event = '', rest = ''] =
    /^\s*([^\s="]+)((?:\s+[^\s="]+=(?:"[^"]*"|[^\s"]*))*)\s*$/.exec(text) ?? [];
  if (event === '') {
    throw new UscopeError(
      'BRIDGE_TRIGGER',
      `"${text}" is not a trigger; write EVENT, or EVENT FIELD=VALUE, with blanks between conditions`,
    );
  }
  const conditions = [...rest.matchAll(/([^\s="]+)=(?:"([^"]*)"|([^\s"]*))/g)].map(
    ([, field, quoted, plain]) => ({
      field,
      value: quoted ?? plain,
    }),
  );
  return { text: text.trim(), event, conditions };
}

/** The patterns, and the control event of schemas that have it. @throws UscopeError (later) BRIDGE_TRIGGER when a schema lacks a name or a value */
export function triggerSource(patterns: readonly TriggerPattern[]): TriggerSource {
  return (schema) => [...controlTriggers(schema), ...patterns.map((pattern) => resolve(schema, pattern))];
}

function controlTriggers(schema: Schema): EventTrigger[] {
  return schema.events.flatMap((event) => {
    const action = event.fields.findIndex(({ name }) => name === 'action');
    const text = event.fields.findIndex(({ name, type }) => name === 'text' && type === FieldType.STRING_REF);
    if (qualifiedName(schema, event) !== CONTROL_EVENT || action < 0 || text < 0) return [];
    const { type, enumId } = event.fields[action];
    const label = schema.enums[enumId]?.values.find(({ name }) => name === CONTROL_ACTION);
    if (type !== FieldType.ENUM || !label) return [];
    const { offsets } = payloadLayout(event.fields);
    const test = { offset: offsets[action], size: fieldSize(type), lo: label.value, hi: 0 };
    return [{ eventType: event.eventTypeId, tests: [test], label: { stringAt: offsets[text] } }];
  });
}

function resolve(schema: Schema, pattern: TriggerPattern): EventTrigger {
  const event = eventOf(schema, pattern);
  const { offsets } = payloadLayout(event.fields);
  const tests = pattern.conditions.map(({ field, value }): FieldTest => {
    const index = event.fields.findIndex(({ name }) => name === field);
    if (index < 0) {
      const names = event.fields.map(({ name }) => name).join(', ') || 'none';
      throw triggerError(pattern, `the event has no field "${field}"; it has: ${names}`);
    }
    const def = event.fields[index];
    const place = { offset: offsets[index], size: fieldSize(def.type) };
    if (def.type === FieldType.STRING_REF) return { ...place, text: value };
    const bits = bitsOf(schema, pattern, def, value);
    return { ...place, lo: Number(bits & 0xffff_ffffn), hi: Number(bits >> 32n) };
  });
  return { eventType: event.eventTypeId, tests, label: pattern.text };
}

function eventOf(schema: Schema, pattern: TriggerPattern): EventDef {
  try {
    return new NameIndex(schema).event(pattern.event);
  } catch (cause) {
    throw triggerError(pattern, (cause as UscopeError).detail, cause);
  }
}

/** The value as it is in the payload. */
function bitsOf(
  schema: Schema,
  pattern: TriggerPattern,
  { name, type, enumId }: FieldDef,
  value: string,
): bigint {
  if (type === FieldType.BOOL && (value === 'true' || value === 'false')) return value === 'true' ? 1n : 0n;
  if (type === FieldType.ENUM) {
    const label = schema.enums[enumId]?.values.find((candidate) => candidate.name === value);
    if (label) return BigInt(label.value);
  }
  if (!/^(-?\d+|0[xX][0-9a-fA-F]+)$/.test(value)) {
    const labels = schema.enums[enumId]?.values.map((candidate) => candidate.name).join(', ');
    const allowed = type === FieldType.ENUM ? `a label (${labels}) or a number` : 'a number';
    throw triggerError(pattern, `"${value}" is not a value of "${name}"; write ${allowed}`);
  }
  const bits = fieldSize(type) * 8;
  const number = BigInt(value);
  const [least, most] = isSigned(type)
    ? [-(1n << BigInt(bits - 1)), (1n << BigInt(bits - 1)) - 1n]
    : [0n, (1n << BigInt(bits)) - 1n];
  if (number >= least && number <= most) return BigInt.asUintN(bits, number);
  throw triggerError(pattern, `${value} does not fit the ${bits} bits of "${name}"`);
}

function triggerError(pattern: TriggerPattern, detail: string, cause?: unknown): UscopeError {
  return new UscopeError('BRIDGE_TRIGGER', `--trigger '${pattern.text}': ${detail}`, {}, { cause });
}
