// @ts-check
/** Datasets: how fast traces are exported, how large the tables are, and how fast they answer over 1,000 runs. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findCore, instructionBlocks } from 'uscope/cpu';
import { openTraceFile } from 'uscope/reader/node';
import { longTrace } from '../viewer/bench/long-trace.mjs';
import { withDaemon } from './daemon.mjs';
import { native } from './native.mjs';
import { median, repeat, spread } from './statistics.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

/** @type {typeof import('../sdk/src/dataset/index.js')} */
const { exportOneRun, loadEngine, SqlSession, TABLES } = await import(
  new URL('../sdk/dist/dataset/index.js', import.meta.url).href
);

const execute = promisify(execFile);
const COMMAND = fileURLToPath(new URL('../sdk/bin/uscope.js', import.meta.url));
const EXPORTER = fileURLToPath(new URL('dataset-export.mjs', import.meta.url));
const DEMO = fileURLToPath(new URL('../verilator-demo/', import.meta.url));

/** Cycles of `ooo` for the speed of an export, and of the long traces for its memory. */
const CYCLES = 1_000_000;
const MEMORY_CYCLES = [1_000_000, 10_000_000];
const RUNS = [10, 100, 1000];
/** Rows of `instructions` over all runs that the target names. */
const LEAST_ROWS = 100e6;
/** Of the demo: then a run has a little more than 100,000 instructions. */
const SLICE_CYCLES = 140_000;
const WARM = 7;
const POINT_CYCLES = 10_000;
const STATS_RUNS = 3;
const TARGETS = { rate: 0.8, share: 35, bytes: 16, memory: 400, count: 400, point: 50 };

/**
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchDataset(options, directory) {
  const demo = await demoTrace(directory);
  return [
    ...(await exportRows(options, directory, demo)),
    ...(await memoryRows(options, directory)),
    ...(await questionRows(directory, demo)),
  ];
}

/** The trace of the demo's program on the in-order core. @param {string} directory */
async function demoTrace(directory) {
  await execute('make', ['-C', DEMO, '--no-print-directory']);
  const out = join(directory, 'demo');
  const simulator = [join(DEMO, 'obj_dir/Vtop'), '+quiet'];
  const run = ['run', '--schema', join(DEMO, 'schema.yaml'), '--out', out, '--', ...simulator];
  await execute(process.execPath, [COMMAND, ...run]);
  return join(out, 'core0.uscope');
}

/** @param {Options} options @param {string} directory @param {string} demo */
async function exportRows({ cycles, compression, runs }, directory, demo) {
  const size = cycles ?? CYCLES;
  await withDaemon(directory, compression, (env) => native(['path', 'ooo', String(size)], env));
  const long = join(directory, 'path.uscope');
  /** @type {Row[]} */
  const rows = [];
  for (const [what, file] of /** @type {const} */ ([
    ['the demo', demo],
    [`ooo, ${size / 1e6} M cycles`, long],
  ])) {
    // In turn: what else the machine does is then the same for both. The first pair compiles.
    const pairs = (
      await repeat(runs + 1, async (index) => ({
        scan: await scanned(file),
        export: await exported(file, join(directory, `one${index}`)),
      }))
    ).slice(1);
    const rates = pairs.map((pair) => pair.export.instructions / pair.export.seconds / 1e6);
    const scan = median(pairs.map((pair) => pair.scan.count / pair.scan.seconds / 1e6));
    rows.push(
      {
        name: `export of instructions with all columns, ${what}: of one core`,
        ...spread(rates),
        unit: 'M instructions/s',
        target: { atLeast: TARGETS.rate },
        limit: `${scan.toFixed(2)} M instructions/s: the scan that it needs`,
        bound: scan,
      },
      {
        name: `the same as a part of the scan, ${what}`,
        value: (median(rates) / scan) * 100,
        unit: '%',
        target: { atLeast: TARGETS.share },
      },
    );
  }
  const whole = join(directory, 'whole');
  await exportOneRun(whole, request(demo, 'r', TABLES));
  const count = (await exportOneRun(join(directory, 'counted'), request(demo, 'r'))).instructions;
  const bytes = sizeOf(join(whole, 'instructions'));
  rows.push(
    {
      name: 'a row of instructions, the demo',
      value: bytes / count,
      unit: 'bytes',
      target: { atMost: TARGETS.bytes },
    },
    { name: 'all tables of an instruction, the demo', value: sizeOf(whole) / count, unit: 'bytes' },
    { name: 'its trace', value: statSync(demo).size / count, unit: 'bytes' },
  );
  return rows;
}

/**
 * @param {string} file
 * @param {string} run
 * @param {readonly import('../sdk/src/dataset/index.js').TableName[]} tables
 */
const request = (file, run, tables = ['traces', 'instructions']) => ({
  run,
  files: [file],
  tables,
  window: 10_000,
  tags: {},
  replace: true,
});

/** @param {string} file @param {string} to */
async function exported(file, to) {
  const { result, seconds } = await processorTime(() => exportOneRun(to, request(file, 'r')));
  return { instructions: result.instructions, seconds };
}

/** What an export reads, and nothing else. @param {string} file */
async function scanned(file) {
  const { result, seconds } = await processorTime(async () => {
    const trace = await openTraceFile(file);
    try {
      let count = 0;
      for await (const block of instructionBlocks(trace, findCore(trace))) count += block.count;
      return count;
    } finally {
      await trace.close();
    }
  });
  return { count: result, seconds };
}

/**
 * Of all threads: the main thread's, and those that read files, collect garbage and compile.
 * @template T
 * @param {() => Promise<T>} body
 */
