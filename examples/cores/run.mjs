#!/usr/bin/env node
/**
 * Public cores under µScope: fetches their sources from PyPI, builds each with Verilator, runs a program on it with a trace and with an
 * independent log of the same pins, and compares both, instruction by instruction.
 *
 *   node examples/cores/run.mjs [CORE...] [--work DIR] [--cost] [--cocotb] [--rounds N] [--quick] [--json]
 *
 * None of the sources enters this repository; they stay in DIR, by default examples/cores/build. Exit status: 0 no difference, 1 differences or
 * a core that does not build, 2 wrong arguments, 3 PyPI or a compiler is out of reach.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { followFromPython } from './lib/cocotb.mjs';
import { here, Unavailable } from './lib/commands.mjs';
import { compare } from './lib/compare.mjs';
import { measure } from './lib/cost.mjs';
import { columns, costTable } from './lib/cost-table.mjs';
import { buildProgram } from './lib/program.mjs';
import { buildSimulator, hasPipeline, traced } from './lib/simulator.mjs';
import { fetchSources, readCore } from './lib/sources.mjs';

const CORES = ['picorv32', 'serv', 'ibex', 'cv32e40x', 'mor1kx', 'cva6'];

const options = readArguments();
const rows = [];
for (const id of options.cores) rows.push(await runCore(id));
if (options.json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
else process.stdout.write(table(rows));
const unavailable = rows.some((row) => row.unavailable);
process.exitCode = rows.some((row) => row.failure || row.differences > 0) ? 1 : unavailable ? 3 : 0;

async function runCore(id) {
  const core = { ...readCore(id), quick: options.quick };
  const work = join(options.work, id);
  mkdirSync(work, { recursive: true });
  const row = { core: core.name, builds: false, differences: null };
  try {
    const sources = fetchSources(core, options.work);
    const program = buildProgram(core, work, options.rounds);
    const simulator = buildSimulator(core, sources, work, 'traced');
    row.builds = true;
    const run = traced(simulator, core, program, work);
    const result = await compare(run.trace, run.log);
    Object.assign(row, { cycles: run.cycles, result: run.result, ...result });
    if (hasPipeline(core)) await addPipeline(row, core, sources, program, work);
    if (options.cocotb && core.cocotb)
      await addCocotb(row, core, sources, work, { image: program, environments: options.work }, run.log);
    if (options.cost) row.cost = measure(core, sources, work, { one: run, rounds: options.rounds });
  } catch (error) {
    row[error instanceof Unavailable ? 'unavailable' : 'failure'] = error.message;
  }
  writeFileSync(join(work, 'row.json'), JSON.stringify(row));
  process.stderr.write(
    `${core.name}: ${row.failure ?? row.unavailable ?? `${row.differences} differences`}\n`,
  );
  return row;
}

/** The same program with stages and buffers recorded: what retires, and what each cycle was. */
async function addPipeline(row, core, sources, program, work) {
  const kind = 'pipeline';
  const run = traced(buildSimulator(core, sources, work, kind), core, program, work, { kind });
  const { differences, cycleFacts, shown, bytesPerInstruction } = await compare(run.trace, run.log, {
    cyclesFile: run.cyclesLog,
  });
  row.pipeline = { differences, cycleFacts, bytesPerInstruction };
  row.differences += differences;
  row.shown.push(...shown);
}

/** The first part of the program again, on Icarus, its RVFI followed from Python. */
async function addCocotb(row, core, sources, work, programs, log) {
  row.cocotb = await followFromPython(core, sources, work, programs, log);
  for (const { differences, shown } of Object.values(row.cocotb)) {
    row.differences += differences;
    row.shown.push(...shown);
  }
}

function readArguments() {
  const known = {
    work: { type: 'string', default: join(here, 'build') },
    cost: { type: 'boolean', default: false },
    cocotb: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '2' },
    json: { type: 'boolean', default: false },
    // Compiles without optimization: sooner done where the run is short.
    quick: { type: 'boolean', default: false },
  };
  try {
    const { values, positionals } = parseArgs({ options: known, allowPositionals: true });
    const unknown = positionals.find((name) => !CORES.includes(name));
    if (unknown) throw new Error(`${unknown} is not a core: ${CORES.join(', ')}`);
    const rounds = Number(values.rounds);
    if (!Number.isInteger(rounds) || rounds < 1 || rounds > 10_000)
      throw new Error(`--rounds ${values.rounds}: 1 to 10000`);
    return {
      ...values,
      rounds,
      work: resolve(values.work),
      cores: positionals.length > 0 ? positionals : CORES,
    };
  } catch (error) {
    process.stderr.write(
      `${error.message}\nusage: run.mjs [CORE...] [--work DIR] [--cost] [--cocotb] [--rounds N] [--quick] [--json]\n`,
    );
    process.exit(2);
  }
}

function count(value) {
  return value == null ? '-' : value.toLocaleString('en-US');
}

function table(rows) {
  const ratio = (value) => (value == null ? '-' : `${value.toFixed(2)}x`);
  const bytes = (value) => (value == null ? '-' : value.toFixed(2));
  const head = [
    'core',
    'builds',
    'cycles',
    'instructions',
    'registers',
    'traps',
    'interrupts',
    'violations',
    'pipeline',
    'differences',
    'time',
    'bytes/insn',
  ];
  const lines = rows.map((row) => [
    row.core,
    row.builds ? 'yes' : 'no',
    count(row.cycles),
    count(row.instructions),
    count(row.registers),
    count(row.traps),
    count(row.interrupts),
    count(row.violations),
    count(row.pipeline?.cycleFacts),
    row.failure || row.unavailable
      ? (row.failure ?? row.unavailable).split('\n')[0].slice(0, 60)
      : count(row.differences),
    ratio(row.cost?.retirement.time),
    bytes(row.bytesPerInstruction),
  ]);
  return `\n${columns([head, ...lines])}${rows.map(cocotbLines).join('')}${costTable(rows)}`;
}

function cocotbLines({ core, cocotb }) {
  const lines = Object.entries(cocotb ?? {}).map(
    ([version, { instructions, differences }]) =>
      `${core} on Icarus with cocotb ${version}: ${count(instructions)} instructions, ${count(differences)} differences\n`,
  );
  return lines.length > 0 ? `\n${lines.join('')}` : '';
}
