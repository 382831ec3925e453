/** Questions about a range: rows that touch it, in the time of every core, and its ends as variables. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { theEngine } from '../../../test/support/dataset-rows.js';
import { build, generator, record } from '../../../test/support/recorded-run.js';
import { exportOneRun, SqlSession } from './index.js';
import { limitedQuery, type ShownRange } from './shown-range.js';

const directory = mkdtempSync(join(tmpdir(), 'uscope-range-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const TABLES = [
  'traces',
  'instructions',
  'stages',
  'stalls',
  'events',
  'counters',
  'cycles',
  'slots',
] as const;

it('limits every table to the rows that touch the range, and no longer after it', async () => {
  const trace = join(directory, 'core0.uscope');
  writeFileSync(trace, build(record(generator(7), 120).frames, 20));
  const root = join(directory, 'dataset');
  await exportOneRun(root, {
    run: 'r',
    files: [trace],
    tables: TABLES,
    window: 10,
    tags: {},
    replace: false,
  });
  const session = await SqlSession.open(await theEngine(), [root]);
  const ask = (sql: string, range: ShownRange | null): Promise<unknown[][]> =>
    session.askAbout(sql, range, async (result) =>
      (await result.fetchAllChunks()).flatMap((chunk) => chunk.getRows() as unknown[][]),
    );
  const [[periodPs]] = (await ask("select period_ps from traces where core = 'core0'", null)) as [[bigint]];
  const [from, to] = [40n, 55n];
  const range = { fromPs: from * periodPs, toPs: to * periodPs, periodPs, isLimited: true };
  expect(await ask('select $from, $to', range)).toEqual([[from, to]]);
  const conditions = {
    instructions: `birth_cycle < ${to} and coalesce(end_cycle >= ${from}, true)`,
    stages: `from_cycle < ${to} and coalesce(from_cycle + greatest(cycles, 1) > ${from}, true)`,
    stalls: `cycle >= ${from} and cycle < ${to}`,
    events: `cycle >= ${from} and cycle < ${to}`,
    counters: `from_cycle < ${to} and to_cycle > ${from}`,
    cycles: `cycle < ${to} and cycle + cycles > ${from}`,
    slots: `coalesce(from_cycle < ${to}, true) and coalesce(to_cycle > ${from}, true)`,
  };
  for (const [table, condition] of Object.entries(conditions)) {
    const [[limited]] = (await ask(`select count(*) from ${table}`, range)) as [[bigint]];
    const [[all]] = (await ask(`select count(*) from ${table}`, { ...range, isLimited: false })) as [
      [bigint],
    ];
    const [[expected]] = await ask(`select count(*) from ${table} where ${condition}`, null);
    expect(limited, table).toBe(expected);
    expect(limited, table).toBeGreaterThan(0n);
    expect(limited, table).toBeLessThan(all);
  }
  // Ready-made questions are about the range too.
  const retired = 'select sum(retired) from hot_pcs(100000)';
  expect(Number((await ask(retired, range))[0]?.[0])).toBeLessThan(
    Number((await ask(retired, null))[0]?.[0]),
  );
  await expect(ask('select $from', null)).rejects.toMatchObject({ code: 'DATASET_QUERY' });
  await expect(ask('select $other', range)).rejects.toMatchObject({ code: 'DATASET_QUERY' });
  const ended = AbortSignal.abort();
  await expect(session.askAbout('select 1', null, async () => undefined, ended)).rejects.toMatchObject({
    code: 'DATASET_TIMEOUT',
  });
  await session.close();
});

it('counts each core in cycles of its own clock', () => {
  const periods = new Map([
    ['r\nfast', 500n],
    ['r\nslow', 2000n],
  ]);
  const range = { fromPs: 10_000n, toPs: 21_000n, periodPs: 500n, isLimited: true };
  const query = limitedQuery('SELECT 1', 'stalls', range, periods);
  expect(query).toContain("('r', 'fast', 20, 42)");
  expect(query).toContain("('r', 'slow', 5, 11)");
  expect(limitedQuery('SELECT 1', 'traces', range, periods)).toBe('SELECT 1');
});
