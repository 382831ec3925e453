/** Datasets are written without DuckDB, too; questions then say what is missing. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { questions } from '../../../test/support/dataset-rows.js';
import { PROCESSES_MS } from '../../../test/support/limits.js';
import { analyze, build, generator, record } from '../../../test/support/recorded-run.js';

const directory = mkdtempSync(join(tmpdir(), 'uscope-no-engine-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const support = (name: string): string => new URL(`../../../test/support/${name}`, import.meta.url).href;
const MAIN = new URL('../cli/main.ts', import.meta.url).href;

/** The command line in such a process: what it printed, and its exit status. */
function runWithout(...commands: string[][]): { out: string; err: string; status: number }[] {
  const script = `
    import { runCli } from ${JSON.stringify(MAIN)};
    import { useIo } from ${JSON.stringify(new URL('../cli/common/io.ts', import.meta.url).href)};
    const results = [];
    for (const args of ${JSON.stringify(commands)}) {
      let [out, err] = ['', ''];
      useIo({ out: (text) => { out += text; }, err: (line) => { err += line; }, flush() {}, colour: false, bar: null });
      results.push({ status: await runCli(args), out, err });
    }
    process.stdout.write(JSON.stringify(results));`;
  // A file: threads of a script on the command line would take its options over.
  const file = join(directory, 'commands.mjs');
  writeFileSync(file, script);
  const hooks = ['without-duckdb.mjs', 'source-process.mjs'].flatMap((name) => ['--import', support(name)]);
  return JSON.parse(execFileSync(process.execPath, [...hooks, file], { encoding: 'utf8' }));
}

it('without DuckDB runs are exported on threads, and a question names the package and its command', {
  timeout: PROCESSES_MS,
}, async () => {
  const root = join(directory, 'dataset');
  const files: string[] = [];
  let fetched = 0;
  for (const seed of [1, 2]) {
    const bytes = build(record(generator(seed), 200).frames, 40);
    mkdirSync(join(directory, `run${seed}`));
    files.push(join(directory, `run${seed}`));
    writeFileSync(join(directory, `run${seed}`, 'core0.uscope'), bytes);
    fetched += (await analyze(bytes, {})).instructions.fetched;
  }
  const exported = ['export', ...files, '-o', root, '--tables', 'all', '--jobs', '2'];
  const [first, again, asked, compacted] = runWithout(
    exported,
    exported,
    ['sql', root, 'select 1'],
    ['dataset', 'compact', root],
  );
  expect(first, first?.err).toMatchObject({ status: 0, err: '' });
  // Threads end in any order.
  expect(again?.out.split('\n').sort()).toEqual(['', 'run1: unchanged', 'run2: unchanged']);
  for (const refused of [asked, compacted]) {
    expect(refused?.status).toBe(1);
    expect(refused?.err).toMatch(/DATASET_ENGINE: .*npm install @duckdb\/node-api@/);
  }
  const { ask, close } = await questions(root);
  expect(await ask('select count(*), count(distinct run) from instructions')).toEqual([
    [BigInt(fetched), 2n],
  ]);
  await close();
});
