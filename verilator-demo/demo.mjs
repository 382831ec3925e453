#!/usr/bin/env node
/**
 * The demo: runs the core on Verilator under `uscope run`, reads the trace back, checks it against what the core counted
 * itself, and sums up. Everything must be built (`npm run demo` in the root does that first).
 *
 *   node verilator-demo/demo.mjs [--core o3] [--cores N] [--threads T] [--build NAME] [--out DIR] [-- SIMULATOR ARGUMENTS]
 *
 * With --core o3 it is the out-of-order core: lib/demo-o3.mjs.
 * With --cores, N is 1 (the default) to 4. Several cores share a memory and run another program: lib/demo-soc.mjs. With --threads
 * the simulator of that number of threads is taken, which `make -C verilator-demo soc THREADS=T` builds.
 * --build takes the simulator that make built with CONFIG=NAME.
 *
 * Exit status: 0, or that of `uscope run`, or 1 when trace and core disagree, or 2 for wrong arguments.
 */
import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { auditTrace, compareWithReport } from './lib/audit.mjs';
import { runO3 } from './lib/demo-o3.mjs';
import {
  cli,
  failWith,
  here,
  reader,
  requireBuilt,
  runTraced,
  schema,
  simulatorOf,
} from './lib/demo-run.mjs';
import { runSoc } from './lib/demo-soc.mjs';

const { options, positionals } = readArguments();
const out = resolve(options.out);
if (options.core === 'o3') await runO3(options, out, positionals);
else if (options.cores > 1) await runSoc(options, out, positionals);
else await runOne();

async function runOne() {
  const simulator = simulatorOf('obj_dir', options.build);
  const traceFile = join(out, 'core0.uscope');
  const reportFile = join(out, 'report.json');

  requireBuilt(simulator, 'make -C verilator-demo', options.build);
  requireBuilt(reader, 'npm run build');

  // What is left of an earlier run must not be taken for this one's.
  mkdirSync(out, { recursive: true });
  for (const file of [traceFile, reportFile]) rmSync(file, { force: true });

  const started = process.hrtime.bigint();
  runTraced(out, ['--schema', schema], simulator, [`+report=${reportFile}`, ...positionals]);
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;

  const report = JSON.parse(readFileSync(reportFile, 'utf8'));
  const { openTraceFile } = await import(reader);
  const trace = await openTraceFile(traceFile);
  const audit = await auditTrace(trace);
  const differences = compareWithReport(audit, report);
  if (!trace.isComplete) differences.push('the trace is not complete');
  await trace.close();

  if (differences.length > 0) failWith('The trace and the core disagree', differences);
  process.stdout.write(summary(audit, traceFile, seconds));
}

function readArguments() {
  try {
    const known = {
      out: { type: 'string' },
      core: { type: 'string', default: 'in-order' },
      cores: { type: 'string', default: '1' },
      threads: { type: 'string', default: '1' },
      build: { type: 'string' },
    };
    const { values, positionals: rest } = parseArgs({ options: known, allowPositionals: true });
    const cores = Number(values.cores);
    if (![1, 2, 3, 4].includes(cores)) throw new Error(`--cores ${values.cores}: there are 1 to 4`);
    const { core } = values;
    if (core !== 'in-order' && core !== 'o3') throw new Error(`--core ${core}: there are in-order and o3`);
    if (core === 'o3' && cores > 1) throw new Error('--core o3 goes with one core');
    const threads = Number(values.threads);
    if (!Number.isInteger(threads) || threads < 1) throw new Error(`--threads ${values.threads}: at least 1`);
    if (threads > 1 && cores === 1) throw new Error('--threads goes with --cores 2 to 4');
    const folder = core === 'o3' ? 'out/o3' : cores > 1 ? `out/cores${cores}` : 'out';
    return {
      options: { core, cores, threads, build: values.build, out: values.out ?? join(here, folder) },
      positionals: rest,
    };
  } catch (error) {
    process.stderr.write(
      `${error.message}\nusage: demo.mjs [--core o3] [--cores N] [--threads T] [--build NAME] [--out DIR] [-- SIMULATOR ARGUMENTS]\n`,
    );
    process.exit(2);
  }
}

