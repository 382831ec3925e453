/**
 * Fields of events and slots as columns: numbers as BIGINT, of 64 bits their bit pattern; labels and strings as text; truth values as BOOLEAN;
 * wide fields as one text. */
import { type FieldDef, FieldType, fieldSize, isSigned, type Schema } from '../../format/types.js';
import { logicalFields } from '../../format/wide-fields.js';
import { payloadLayout } from '../../reader/index.js';
import type { BigintValues } from '../engine/bigint-column.js';
import { named } from '../engine/duckdb.js';
import { caseOf } from '../files/labels.js';
import { ColumnNames } from '../files/names.js';
import { wideTextOf } from '../files/wide-text.js';
import type { TextTable } from './text-table.js';

export interface PayloadColumn {
  readonly column: string;
  /** As an expression over the scratch table `r`; strings over `TextTable`. null: the piece of a wide field whose first one has the expression. */
  readonly expression: string | null;
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
  const columns = fields.map((field, index): PayloadColumn => {
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
  return withWideFields(fields, columns, names);
}

/** Pieces of a wide field become one column, with the name of the field. */
function withWideFields(
  fields: readonly FieldDef[],
  columns: readonly PayloadColumn[],
  names: ColumnNames,
): PayloadColumn[] {
  const all = [...columns];
  for (const { name, bits, pieces, unknown } of logicalFields(fields)) {
    if (bits === 0) continue;
    const source = (index: number): string => `r.${named(columns[index].column)}`;
    const text = wideTextOf(bits, pieces.map(source), unknown.map(source));
    for (const index of [...pieces, ...unknown]) all[index] = { ...columns[index], expression: null };
    const expression = `${text} AS ${named(names.add(name))}`;
    all[pieces[0]] = { ...columns[pieces[0]], expression };
  }
  return all;
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
  const list = [
    ...fixed.map((name) => `r.${name}`),
    ...columns.flatMap(({ expression }) => expression ?? []),
  ];
  return `SELECT ${list.join(', ')} FROM ${source} r${joins.join('')}`;
}
