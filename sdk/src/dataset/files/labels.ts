/** Labels of enums in SQL. */
import type { EnumDef } from '../../format/types.js';
import { quoted } from '../engine/duckdb.js';

/** Labels instead of the numbers of a column; the number where it has none. */
export function caseOf(column: string, labels: Pick<EnumDef, 'values'> | null): string {
  if (labels === null || labels.values.length === 0) return `${column}::VARCHAR`;
  const cases = labels.values.map(({ value, name }) => `WHEN ${value} THEN ${quoted(name)}`).join(' ');
  return `CASE ${column} ${cases} ELSE ${column}::VARCHAR END`;
}
