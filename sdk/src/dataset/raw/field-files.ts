/** The files of a table whose rows end with the fields of one event or storage. */
import type { FieldDef } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import { KEYS } from '../files/names.js';
import { type Destination, PartFiles, type PartTable } from '../files/part-files.js';
import { type PayloadColumn, payloadColumns, selectFields } from './payload-columns.js';
import { TextTable } from './text-table.js';

export interface FieldFiles {
  readonly files: PartFiles;
  /** Of the fields, after the fixed columns. */
  readonly columns: readonly PayloadColumn[];
  /** null: no field is a string. */
  readonly texts: TextTable | null;
}

/** @param fixed columns before those of the fields, which get other names; so does the partition of the table */
export async function createFieldFiles(
  to: Destination,
  trace: Trace,
  of: PartTable,
  fields: readonly FieldDef[],
  fixed: readonly string[],
): Promise<FieldFiles> {
  const partition = KEYS[of.table];
  const columns = payloadColumns(trace.schema, fields, partition ? [...fixed, partition] : fixed);
  const hasStrings = columns.some(({ isString }) => isString);
  const texts = hasStrings ? new TextTable(trace, to.connection, to.scratchName()) : null;
  const files = await PartFiles.create(to, of, {
    names: [...fixed, ...columns.map(({ column }) => column)],
    select: async (source) => {
      await texts?.make();
      return selectFields(source, fixed, columns, texts);
    },
  });
  return { files, columns, texts };
}
