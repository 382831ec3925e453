/** Ready-made questions about made-up pipelines, each against the same number computed by the analysis or from what is known of the runs. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Questions, questions, theEngine } from '../../../test/support/dataset-rows.js';
import { limitOfFile, THREADS_MS } from '../../../test/support/limits.js';
import { analyze, build, generator, type Recorded, record } from '../../../test/support/recorded-run.js';
import { parseSchema } from '../schema/index.js';
import { TraceWriter } from '../writer/index.js';
import { exportOneRun } from './export-runs.js';
import { LAYOUT, TABLES } from './layout.js';

// Exports and asks with the database engine's threads.
limitOfFile(THREADS_MS);

const directory = mkdtempSync(join(tmpdir(), 'uscope-questions-'));
let count = 0;
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const newPath = (): string => {
  const path = join(directory, String(count++));
  mkdirSync(path);
  return join(path, 'core0.uscope');
};

function exported(root: string, run: string, file: string, tags: Record<string, string> = {}) {
  const request = { run, files: [file], tables: TABLES, window: 50, tags, replace: false };
  return exportOneRun(root, request);
}

async function ofRun(recorded: Recorded): Promise<Questions> {
  const file = newPath();
  writeFileSync(file, build(recorded.frames, 30));
  const root = join(directory, `dataset${count}`);
  await exported(root, 'r', file);
  return questions(root);
}

const numbers = (rows: readonly unknown[][]): unknown[][] =>
  rows.map((row) => row.map((cell) => (typeof cell === 'bigint' ? Number(cell) : cell)));

describe('questions about one run', () => {
  it.each([1, 2, 3])('occupancy and windows are those of the analysis: seed %i', async (seed) => {
    const recorded = record(generator(seed), 230);
    const report = await analyze(build(recorded.frames, 30), { points: 5 });
    const asked = await ofRun(recorded);
    const rows = numbers(
      await asked.ask(
        'select slots, mean, median, p99, greatest, full_share from occupancy_percentiles() order by buffer',
      ),
    );
    const buffers = report.buffers.filter(({ buffer }) => buffer === 'rob');
    expect(buffers.length).toBe(1);
    rows.forEach((row, index) => {
      const { slots, mean, median, p99, max, fullShare } = buffers[index]!;
      expect(row).toEqual([slots, expect.closeTo(mean!, 9), median, p99, max, expect.closeTo(fullShare!, 9)]);
    });
    const taken = numbers(await asked.ask('select taken, cycles from occupancy order by taken'));
    const histogram = [...buffers[0]!.histogram.entries()].filter(([, cycles]) => cycles > 0);
    expect(taken).toEqual(histogram);
    const { series } = report;
    const windows = numbers(
      await asked.ask(
        `select from_cycle, cycles, ipc from ipc_by_window(${series!.intervalCycles}) order by from_cycle`,
      ),
    );
    expect(windows).toEqual(
      series!.start.map((from, index) => [
        from,
        series!.cycles[index],
        expect.closeTo(series!.ipc[index]!, 9),
      ]),
    );
    await asked.close();
  });

  it('top_down gives the shares of the slots that the core counts', async () => {
    const classes = {
      retiring: 30,
      bad_speculation: 10,
      frontend: 20,
      backend_memory: 25,
      backend_core: 5,
      idle: 10,
    };
    const counters = Object.keys(classes).map((name) => `      slots_${name}: counter\n`);
    const { schema } = parseSchema(`uscope: 1
clocks: {clk: 1 ns}
scopes:
  core0:
    protocol: cpu
    clock: clk
    storages:
${counters.join('')}      others: counter
  bench:
    clock: clk
    storages:
      requests: counter
`);
    const path = newPath();
    const writer = await TraceWriter.create({ path, schema });
    for (let cycle = 0; cycle < 100; cycle++) {
      writer.beginCycle(cycle * 1000);
      for (const [name, slots] of Object.entries(classes)) writer.slotAdd(`core0/slots_${name}`, 0, 0, slots);
      writer.slotAdd('core0/others', 0, 0, 7);
      writer.endCycle();
    }
    await writer.close();
    const root = join(directory, 'top-down');
    await exported(root, 'r', path);
    const asked = await questions(root);
    expect(numbers(await asked.ask('from top_down()'))).toEqual([
      ['r', 'core0', 10_000, 0.3, 0.1, 0.2, 0.3, 0.25, 0.05, 0.1],
    ]);
    // What is not a core retires nothing.
    expect(await asked.ask('select core from traces order by core')).toEqual([['bench'], ['core0']]);
    expect(await asked.ask('select core from ipc()')).toEqual([['core0']]);
    await asked.close();
  });
});

/** Runs of which only the length and the tags count: their table `traces`, written at once. */
async function farm(
  runs: readonly { run: string; cycles: number; tags: Record<string, string> }[],
): Promise<Questions> {
  const root = join(directory, `farm${count++}`);
  mkdirSync(root);
  writeFileSync(join(root, 'uscope-dataset.json'), JSON.stringify({ layout: LAYOUT }));
  const rows = runs.map(({ run, cycles, tags }) => {
    const pairs = Object.entries(tags).map(([key, value]) => `'${key}': '${value}'`);
    return `('${run}', 'core0', 'cpu', ${cycles}::BIGINT, 1::BIGINT, MAP {${pairs.join(', ')}})`;
  });
  const { api } = await theEngine();
  const instance = await api.DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run(
    `COPY (SELECT * FROM (VALUES ${rows.join(', ')}) t(run, core, kind, cycles, retired, tags))
     TO '${join(root, 'traces')}' (FORMAT parquet, PARTITION_BY (run, core))`,
  );
  connection.closeSync();
  instance.closeSync();
  return questions(root);
}

