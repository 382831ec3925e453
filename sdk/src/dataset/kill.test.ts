/** Exports and compactions are killed at random moments: afterwards the dataset is as before, or has the whole new run. */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { questions, theEngine } from '../../../test/support/dataset-rows.js';
import { cases, TRIES_ALL } from '../../../test/support/effort.js';
import { BUILDS_MS, PROCESSES_MS } from '../../../test/support/limits.js';
import { buildSdk } from '../../../test/support/processes.js';
import { build, generator, record } from '../../../test/support/recorded-run.js';
import { runUscope } from '../../../test/support/run-cli.js';
import { quoted } from './engine/duckdb.js';

const directory = mkdtempSync(join(tmpdir(), 'uscope-kill-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** What is killed runs what was built: from the sources, each process would compile them first. */
const built = (path: string): string => new URL(`../../dist/${path}`, import.meta.url).href;
const EXPORT = built('dataset/export-runs.js');
const COMPACT = built('dataset/manage/index.js');
const ENGINE = built('dataset/engine/duckdb.js');
const CLI = built('cli/main.js');
beforeAll(buildSdk, BUILDS_MS);
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
    import { exportOneRun } from ${JSON.stringify(EXPORT)};
    import { compactDataset } from ${JSON.stringify(COMPACT)};
    import { loadEngine } from ${JSON.stringify(ENGINE)};
    for (let i = 0; ; i++) {
      const files = [${JSON.stringify(traces)}[i % 2]];
      process.stdout.write(i + '\\n');
      await exportOneRun(${JSON.stringify(root)}, { run: 'r', files, tables: ${JSON.stringify(KINDS)}, window: 10, tags: {}, replace: true });
      if (${joins}) await compactDataset(await loadEngine(), ${JSON.stringify(root)});
    }`;
  return spawn(process.execPath, ['--input-type=module', '-e', script], {
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
  const rounds = cases(1, joins ? 4 : 8);
  for (let round = 0; round < rounds; round++) {
    const child = exporter(root, traces, joins);
    const ended = new Promise((resolve) => child.on('exit', resolve));
    // Some exports through: most of the time of a process is its start.
    await new Promise<void>((resolve, reject) => {
      child.once('exit', (status) => reject(new Error(`the exporter ended with ${status}`)));
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
    expect(`${out}${err}`).toMatch(/: whole$/m);
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

/**
 * Runs a verb in a process that is killed at one of its calls that change files.
 * @param at number of the call, from 1; 0: it is not killed
 * @returns how many such calls there were; null: it was killed
 */
function killedAt(at: number, args: readonly string[]): number | null {
  const script = `
    import fs from 'node:fs/promises';
    import { syncBuiltinESMExports } from 'node:module';
    let calls = 0;
    for (const name of ['rename', 'rm', 'mkdir', 'open', 'link', 'unlink', 'writeFile', 'appendFile']) {
      const real = fs[name];
      fs[name] = (...args) => {
        if (++calls === ${at}) {
          process.kill(process.pid, 'SIGKILL');
          for (;;);
        }
        return real(...args);
      };
    }
    syncBuiltinESMExports();
    const { runCli } = await import(${JSON.stringify(CLI)});
    const status = await runCli(${JSON.stringify(args)});
    process.stderr.write('calls ' + calls);
    process.exit(status);`;
  const { stderr, status, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: PROCESSES_MS,
  });
  if (signal === 'SIGKILL') return null;
  expect(stderr).toMatch(/calls \d+$/);
  expect(status, stderr).toBe(0);
  return Number(/calls (\d+)$/.exec(stderr)?.[1]);
}

/** Rows of each run by the files alone, as an engine that knows nothing of us reads them. */
async function rowsOfFiles(root: string): Promise<string> {
  const { api } = await theEngine();
  const connection = await (await api.DuckDBInstance.create(':memory:')).connect();
  const names = readdirSync(root, { recursive: true }).map(String);
  const rows: unknown[][] = [];
  for (const [below, hive] of [
    ['joined/instructions/', false],
    ['instructions/', true],
  ] as const) {
    const files = names.filter((name) => name.startsWith(below) && name.endsWith('.parquet'));
    if (files.length === 0) continue;
    const paths = files.map((name) => quoted(join(root, name)));
    const found = await connection.runAndReadAll(
      `select run, count(*) from read_parquet([${paths.join()}], hive_partitioning = ${hive}) group by all`,
    );
    rows.push(...found.getRows());
  }
  connection.closeSync();
  return String(rows.sort());
}

async function rowsOfQuestion(root: string): Promise<string> {
  const asked = await questions(root);
  const rows = await asked.ask('select run, count(*) from instructions group by all order by all');
  await asked.close();
  return String(rows.sort());
}

describe('a verb that is killed at any step', () => {
  let kills = 0;
  const traces = [writeTrace('step-a', 60), writeTrace('step-b', 90)];
  const before = join(directory, 'step-before');

  beforeAll(async () => {
    for (const run of ['p', 'q', 'r'])
      await runUscope(['export', traces[0] ?? '', '--run', run, '-o', before]);
    expect((await runUscope(['dataset', 'compact', before])).status).toBe(0);
    await runUscope(['export', traces[1] ?? '', '--run', 's', '-o', before]);
  });

  /** Each of them opens the dataset. */
  const next: Readonly<Record<string, (root: string) => readonly string[]>> = {
    ls: (root) => ['dataset', 'ls', root],
    check: (root) => ['dataset', 'check', root],
    stats: (root) => ['dataset', 'stats', root],
    sql: (root) => ['sql', root, 'select count(*) from traces'],
    export: (root) => ['export', traces[1] ?? '', '--run', 's', '-o', root],
  };

  it.each<[string, (root: string) => readonly string[]]>([
    ['dataset rm', (root) => ['dataset', 'rm', root, 'q']],
    ['export', (root) => ['export', traces[1] ?? '', '--run', 'q', '--replace', '-o', root]],
    ['dataset compact', (root) => ['dataset', 'compact', root]],
  ])(
    '%s: the next one finishes it or takes it back, for other engines too',
    {
      timeout: 6 * PROCESSES_MS,
    },
    async (verb, argumentsOf) => {
      const root = join(directory, `step ${verb}`);
      const fresh = (): void => {
        rmSync(root, { recursive: true, force: true });
        cpSync(before, root, { recursive: true });
      };
      fresh();
      const states = [await rowsOfQuestion(root)];
      const calls = killedAt(0, argumentsOf(root)) ?? 0;
      states.push(await rowsOfQuestion(root));
      expect(calls).toBeGreaterThan(20);
      const names = Object.keys(next);
      const killsBefore = kills;
      // All of them, with what is looked at after each, would take minutes: each run of the long tests begins elsewhere.
      const step = Math.ceil(calls / cases(2, 16));
      for (let at = 2 + (TRIES_ALL ? Date.now() % step : 0); at <= calls; at += step) {
        fresh();
        if (killedAt(at, argumentsOf(root)) !== null) continue;
        const name = names[kills++ % names.length] ?? '';
        const where = `killed at call ${at} of ${calls}, then ${name}`;
        expect((await runUscope(next[name]?.(root) ?? [])).status, where).toBe(0);
        const rows = await rowsOfQuestion(root);
        expect(states, where).toContain(rows);
        expect(await rowsOfFiles(root), where).toBe(rows);
        expect((await runUscope(['dataset', 'check', root])).out, where).toMatch(/: whole$/m);
      }
      expect(kills).toBeGreaterThan(killsBefore);
    },
  );
});
