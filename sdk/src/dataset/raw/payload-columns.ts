/**
 * Fields of events and slots as columns: numbers as BIGINT, of 64 bits their bit pattern; labels and strings as text; truth values as BOOLEAN;
 * wide fields as one text. */
import { type FieldDef, FieldType, fieldSize, isSigned } from '../../format/types.js';
import { logicalFields } from '../../format/wide-fields.js';
import { payloadLayout, type Trace } from '../../reader/index.js';
import { ColumnNames, KEYS } from '../files/names.js';
import { type Destination, PartFiles, type PartTable } from '../files/part-files.js';
import { WideColumn } from '../files/wide-column.js';
import { BooleanColumn, type Cells, type FlatColumn, NumberColumn, WordColumn } from '../parquet/columns.js';
import { labelColumn, stringColumn } from './text-columns.js';

/** A field of the payload, and where its values go. */
export interface PayloadField {
  readonly cells: Cells;
  readonly offset: number;
  readonly bytes: number;
  readonly isSigned: boolean;
}

export interface FieldFiles {
  readonly files: PartFiles;
  /** In the order of the definitions: several fields may be pieces of one column. */
  readonly fields: readonly PayloadField[];
}

/**
 * The files of a table whose rows end with the fields of one event or storage.
 * @param fixed columns before those of the fields, which get other names; so does the partition of the table
 */
export function createFieldFiles(
  to: Destination,
  trace: Trace,
  of: PartTable,
  defs: readonly FieldDef[],
  fixed: readonly FlatColumn[],
): FieldFiles {
  const partition = KEYS[of.table];
  const names = new ColumnNames([...fixed.map(({ name }) => name), ...(partition ? [partition] : [])]);
  const fieldNames = defs.map(({ name }) => names.add(name));
  const { offsets } = payloadLayout(defs);
  const columns: FlatColumn[] = [];
  const cells: Cells[] = [];
  for (const { name, bits, pieces, unknown } of logicalFields(defs)) {
    if (bits === 0) {
      const column = columnOf(trace, fieldNames[pieces[0]], defs[pieces[0]]);
      columns.push(column);
      cells[pieces[0]] = column;
      continue;
    }
    const wide = new WideColumn(names.add(name), bits, pieces.length, unknown.length);
    columns.push(wide);
    pieces.forEach((field, index) => {
      cells[field] = wide.pieces[index];
    });
    unknown.forEach((field, index) => {
      cells[field] = wide.unknown[index];
    });
  }
  const fields = defs.map(({ type }, index) => ({
    cells: cells[index],
    offset: offsets[index],
    bytes: fieldSize(type),
    isSigned: isSigned(type),
  }));
  return { files: new PartFiles(to, of, [...fixed, ...columns]), fields };
}

function columnOf(trace: Trace, name: string, { type, enumId }: FieldDef): FlatColumn {
  if (type === FieldType.STRING_REF) return stringColumn(name, trace);
  if (type === FieldType.ENUM) return labelColumn(name, trace.schema.enums[enumId] ?? null);
  if (type === FieldType.BOOL) return new BooleanColumn(name);
  return fieldSize(type) === 8 ? new WordColumn(name, !isSigned(type)) : new NumberColumn(name);
}

/** Sets a value from its u32 halves, of which the upper one only counts for fields of 64 bits. */
export function setField(
  { cells, bytes, isSigned: signed }: PayloadField,
  row: number,
  lo: number,
  hi: number,
): void {
  if (bytes === 8) cells.setWords(row, lo, hi);
  else if (!signed) cells.set(row, lo);
  else {
    const shift = 32 - bytes * 8;
    cells.set(row, (lo << shift) >> shift);
  }
}