describe('regressions', () => {
  const noise = generator(7);
  const runs = ['steady', 'slower', 'faster'].flatMap((program) =>
    ['a', 'b', 'c', 'd', 'e', 'f'].flatMap((commit, time) =>
      [1, 2, 3, 4].map((seed) => {
        const change = time < 4 ? 0 : program === 'slower' ? 60 : program === 'faster' ? -60 : 0;
        // Commits are in the order of their times, which is not that of their names.
        const name = `${'fedcba'[time]}${commit}`;
        return {
          run: `${program}-${name}-${seed}`,
          cycles: 2000 + noise(41) + change,
          tags: { program, seed: String(seed), commit: name, commit_time: `2026-03-0${time + 1}` },
        };
      }),
    ),
  );

  it('are the workloads that got slower, since which commit, and by how much', async () => {
    const asked = await farm(runs);
    const rows = await asked.ask(
      "select workload, core, since_commit, runs_before, runs_after, relative, from_relative, to_relative from regressions('dc')",
    );
    expect(rows.length).toBe(1);
    const mean = (of: (typeof runs)[number][]): number =>
      of.reduce((sum, { cycles }) => sum + cycles, 0) / of.length;
    const slower = runs.filter(({ tags }) => tags.program === 'slower');
    const before = mean(slower.filter(({ tags }) => tags.commit_time < '2026-03-03'));
    const after = mean(slower.filter(({ tags }) => tags.commit_time >= '2026-03-05'));
    const [workload, core, since, n, m, relative, from, to] = rows[0] as [
      string,
      string,
      string,
      bigint,
      bigint,
      number,
      number,
      number,
    ];
    expect([workload, core, since, n, m]).toEqual(['program=slower', 'core0', 'be', 8n, 8n]);
    expect(relative).toBeCloseTo(after / before - 1, 9);
    expect(from).toBeLessThan(relative);
    expect((from + to) / 2).toBeCloseTo(relative, 9);
    expect(from).toBeGreaterThan(0);
    await expect(asked.ask("from regressions('zz')")).rejects.toThrow(/no run has the tag commit=zz/);
    await asked.close();
  });

  it('are none where a change is within what seeds make, and any where runs of one seed differ', async () => {
    const one = (cycles: number, commit: string, seed: number) => ({
      run: `${commit}${seed}`,
      cycles,
      tags: { commit, commit_time: String(commit === 'a' ? 5 : 6), seed: String(seed) },
    });
    const noisy = await farm([one(2000, 'a', 1), one(2400, 'a', 2), one(2300, 'b', 3), one(2350, 'b', 4)]);
    expect(await noisy.ask("from regressions('b')")).toEqual([]);
    await noisy.close();
    const same = await farm([one(2000, 'a', 1), one(2000, 'a', 2), one(2100, 'b', 3), one(2100, 'b', 4)]);
    const [row] = await same.ask(
      "select workload, relative, from_relative, to_relative, score from regressions('b')",
    );
    expect(row).toEqual(['', 0.05, 0.05, 0.05, Number.POSITIVE_INFINITY]);
    await same.close();
  });

  it('name functions only where the program is known', async () => {
    const some = await farm(runs.slice(0, 1));
    await expect(some.ask('from hot_functions(3)')).rejects.toThrow(/--elf/);
    await some.close();
  });

  it('rest on quantiles and scores of known values', async () => {
    const some = await farm(runs.slice(0, 1));
    const rows = await some.ask(
      'select normal_quantile(0.025), normal_quantile(0.0005), normal_quantile(0.000005), t_score(2.228139, 10), t_score(-3.182446, 3), t_score(4.587, 10)',
    );
    // The last: t of 10 degrees that is exceeded with probability 0.0005.
    const wanted = [1.95996, 3.29053, 4.41717, 1.95996, -1.95996, 3.29053];
    rows[0]!.forEach((value, index) => {
      expect(Math.abs(Number(value) - wanted[index]!), `value ${index}`).toBeLessThan(0.05);
    });
    const [shown] = await some.ask(
      'select unsigned(-1), unsigned(0), unsigned(9223372036854775807), unsigned(-9223372036854775808)',
    );
    expect(shown).toEqual([2n ** 64n - 1n, 0n, 2n ** 63n - 1n, 2n ** 63n]);
    await some.close();
  });
});
