/** Values in conditions on fields: one that the field cannot have is an error, not an answer without results. */
import { UscopeError } from '../base/errors.js';
import { namesNear } from '../base/near-names.js';
import { floatBits } from '../format/float-fields.js';
import { type FieldDef, FieldType, type Schema } from '../format/types.js';
import { isStringRef } from './payload.js';

export interface AskedValue {
  /** Whose field it is: a qualified name. */
  readonly owner: string;
  readonly field: FieldDef;
  readonly value: string;
}

const NUMBER = /^(-?\d+|0[xX][0-9a-fA-F]+)$/;

/**
 * The condition is asked of several events, and makes sense where one of them can have the value.
 * @throws UscopeError READER_NAME when none can
 */
export function checkConditionValues(schema: Schema, asked: readonly AskedValue[]): void {
  const problems = asked.map((one) => problemOf(schema, one));
  const [first] = problems;
  if (first != null && problems.every((problem) => problem !== null))
    throw new UscopeError('READER_NAME', first);
}

function problemOf(schema: Schema, { owner, field, value }: AskedValue): string | null {
  if (NUMBER.test(value) || isStringRef(field) || floatBits(field) !== 0) return null;
  const what = `"${owner}.${field.name}"`;
  if (field.type === FieldType.BOOL)
    return value === 'true' || value === 'false' ? null : `${what} is true or false, never "${value}"`;
  if (field.type !== FieldType.ENUM) return `${what} is a number, never "${value}"`;
  const labels = (schema.enums[field.enumId]?.values ?? []).map(({ name }) => name);
  if (labels.includes(value)) return null;
  return `${what} has no value "${value}"; ${namesNear(value, labels)}`;
}
