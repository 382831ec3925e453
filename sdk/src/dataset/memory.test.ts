/** Memory of an export does not depend on the length of the trace: what its tables hold is bounded. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { heldBytes } from '../../../test/support/held-bytes.js';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { PartFiles } from './files/part-files.js';
import { NumberColumn, TextColumn, WordColumn } from './parquet/columns.js';
import { ListColumn } from './parquet/list-column.js';
import { PageBudget } from './parquet/table-rows.js';

// Hundreds of thousands of rows are written.
limitOfFile(MANY_CASES_MS);

const directory = mkdtempSync(join(tmpdir(), 'uscope-memory-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const SEGMENT_ROWS = 5000;

/** Most bytes that a table holds, of which every row has other texts, numbers and lists. */
async function peakOf(rows: number): Promise<number> {
  const entry = new TextColumn('entry');
  const list = new ListColumn('list', [entry]);
  const [number, word, text] = [new NumberColumn('number'), new WordColumn('word'), new TextColumn('text')];
  const to = { scratch: directory, budget: new PageBudget(), rows: {}, partOf: async () => directory };
  const files = new PartFiles(to, { table: 't', core: 'c' }, [number, word, text, list]);
  let peak = 0;
  for (let index = 0; index < rows; index++) {
    const row = files.rows.begin();
    number.set(row, index * 7919);
    word.setWords(row, Math.imul(index, 0x9e37_79b1), Math.imul(index, 0x85eb_ca77));
    text.setText(row, `text of row ${1e9 + index}`);
    entry.setText(list.add(row), `entry of row ${1e9 + index}`);
    files.rows.endRow();
    if (index % SEGMENT_ROWS > 0) continue;
    peak = Math.max(peak, heldBytes(files).bytes);
    await files.rotate();
  }
  await files.finish();
  return peak;
}

it('a table of four times as many rows takes no more memory', async () => {
  const few = await peakOf(150_000);
  expect(few).toBeGreaterThan(5_000_000);
  expect(few).toBeLessThan(40_000_000);
  expect((await peakOf(600_000)) / few).toBeLessThan(1.1);
});
