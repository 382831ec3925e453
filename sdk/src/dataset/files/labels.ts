/** Labels of enums. */
import type { EnumDef } from '../../format/types.js';
import { CodeColumn } from '../parquet/columns.js';
import { LabelDictionary } from '../parquet/dictionary.js';

/** A column of the labels of values; the number where there is none. */
export function labelColumn(name: string, labels: Pick<EnumDef, 'values'> | null): CodeColumn {
  const names = new Map<number, string>();
  // Of two labels of a value the first one counts.
  for (const { value, name } of labels?.values ?? []) if (!names.has(value)) names.set(value, name);
  return new CodeColumn(name, new LabelDictionary((code) => names.get(code) ?? String(code)));
}

/** A column of the names in a list, by their indices. */
export const nameColumn = (name: string, names: readonly string[]): CodeColumn =>
  labelColumn(name, { values: names.map((label, value) => ({ value, name: label })) });
