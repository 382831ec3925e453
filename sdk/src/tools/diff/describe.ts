/** Items and values in words. */
import { CursorItem, type FrameCursor } from '../../format/frame.js';
import { Action, type FieldDef, FieldType, fieldSize, isSigned, type Schema } from '../../format/types.js';
import { joinPieces, type LogicalField, logicalFields, wideText } from '../../format/wide-fields.js';
import { payloadLayout, readRaw, type Trace } from '../../reader/index.js';
import type { ItemView } from './report.js';

/** A value as the trace means it: label, text, signed number. `null`: strings are not in memory (`TraceStrings.peek`). */
export function valueText(trace: Trace, field: FieldDef, raw: bigint): string {
  const bits = fieldSize(field.type) * 8;
  const value = BigInt.asUintN(bits, raw);
  if (field.type === FieldType.STRING_REF) {
    const text = trace.strings.peek(Number(value));
    return text === undefined ? `#${value}` : JSON.stringify(text);
  }
  if (field.type === FieldType.BOOL) return value === 0n ? 'false' : 'true';
  if (field.type === FieldType.ENUM) return labelOf(trace.schema, field, Number(value)) ?? String(value);
  return String(isSigned(field.type) ? BigInt.asIntN(bits, value) : value);
}

/** The same of a field that may be wide. @param raw by index of the schema's fields */
export function logicalText(
  trace: Trace,
  fields: readonly FieldDef[],
  { bits, pieces, unknown }: LogicalField,
  raw: (index: number) => bigint,
): string {
  if (bits === 0) return valueText(trace, fields[pieces[0]], raw(pieces[0]));
  return wideText(bits, joinPieces(pieces.map(raw)), joinPieces(unknown.map(raw)));
}

function labelOf(schema: Schema, { enumId }: FieldDef, value: number): string | undefined {
  return schema.enums[enumId]?.values.find((one) => one.value === value)?.name;
}

/** Time in cycles of the clock of a scope. */
export function cycleIn(trace: Trace, scopeId: number, timePs: bigint): bigint | null {
  const period = trace.clockOf(scopeId)?.periodPs ?? 0;
  return period === 0 ? null : timePs / BigInt(period);
}

/** The op or event a cursor is at. Its strings must be in memory. */
export function viewItem(trace: Trace, cursor: FrameCursor): ItemView {
  return cursor.kind === CursorItem.EVENT ? viewEvent(trace, cursor) : viewOp(trace, cursor);
}

function viewEvent(trace: Trace, cursor: FrameCursor): ItemView {
  const { timePs, eventType, payload } = cursor;
  const def = trace.schema.events[eventType];
  const { offsets } = payloadLayout(def.fields);
  const raw = (i: number): bigint => readRaw(payload, offsets[i], def.fields[i].type);
  const fields = logicalFields(def.fields).map((field) => [
    field.name,
    logicalText(trace, def.fields, field, raw),
  ]);
  return {
    timePs,
    cycle: cycleIn(trace, def.scopeId, timePs),
    path: trace.names.eventNames[eventType],
    what: 'event',
    slot: null,
    fields: Object.fromEntries(fields),
  };
}

const WHAT = {
  [Action.SET]: 'set',
  [Action.ADD]: 'add',
  [Action.CLEAR]: 'clear',
  [Action.PROP_SET]: 'prop',
} as const;

function viewOp(trace: Trace, cursor: FrameCursor): ItemView {
  const { timePs, storageId, slot, value } = cursor;
  const action = cursor.action as Action;
  const def = trace.schema.storages[storageId];
  const field = (action === Action.PROP_SET ? def.properties : def.fields)[cursor.field];
  const text = action === Action.ADD ? String(value) : field && valueText(trace, field, value);
  return {
    timePs,
    cycle: cycleIn(trace, def.scopeId, timePs),
    path: trace.names.storageNames[storageId],
    what: WHAT[action],
    slot: action === Action.PROP_SET ? null : slot,
    fields: action === Action.CLEAR ? {} : { [field.name]: text },
  };
}