function summary(audit, traceFile, seconds) {
  const { counters } = audit;
  const count = (value) => Number(value).toLocaleString('en-US');
  const percent = (part, whole) => `${((100 * Number(part)) / Number(whole)).toFixed(1)} %`;
  const bytes = statSync(traceFile).size;
  const name = relative(process.cwd(), traceFile) || traceFile;
  const uscope = `node ${relative(process.cwd(), cli)}`;
  const rows = [
    ['cycles', count(counters.cycles)],
    [
      'instructions',
      `${count(counters.committed_insns)} retired, IPC ${ratio(counters.committed_insns, counters.cycles, 3)}`,
    ],
    [
      'prediction',
      `${count(counters.mispredicts)} mispredicts in ${count(counters.branches)} branches and ${count(counters.jumps)} jumps (${percent(counters.mispredicts, counters.branches + counters.jumps)})`,
    ],
    [
      'squashed',
      `${count(counters.squashed_insns)} instructions (${percent(counters.squashed_insns, counters.fetched_insns)} of those fetched)`,
    ],
    [
      'caches',
      `${count(counters.icache_misses)} instruction misses (${percent(counters.icache_misses, counters.fetched_insns)}), ${count(counters.dcache_misses)} data misses (${percent(counters.dcache_misses, counters.dcache_accesses)})`,
    ],
    [
      'memory',
      `${count(counters.loads)} loads, ${count(counters.loads_forwarded)} of them from the store buffer, ${count(counters.stores)} stores`,
    ],
    ['traps', `${count(counters.exceptions)} exceptions, ${count(counters.interrupts)} timer interrupts`],
    [
      'trace',
      `${count(audit.items)} items in ${count(audit.frames)} cycles, ${count(audit.dependencies)} dependencies`,
    ],
    ['on disk', `${(bytes / 1e6).toFixed(1)} MB, ${ratio(bytes, audit.items, 2)} bytes per item`],
    ['run', `${seconds.toFixed(1)} s, simulator and daemon together`],
  ];
  const table = rows.map(([label, text]) => `  ${label.padEnd(14)}${text}\n`).join('');
  const last = BigInt(counters.cycles) * 1000n;
  return `
${table}
Cycles in which a stage waits, by reason:

${stallBars(counters)}
Every counter and all 32 registers read from the trace equal the core's own.
Each of the ${count(audit.born)} instructions fetched ends retired or squashed.

Try next:
  ${uscope} info ${name}
  ${uscope} timeline ${name} --cycles 200000:200050
  ${uscope} events ${name} --from 0 --to 20000
  ${uscope} state ${name} --at ${last}
  ${uscope} dump ${name} --jsonl --from 100000 --to 105000
`;
}

/** One row per reason, the most frequent first. */
function stallBars(counters) {
  const width = 40;
  const reasons = Object.entries(counters)
    .filter(([name]) => name.startsWith('stalls_'))
    .map(([name, cycles]) => ({
      reason: name.slice('stalls_'.length).replaceAll('_', ' '),
      cycles: Number(cycles),
    }))
    .filter(({ cycles }) => cycles > 0)
    .sort((a, b) => b.cycles - a.cycles);
  const most = Math.max(1, reasons[0]?.cycles ?? 0);
  const row = ({ reason, cycles }) => {
    const share = `${((100 * cycles) / Number(counters.cycles)).toFixed(1)} %`.padStart(7);
    const bar = '#'.repeat(Math.round((width * cycles) / most));
    return `  ${reason.padEnd(20)}${cycles.toLocaleString('en-US').padStart(8)}${share}  ${bar}`.trimEnd();
  };
  return `${reasons.map(row).join('\n')}\n`;
}

function ratio(part, whole, digits) {
  return (Number(part) / Number(whole)).toFixed(digits);
}
