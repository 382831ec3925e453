#!/usr/bin/env node
/**
 * The demo: runs the core on Verilator under `uscope run`, reads the trace back, checks it against what the core counted
 * itself, and sums up. Everything must be built (`npm run demo` in the root does that first).
 * `node verilator-demo/demo.mjs --help` says what the arguments mean; lib/demo-o3.mjs and lib/demo-soc.mjs are its other forms.
 *
 * Exit status: 0, or that of `uscope run`, or 1 when trace and core disagree, or 2 for wrong arguments.
 */
import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { readArguments } from './lib/arguments.mjs';
import { auditTrace, compareWithReport } from './lib/audit.mjs';
import { runO3 } from './lib/demo-o3.mjs';
import { cli, failWith, reader, requireBuilt, runTraced, schema, simulatorOf } from './lib/demo-run.mjs';
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
  ${uscope} view ${name}
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