async function processorTime(body) {
  const before = process.cpuUsage();
  const result = await body();
  const { user, system } = process.cpuUsage(before);
  return { result, seconds: (user + system) / 1e6 };
}

/**
 * Of the viewer's long trace, which is made once and kept, and of `ooo`, in which nearly every instruction has another address and machine code.
 * @param {Options} options
 * @param {string} directory
 */
async function memoryRows({ cycles, long }, directory) {
  const lengths = cycles === null ? [...MEMORY_CYCLES, ...(long ? [100_000_000] : [])] : [cycles];
  /** @type {Row[]} */
  const rows = [];
  for (const length of lengths) {
    const { path } = await longTrace(length);
    const { instructions, mebibytes } = await memoryOf(path, join(directory, `memory${length}`));
    rows.push({
      name: `memory of an export of all tables, ${length / 1e6} M cycles, ${(instructions / 1e6).toFixed(1)} M instructions`,
      value: mebibytes,
      unit: 'MiB',
      target: { atMost: TARGETS.memory },
    });
  }
  const { mebibytes } = await memoryOf(join(directory, 'path.uscope'), join(directory, 'memory'));
  return [
    ...rows,
    { name: 'the same of ooo', value: mebibytes, unit: 'MiB', target: { atMost: TARGETS.memory } },
  ];
}

/** @param {string} trace @param {string} dataset */
async function memoryOf(trace, dataset) {
  const { stdout } = await execute(process.execPath, [EXPORTER, trace, dataset]);
  const { instructions, peakKb } = JSON.parse(stdout);
  return { instructions, mebibytes: peakKb / 1024 };
}

/** The beginning of the demo's run again and again, under other names. @param {string} directory @param {string} demo */
async function questionRows(directory, demo) {
  const root = join(directory, 'farm');
  const part = join(directory, 'slice.uscope');
  await execute(process.execPath, [COMMAND, 'slice', demo, '--cycles', `0:${SLICE_CYCLES}`, '-o', part]);
  await exportOneRun(root, request(part, 'run-0000'));
  /** @type {Row[]} */
  const rows = [];
  let there = 1;
  for (const runs of RUNS) {
    for (; there < runs; there++) copyRun(root, `run-${String(there).padStart(4, '0')}`);
    rows.push(...(await askedRows(root, runs)));
  }
  const seconds = median(await repeat(STATS_RUNS, () => stats(part)));
  const last = RUNS[RUNS.length - 1];
  rows.push({
    name: `the same by \`uscope stats --json\` of each of ${last} runs, from ${STATS_RUNS} of them`,
    value: seconds * last * 1e9,
    unit: 'ns',
  });
  return rows;
}

/** @param {string} root @param {string} run */
function copyRun(root, run) {
  for (const table of ['traces', 'instructions'])
    cpSync(join(root, table, 'run=run-0000'), join(root, table, `run=${run}`), { recursive: true });
}

/** @param {string} root @param {number} runs @returns {Promise<Row[]>} */
async function askedRows(root, runs) {
  const count = 'select count(*), avg(end_cycle - birth_cycle) from instructions';
  const start = performance.now();
  const session = await SqlSession.open(await loadEngine(), [root]);
  try {
    const [rows] = await answer(session, count);
    const first = performance.now() - start;
    const isLast = runs === RUNS[RUNS.length - 1];
    if (isLast && Number(rows) < LEAST_ROWS) throw new Error(`the dataset has ${rows} rows only`);
    const point = `select count(*), sum(end_cycle - birth_cycle) from instructions where run = 'run-0007' and birth_cycle between 100000 and ${100_000 + POINT_CYCLES - 1}`;
    const millions = `${(Number(rows) / 1e6).toFixed(1)} M rows`;
    return [
      {
        name: `${runs} runs, ${millions}: size of instructions`,
        value: sizeOf(join(root, 'instructions')) / 1e6,
        unit: 'MB',
      },
      {
        name: `${runs} runs: the first answer, with the start of the session`,
        value: first * 1e6,
        unit: 'ns',
      },
      {
        name: `${runs} runs: count and mean over all rows, warm`,
        ...spread(await warm(session, count)),
        unit: 'ns',
        ...(isLast ? { target: { atMost: TARGETS.count * 1e6 } } : {}),
      },
      {
        name: `${runs} runs: ${POINT_CYCLES} cycles of one run, warm`,
        ...spread(await warm(session, point)),
        unit: 'ns',
        ...(isLast ? { target: { atMost: TARGETS.point * 1e6 } } : {}),
      },
    ];
  } finally {
    await session.close();
  }
}

/** @param {import('../sdk/src/dataset/index.js').SqlSession} session @param {string} question */
async function warm(session, question) {
  await answer(session, question);
  return repeat(WARM, async () => {
    const start = performance.now();
    await answer(session, question);
    return (performance.now() - start) * 1e6;
  });
}

/** The first row. @param {import('../sdk/src/dataset/index.js').SqlSession} session @param {string} question */
function answer(session, question) {
  return session.ask(question, async (result) => {
    const chunk = await result.fetchChunk();
    return chunk?.getRows()[0] ?? [];
  });
}

/** Seconds. @param {string} file */
async function stats(file) {
  const start = performance.now();
  await execute(process.execPath, [COMMAND, 'stats', '--json', file], { maxBuffer: 1 << 28 });
  return (performance.now() - start) / 1000;
}

/** @param {string} directory */
function sizeOf(directory) {
  mkdirSync(directory, { recursive: true });
  const names = readdirSync(directory, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile());
  return files.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
