/** Exports are killed at random moments: afterwards the dataset is as before, or has the whole new run. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { questions } from '../../../test/support/dataset-rows.js';
import { cases } from '../../../test/support/effort.js';
import { PROCESSES_MS } from '../../../test/support/limits.js';
import { build, generator, record } from '../../../test/support/recorded-run.js';
import { runUscope } from '../../../test/support/run-cli.js';

const directory = mkdtempSync(join(tmpdir(), 'uscope-kill-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const HOOKS = new URL('../../../test/support/source-process.mjs', import.meta.url).href;
const SOURCE = new URL('./export-runs.ts', import.meta.url).href;

function writeTrace(name: string, cycles: number): string {
  const path = join(directory, name, 'core0.uscope');
  mkdirSync(join(directory, name), { recursive: true });
  writeFileSync(path, build(record(generator(cycles), cycles).frames, 20));
  return path;
}

/** A process that exports two traces as one run in turn, without end, and says which one is next. */
function exporter(root: string, traces: readonly string[]) {
  const script = `
    import { exportOneRun } from ${JSON.stringify(SOURCE)};
    for (let i = 0; ; i++) {
      const files = [${JSON.stringify(traces)}[i % 2]];
      process.stdout.write(i + '\\n');
      await exportOneRun(${JSON.stringify(root)}, { run: 'r', files, tables: ['traces', 'instructions', 'counters', 'stalls', 'events'], window: 10, tags: {}, replace: true });
    }`;
  return spawn(process.execPath, ['--import', HOOKS, '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

it('an export that is killed leaves the run before, or the new one', {
  timeout: 4 * PROCESSES_MS,
}, async () => {
  const traces = [writeTrace('a', 60), writeTrace('b', 90)];
  const root = join(directory, 'dataset');
  const choose = generator(Date.now() & 0xffff);
  const whole: string[] = [];
  const countsOf = async (root: string): Promise<string> => {
    const asked = await questions(root);
    const tables = ['traces', 'instructions', 'stalls', 'events'].map(
      (table) => `(select count(*) from ${table})`,
    );
    const [counts] = await asked.ask(`select ${tables.join(', ')}`);
    await asked.close();
    return counts.join(' ');
  };
  for (const [index, trace] of traces.entries()) {
    const alone = join(directory, `alone${index}`);
    expect((await runUscope(['export', trace, '--run', 'r', '-o', alone])).status).toBe(0);
    whole.push(await countsOf(alone));
  }
  expect(whole[0]).not.toBe(whole[1]);
  expect((await runUscope(['export', traces[1], '--run', 'r', '-o', root])).status).toBe(0);
  const rounds = cases(3);
  for (let round = 0; round < rounds; round++) {
    const child = exporter(root, traces);
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
    expect(whole).toContain(await countsOf(root));
    const left = readdirSync(join(root, '_staging'));
    expect(left.filter((name) => name.includes('~'))).toEqual([]);
    const { status, out, err } = await runUscope(['dataset', 'check', root]);
    expect(`${out}${err}`).toMatch(/whole/);
    expect(status).toBe(0);
    expect(JSON.parse(readFileSync(join(root, '_runs', 'r.json'), 'utf8')).run).toBe('r');
  }
});
