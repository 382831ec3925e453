/** Fields of events and slots as columns: numbers as BIGINT, of 64 bits their bit pattern; labels and strings as text; truth values as BOOLEAN. */
import { type FieldDef, FieldType, fieldSize, isSigned, type Schema } from '../../format/types.js';
import { payloadLayout } from '../../reader/index.js';
import type { BigintValues } from '../engine/bigint-column.js';
import { named } from '../engine/duckdb.js';
import { caseOf } from '../files/labels.js';
import { ColumnNames } from '../files/names.js';
import type { TextTable } from './text-table.js';

export interface PayloadColumn {
  readonly column: string;
  /** As an expression over the scratch table `r`; strings over `TextTable`. */
  readonly expression: string;
  readonly isString: boolean;
  readonly type: FieldType;
  readonly offset: number;
  readonly bytes: number;
  readonly isSigned: boolean;
}

/** @param fixed columns of the table before those of the fields */
export function payloadColumns(
  schema: Schema,
  fields: readonly FieldDef[],
  fixed: readonly string[],
): PayloadColumn[] {
  const names = new ColumnNames(fixed);
  const { offsets } = payloadLayout(fields);
  return fields.map((field, index) => {
    const column = names.add(field.name);
    const source = `r.${named(column)}`;
    const isString = field.type === FieldType.STRING_REF;
    let expression = source;
    if (field.type === FieldType.ENUM) expression = caseOf(source, schema.enums[field.enumId] ?? null);
    if (field.type === FieldType.BOOL) expression = `(${source} <> 0)`;
    if (isString) expression = `s${index}."text"`;
    return {
      column,
      expression: `${expression} AS ${named(column)}`,
      isString,
      type: field.type,
      offset: offsets[index],
      bytes: fieldSize(field.type),
      isSigned: isSigned(field.type),
    };
  });
}

/** Sets a value from its u32 halves, of which the upper one only counts for fields of 64 bits. */
export function setField(
  target: BigintValues,
  row: number,
  { bytes, isSigned: signed }: PayloadColumn,
  lo: number,
  hi: number,
): void {
  if (bytes === 8) target.setWords(row, lo, hi);
  else if (!signed) target.setWords(row, lo, 0);
  else {
    const shift = 32 - bytes * 8;
    const value = (lo << shift) >> shift;
    target.setWords(row, value, value >> 31);
  }
}

/** The query that makes rows of the table from those of the scratch table. */
export function selectFields(
  source: string,
  fixed: readonly string[],
  columns: readonly PayloadColumn[],
  texts: TextTable | null,
): string {
  const joins = columns.map(({ column, isString }, index) =>
    isString && texts
      ? ` LEFT JOIN ${texts.table} s${index} ON r.${named(column)} = s${index}.reference`
      : '',
  );
  const list = [...fixed.map((name) => `r.${name}`), ...columns.map(({ expression }) => expression)];
  return `SELECT ${list.join(', ')} FROM ${source} r${joins.join('')}`;
}
