/** The files of a table whose rows end with the fields of one event or storage. */
import type { FieldDef } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import { KEYS } from '../files/names.js';
import { type Destination, PartFiles, type PartTable } from '../files/part-files.js';
import type { Cells, FlatColumn } from '../parquet/columns.js';
import { type PayloadField, payloadColumns } from './payload-columns.js';

export interface FieldFiles {
  readonly files: PartFiles;
  /** Of the fixed columns, then of each field. */
  readonly cells: readonly Cells[];
  readonly fields: readonly PayloadField[];
}

/** @param fixed columns before those of the fields, which get other names; so does the partition of the table */
export function createFieldFiles(
  to: Destination,
  trace: Trace,
  of: PartTable,
  defs: readonly FieldDef[],
  fixed: readonly FlatColumn[],
): FieldFiles {
  const partition = KEYS[of.table];
  const names = fixed.map(({ name }) => name);
  const { columns, fields } = payloadColumns(trace, defs, partition ? [...names, partition] : names);
  const files = new PartFiles(to, of, [...fixed, ...columns]);
  return { files, fields, cells: [...fixed, ...fields.map(({ cells }) => cells)] };
}
