/** Exports and compactions are killed at random moments: afterwards the dataset is as before, or has the whole new run. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { questions } from '../../../test/support/dataset-rows.js';
import { cases, TRIES_ALL } from '../../../test/support/effort.js';
import { PROCESSES_MS } from '../../../test/support/limits.js';
import { build, generator, record } from '../../../test/support/recorded-run.js';
import { runUscope } from '../../../test/support/run-cli.js';

const directory = mkdtempSync(join(tmpdir(), 'uscope-kill-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const HOOKS = new URL('../../../test/support/source-process.mjs', import.meta.url).href;
const SOURCE = new URL('./export-runs.ts', import.meta.url).href;
const COMPACT = new URL('./manage/index.ts', import.meta.url).href;
const ENGINE = new URL('./engine/duckdb.ts', import.meta.url).href;
const KINDS = ['traces', 'instructions', 'counters', 'stalls', 'events'];

function writeTrace(name: string, cycles: number): string {
  const path = join(directory, name, 'core0.uscope');
  mkdirSync(join(directory, name), { recursive: true });
  writeFileSync(path, build(record(generator(cycles), cycles).frames, 20));
  return path;
}

/** A process that exports two traces as one run in turn, without end, joins the files of all runs where it is to, and says which one is next. */
function exporter(root: string, traces: readonly string[], joins: boolean) {
  const script = `
    import { exportOneRun } from ${JSON.stringify(SOURCE)};
    import { compactDataset } from ${JSON.stringify(COMPACT)};
    import { loadEngine } from ${JSON.stringify(ENGINE)};
    for (let i = 0; ; i++) {
      const files = [${JSON.stringify(traces)}[i % 2]];
      process.stdout.write(i + '\\n');
      await exportOneRun(${JSON.stringify(root)}, { run: 'r', files, tables: ${JSON.stringify(KINDS)}, window: 10, tags: {}, replace: true });
      if (${joins}) await compactDataset(await loadEngine(), ${JSON.stringify(root)});
    }`;
  return spawn(process.execPath, ['--import', HOOKS, '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function countsOf(root: string, run: string): Promise<string> {
  const asked = await questions(root);
  const tables = KINDS.map((table) => `(select count(*) from ${table} where run = '${run}')`);
  const [counts] = await asked.ask(`select ${tables.join(', ')}`);
  await asked.close();
  return counts.join(' ');
}

/** Kills such processes at random moments. @param isWhole throws where the dataset has become something else */
async function killed(
  root: string,
  traces: readonly string[],
  joins: boolean,
  isWhole: () => Promise<void>,
): Promise<void> {
  const choose = generator(TRIES_ALL ? Date.now() & 0xffff : 7);
  const rounds = cases(joins ? 2 : 3);
  for (let round = 0; round < rounds; round++) {
    const child = exporter(root, traces, joins);
    const ended = new Promise((resolve) => child.on('exit', resolve));
    // Some exports through: most of the time of a process is its start.
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (data: Buffer) => {
        if (Number(String(data).trim().split('\n').at(-1)) >= 1) resolve();
      });
    });
    await new Promise((resolve) => setTimeout(resolve, choose(400)));
    child.kill('SIGKILL');
    await ended;
    await isWhole();
    const left = readdirSync(join(root, '_staging'));
    expect(left.filter((name) => name.includes('~'))).toEqual([]);
    const { out, err } = await runUscope(['dataset', 'check', root]);
    // What an export has replaced is in joined files until the next compaction, and so in what other engines read.
    const isDropped = joins && /: 1 problems?$/m.test(out) && err.includes('joined files have rows of it');
    if (!isDropped) expect(`${out}${err}`).toMatch(/: whole$/m);
    expect(JSON.parse(readFileSync(join(root, '_runs', 'r.json'), 'utf8')).run).toBe('r');
  }
}

/** Two traces of which one run is made in turn, and the rows that it has then. */
async function twoTraces(): Promise<{ traces: string[]; whole: string[] }> {
  const traces = [writeTrace('a', 60), writeTrace('b', 90)];
  const whole: string[] = [];
  for (const [index, trace] of traces.entries()) {
    const alone = mkdtempSync(join(directory, `alone${index}`));
    expect((await runUscope(['export', trace, '--run', 'r', '--window', '10', '-o', alone])).status).toBe(0);
    whole.push(await countsOf(alone, 'r'));
  }
  expect(whole[0]).not.toBe(whole[1]);
  return { traces, whole };
}

it('an export that is killed leaves the run before, or the new one', {
  timeout: 4 * PROCESSES_MS,
}, async () => {
  const { traces, whole } = await twoTraces();
  const root = join(directory, 'dataset');
  expect((await runUscope(['export', traces[1], '--run', 'r', '--window', '10', '-o', root])).status).toBe(0);
  await killed(root, traces, false, async () => expect(whole).toContain(await countsOf(root, 'r')));
});

it('a compaction that is killed loses nothing, and shows no row twice', {
  timeout: 4 * PROCESSES_MS,
}, async () => {
  const { traces, whole } = await twoTraces();
  const root = join(directory, 'joined');
  const others = ['q', 's'];
  for (const run of ['r', ...others])
    expect((await runUscope(['export', traces[0], '--run', run, '--window', '10', '-o', root])).status).toBe(
      0,
    );
  await killed(root, traces, true, async () => {
    expect(whole).toContain(await countsOf(root, 'r'));
    for (const run of others) expect(await countsOf(root, run)).toBe(whole[0]);
  });
  expect((await runUscope(['dataset', 'compact', root])).status).toBe(0);
  expect((await runUscope(['dataset', 'check', root])).out).toMatch(/: whole$/m);
  for (const run of others) expect(await countsOf(root, run)).toBe(whole[0]);
});
