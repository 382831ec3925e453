/**
 * The demo with several cores on one memory: runs them under `uscope run`, one trace per core and one of the interconnect,
 * checks each trace against what the RTL counted, merges all into one file and sums up.
 */
import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { auditTrace, compareWithReport } from './audit.mjs';
import {
  cli,
  failWith,
  here,
  reader,
  requireBuilt,
  runTraced,
  schema,
  simulatorOf,
  uscope,
} from './demo-run.mjs';
import { auditNoc, compareNocWithReport } from './noc-audit.mjs';

const nocSchema = join(here, 'noc.yaml');
/** Cycles of the timelines printed. */
const WINDOW = 16;

/** Ends the process with a status when anything is wrong. */
export async function runSoc({ cores, threads, build }, out, simulatorArguments) {
  const suffixes = [build, threads > 1 ? `threads${threads}` : undefined].filter(Boolean);
  const simulator = simulatorOf('obj_dir_soc', suffixes.join('_'), 'Vsoc');
  requireBuilt(simulator, `make -C verilator-demo soc${threads > 1 ? ` THREADS=${threads}` : ''}`, build);
  requireBuilt(reader, 'npm run build');
  const names = [...Array.from({ length: cores }, (_, core) => `core${core}`), 'noc'];
  const files = names.map((name) => join(out, `${name}.uscope`));
  const merged = join(out, 'soc.uscope');
  const reportFile = join(out, 'report.json');
  mkdirSync(out, { recursive: true });
  for (const file of [...files, merged, reportFile]) rmSync(file, { force: true });

  const started = process.hrtime.bigint();
  const schemas = [`+schema=${schema}`, `+noc-schema=${nocSchema}`];
  runTraced(out, [], simulator, [
    `+cores=${cores}`,
    `+report=${reportFile}`,
    ...schemas,
    ...simulatorArguments,
  ]);
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;

  const report = JSON.parse(readFileSync(reportFile, 'utf8'));
  const { audits, noc, differences } = await check(files, report);
  if (differences.length > 0) failWith('The traces and the RTL disagree', differences);
  uscope('merge', ...files, '-o', merged);
  uscope('verify', merged);
  const stats = JSON.parse(uscope('stats', merged, '--points', '0', '--json')).cores;
  process.stdout.write(summary({ cores, files, merged, report, audits, noc, stats, seconds }));
}

async function check(files, report) {
  const { openTraceFile } = await import(reader);
  const differences = [];
  const audits = [];
  let noc;
  for (const [index, file] of files.entries()) {
    const trace = await openTraceFile(file);
    if (!trace.isComplete) differences.push(`${file} is not complete`);
    if (index < files.length - 1) {
      const audit = await auditTrace(trace, undefined, `core${index}`);
      audits.push(audit);
      const wrong = compareWithReport(audit, report.cores[index]);
      differences.push(...wrong.map((line) => `core${index} ${line}`));
    } else {
      noc = await auditNoc(trace);
      differences.push(...compareNocWithReport(noc, report));
    }
    await trace.close();
  }
  return { audits, noc, differences };
}

const count = (value) => Number(value).toLocaleString('en-US');
const share = (part, whole) => (whole ? `${((100 * Number(part)) / Number(whole)).toFixed(1)} %` : '-');

function summary({ cores, files, merged, report, audits, noc, stats, seconds }) {
  const items = audits.reduce((sum, audit) => sum + audit.items, noc.items);
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  const busy = share(noc.counters.busy_cycles, noc.counters.cycles);
  const name = relative(process.cwd(), merged) || merged;
  const command = `node ${relative(process.cwd(), cli)}`;
  const { until, cycles: waited, port } = noc.longestWait;
  const from = Math.max(0, until - WINDOW / 2);
  const window = `${from}:${from + WINDOW}`;
  return `
${cores} cores, ${count(report.cycles)} cycles, ${count(items)} items in ${files.length} traces, ${(bytes / 1e6).toFixed(1)} MB, ${seconds.toFixed(1)} s

${coreTable(report, stats)}
Memory is at work in ${busy} of the cycles: ${count(noc.counters.busy_cycles)}. ${opcodes(noc)}

${portTable(cores, report, noc)}
The request that waited longest, ${waited} cycles, was one of core${port}, granted in cycle ${until}. The cores around it:

${report.cores.map((_, core) => timeline(merged, core, window)).join('\n')}
Every counter and all registers read from the ${cores} traces equal the cores’ own; the interconnect's trace equals its counters.
Each of the ${count(noc.born)} transactions is queued, wins in its turn, is handed over to memory once, and ends.
${name} holds all of them; \`uscope verify\` finds no error in it.

Try next:
  ${command} stats ${name}
  ${command} timeline ${name} --core core1 --cycles ${window}
  ${command} counters ${name} --core core1
  ${command} buffers ${name} --buffer noc/queue0
  ${command} events ${name} --event noc/arb_decision --cycles ${window}
`;
}

/** One row per core. */
function coreTable(report, stats) {
  const head = [
    '',
    'cycles',
    'retired',
    'IPC',
    'stalled',
    'atomics',
    'mispredicts',
    'icache',
    'dcache misses',
  ];
  const rows = report.cores.map(({ counters }, core) => [
    `core${core}`,
    count(counters.cycles),
    count(stats[core].instructions.retired),
    (Number(counters.committed_insns) / Number(counters.cycles)).toFixed(3),
    share(stats[core].stalls.cycles, counters.cycles),
    count(counters.atomics),
    count(counters.mispredicts),
    count(counters.icache_misses),
    `${count(counters.dcache_misses)} (${share(counters.dcache_misses, counters.dcache_accesses)})`,
  ]);
  return table([head, ...rows]);
}

function portTable(cores, report, noc) {
  const head = [
    '',
    'requests',
    'lines',
    'writes',
    'atomics',
    'SC failed',
    'retries',
    'wait, mean',
    'longest',
    'invalidated',
  ];
  const rows = report.cores
    .slice(0, cores)
    .map(({ port }, core) => [
      `port${core}`,
      ...['requests', 'lines', 'writes', 'atomics', 'sc_failures', 'retries'].map((name) =>
        count(port[name]),
      ),
      (Number(port.wait_cycles) / Number(port.grants)).toFixed(2),
      count(noc.ports[core].maxWait),
      count(port.invalidations),
    ]);
  return table([head, ...rows]);
}

function table(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const line = (row) =>
    `  ${row.map((cell, column) => (column ? cell.padStart(widths[column]) : cell.padEnd(widths[0]))).join('  ')}\n`;
  return rows.map(line).join('');
}

function opcodes({ opcodeCounts }) {
  return Object.entries(opcodeCounts)
    .map(([opcode, times]) => `${count(times)} ${opcode.replace('_', ' ')}`)
    .join(', ');
}

/** The instructions of one core; the legend is left out. */
function timeline(file, core, window) {
  const lines = uscope('timeline', file, '--core', `core${core}`, '--cycles', window).trimEnd().split('\n');
  return `${[lines[0], ...lines.slice(3)].map((line) => `  ${line}`.trimEnd()).join('\n')}\n`;
}
