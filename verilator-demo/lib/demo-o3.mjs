/** The demo with the out-of-order core: runs it under `uscope run`, reads the trace back, checks it, and sums up. */
import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { cli, failWith, here, reader, requireBuilt, runTraced, simulatorOf } from './demo-run.mjs';
import { auditO3, compareO3 } from './o3-audit.mjs';

const SLOTS = ['retiring', 'bad_speculation', 'frontend', 'backend_memory', 'backend_core', 'idle'];

export async function runO3({ build }, out, simulatorArguments) {
  const simulator = simulatorOf('obj_dir_o3', build);
  const traceFile = join(out, 'core0.uscope');
  const reportFile = join(out, 'report.json');
  requireBuilt(simulator, 'make -C verilator-demo o3', build);
  requireBuilt(reader, 'npm run build');

  // What is left of an earlier run must not be taken for this one's.
  mkdirSync(out, { recursive: true });
  for (const file of [traceFile, reportFile]) rmSync(file, { force: true });
  runTraced(out, ['--schema', join(here, 'o3.yaml')], simulator, [
    `+report=${reportFile}`,
    ...simulatorArguments,
  ]);

  const report = JSON.parse(readFileSync(reportFile, 'utf8'));
  const { openTraceFile } = await import(reader);
  const trace = await openTraceFile(traceFile);
  const audit = await auditO3(trace);
  const differences = compareO3(audit, report);
  if (!trace.isComplete) differences.push('the trace is not complete');
  await trace.close();
  if (differences.length > 0) failWith('The trace and the core disagree', differences);
  process.stdout.write(summary(audit, traceFile));
}

function summary(audit, traceFile) {
  const counters = Object.fromEntries(
    Object.entries(audit.counters).map(([name, value]) => [name, Number(value)]),
  );
  const count = (value) => value.toLocaleString('en-US');
  const percent = (part, whole) => `${((100 * part) / whole).toFixed(1)} %`;
  const { cycles, committed_insns: committed, stalls_wait_for_interrupt: asleep } = counters;
  const bytes = statSync(traceFile).size;
  const most = Object.entries(audit.most).map(([name, entries]) => `${name.replaceAll('_', ' ')} ${entries}`);
  const rows = [
    ['cycles', `${count(cycles)}, ${count(asleep)} of them waiting for an interrupt`],
    [
      'instructions',
      `${count(committed)} retired, IPC ${(committed / (cycles - asleep)).toFixed(3)} over the other cycles`,
    ],
    [
      'prediction',
      `${count(counters.mispredicts)} mispredicts in ${count(counters.branches)} branches and ${count(counters.jumps)} jumps`,
    ],
    [
      'squashed',
      `${count(counters.squashed_insns)} instructions (${percent(counters.squashed_insns, counters.fetched_insns)} of those fetched)`,
    ],
    [
      'memory',
      `${count(counters.loads)} loads, ${count(counters.loads_forwarded)} from the store queue, ${count(counters.order_violations)} ahead of a store to their address`,
    ],
    [
      'replays',
      `${count(counters.replays)} instructions issued in vain, ${count(counters.load_retries)} loads that came again`,
    ],
    ['traps', `${count(counters.exceptions)} exceptions, ${count(counters.interrupts)} timer interrupts`],
    ['at most', most.join(', ')],
    [
      'trace',
      `${count(audit.items)} items in ${count(audit.frames)} cycles, ${count(audit.dependencies)} dependencies`,
    ],
    ['on disk', `${(bytes / 1e6).toFixed(1)} MB, ${(bytes / audit.items).toFixed(2)} bytes per item`],
  ];
  const slots = SLOTS.map(
    (name) =>
      `  ${name.replaceAll('_', ' ').padEnd(20)}${percent(counters[`slots_${name}`], 2 * cycles).padStart(8)}\n`,
  );
  const uscope = `node ${relative(process.cwd(), cli)}`;
  const name = relative(process.cwd(), traceFile) || traceFile;
  return `
${rows.map(([label, text]) => `  ${label.padEnd(14)}${text}\n`).join('')}
Dispatch slots, two in each cycle:

${slots.join('')}
Every counter and all 32 registers read from the trace equal the core's own.
Each of the ${count(audit.born)} instructions fetched ends retired or squashed.

Try next:
  ${uscope} timeline ${name} --cycles 50000:50040
  ${uscope} stats ${name}
  ${uscope} state ${name} --cycle 50000
  ${uscope} verify ${name}
`;
}
