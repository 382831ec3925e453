/** The page of datasets names each column that every run has, and no other. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { COLUMNS, TABLES } from '../../sdk/src/dataset/layout.js';

const PAGE = readFileSync(new URL('../../docs/how-to/dataset.md', import.meta.url), 'utf8');
/** Columns that depend on the design have a part in capitals. */
const FIXED = /^[a-z_]+$/;

function columnsOnPage(table: string): string[] {
  const start = PAGE.indexOf(`| \`${table}\` | one row for`);
  expect(start, table).toBeGreaterThan(0);
  const [, , ...rows] = PAGE.slice(start, PAGE.indexOf('\n\n', start)).split('\n');
  const names = rows.flatMap((row) => row.split('|')[1]?.match(/`[^`]+`/g) ?? []);
  return names.map((name) => name.slice(1, -1)).filter((name) => FIXED.test(name));
}

it.each(TABLES)('%s', (table) => {
  expect(columnsOnPage(table).sort()).toEqual(Object.keys(COLUMNS[table]).sort());
});
