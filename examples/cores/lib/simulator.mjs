/** Builds a core's simulator with Verilator, and runs it with a trace and a log. */
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { here, root, run } from './commands.mjs';
import { filesOf } from './sources.mjs';

const SV = join(root, 'sv');
const LIBRARY = join(root, 'dpi/build/libuscope_dpi.a');
const CLI = join(root, 'sdk/bin/uscope.js');
const TRACER = ['uscope_pkg.sv', 'uscope_cpu_pkg.sv', 'uscope_rvfi_pkg.sv', 'uscope_rvfi.sv'].map((name) =>
  join(SV, name),
);

/** @param kind traced, plain (neither tracer nor waveform), vcd or fst */
export function buildSimulator(core, folder, work, kind) {
  const out = join(work, `obj_${kind}`);
  const program = join(out, 'Vtop');
  mkdirSync(out, { recursive: true });
  const includes = [...(core.include ?? []).map((name) => `-I${join(folder, name)}`), `-I${SV}`];
  const defines = [...core.defines, ...(kind === 'traced' ? ['USCOPE'] : [])].map((name) => `-D${name}`);
  const waveform = { vcd: ['--trace'], fst: ['--trace-fst'] }[kind] ?? [];
  const common = ['memory.sv', 'rvfi_log.sv'].map((name) => join(here, 'common', name));
  const sources = [
    ...(kind === 'traced' ? TRACER : []),
    ...filesOf(core, folder, work),
    ...common,
    join(here, core.id, 'top.sv'),
  ];
  const main = join(here, 'common/main.cpp');
  const inputs = [...sources, main, ...(kind === 'traced' ? [LIBRARY] : [])];
  if (isCurrent(program, inputs)) return program;
  const link = kind === 'traced' ? ['-LDFLAGS', `${LIBRARY} -lzmq -lpthread`] : [];
  // Warnings of the cores' sources are not ours; those of the tracer and of our own files are tested by `make lint`.
  const args = [
    '--cc',
    '--exe',
    '--build',
    '-j',
    '2',
    '-O3',
    '--x-assign',
    'fast',
    '--noassert',
    '-Wno-fatal',
    '-Wno-lint',
    '-Wno-style',
  ];
  const names = ['--prefix', 'Vtop', '--top-module', 'top', '--Mdir', out];
  try {
    run('verilator', [
      ...args,
      ...names,
      ...waveform,
      ...includes,
      ...defines,
      ...(core.verilator ?? []),
      ...link,
      ...sources,
      main,
    ]);
  } catch (error) {
    rmSync(program, { force: true });
    throw error;
  }
  return program;
}

function isCurrent(program, inputs) {
  if (!existsSync(program)) return false;
  const made = statSync(program).mtimeMs;
  return inputs.every((file) => statSync(file).mtimeMs <= made);
}

export function traced(simulator, program, work, withLog = true) {
  const out = join(work, 'traces');
  rmSync(out, { recursive: true, force: true });
  const log = join(work, 'rvfi.log');
  const schema = join(SV, 'uscope_rvfi.yaml');
  const command = [
    'run',
    '--schema',
    schema,
    '--out',
    out,
    '--',
    simulator,
    `+program=${program}`,
    ...(withLog ? [`+log=${log}`] : []),
  ];
  const printed = run(process.execPath, [CLI, ...command]);
  const summary = JSON.parse(printed.split('\n').find((line) => line.startsWith('{')));
  if (!summary.done) throw new Error('the program did not end');
  return { ...summary, trace: join(out, 'core0.uscope'), log };
}
