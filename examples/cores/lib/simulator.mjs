/** Builds a core's simulator with Verilator, and runs it with a trace and a log. */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { here, root, run } from './commands.mjs';
import { filesOf } from './sources.mjs';

const SV = join(root, 'sv');
const LIBRARY = join(root, 'dpi/build/libuscope_dpi.a');
/** What a simulator with a tracer is linked with. */
export const LIBRARIES = [LIBRARY, '-lzmq', '-lpthread'];
const CLI = join(root, 'sdk/bin/uscope.js');
const TRACER = ['uscope_pkg.sv', 'uscope_cpu_pkg.sv', 'uscope_rvfi_pkg.sv', 'uscope_rvfi.sv'].map((name) =>
  join(SV, name),
);

const PIPELINE = [
  ...TRACER.slice(0, 3),
  ...['retirement_pkg.sv', 'mirror_pkg.sv'].map((name) => join(here, 'common', name)),
];
/** Macros that choose what a build has besides the core and its memory. */
const DEFINES = { traced: ['USCOPE'], pins: ['USCOPE'], pipeline: ['PIPELINE_LOG'], bare: ['NO_LOG'] };
const WAVEFORMS = { vcd: ['--trace'], fst: ['--trace-fst'] };
// Warnings of the cores' sources are not ours.
const OPTIONS =
  '--cc --exe --build -j 2 -O3 --x-assign fast --noassert -Wno-fatal -Wno-lint -Wno-style --prefix Vtop --top-module top';

const QUICK = ['-MAKEFLAGS', 'OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0'];
/** Verilator's makefile compiles for size by default, also what writes waveforms. */
const FAST = ['-MAKEFLAGS', 'OPT_FAST=-O2 OPT_GLOBAL=-O2'];

/** Records stages, stalls and buffers, too: the core's folder has a tracer for them. */
export const hasPipeline = (core) => existsSync(join(here, core.id, 'pipeline.sv'));

const pipelineFiles = ({ id }) =>
  ['common/log_pkg.sv', `${id}/pipeline.sv`, `${id}/pipeline_log.sv`].map((name) => join(here, name));

/**
 * @param kind traced (retirement), pipeline, plain (neither tracer nor waveform), own (the core's own text tracer), vcd or fst; bare (nothing reads the
 *   core's formal interface) and pins (all of it is read, and nothing recorded): how much of a trace's time is the interface's
 */
export function buildSimulator(core, folder, work, kind) {
  const out = join(work, `obj_${kind}`);
  const program = join(out, 'Vtop');
  mkdirSync(out, { recursive: true });
  const isTraced = kind === 'traced' || kind === 'pipeline';
  const own = kind === 'own' ? core.ownTracer : {};
  const includes = [...(core.include ?? []), ...(own.include ?? [])].map((name) => `-I${join(folder, name)}`);
  const defines = [...core.defines, ...(own.defines ?? []), ...(DEFINES[kind] ?? [])];
  const sources = [
    ...({ traced: TRACER, pipeline: PIPELINE, pins: [pinsModule(work)] }[kind] ?? []),
    ...filesOf({ ...core, patched: { ...core.patched, ...own.patched } }, folder, work),
    ...(own.sources ?? []).map((name) => join(folder, name)),
    ...['memory.sv', 'rvfi_log.sv'].map((name) => join(here, 'common', name)),
    ...[...(core.after ?? []), 'top.sv'].map((name) => join(here, core.id, name)),
    ...(kind === 'pipeline' ? pipelineFiles(core) : []),
    ...(kind === 'own' && core.ownTracer.local ? [join(here, core.id, core.ownTracer.local)] : []),
  ];
  const main = join(here, 'common/main.cpp');
  const inputs = [...sources, main, ...(isTraced ? [LIBRARY] : [])];
  if (isCurrent(program, inputs)) return program;
  try {
    run('verilator', [
      ...OPTIONS.split(' '),
      '--Mdir',
      out,
      ...(WAVEFORMS[kind] ?? []),
      ...includes,
      `-I${SV}`,
      ...defines.map((name) => `-D${name}`),
      ...(core.verilator ?? []),
      ...(core.quick ? QUICK : FAST),
      ...(isTraced ? ['-LDFLAGS', LIBRARIES.join(' ')] : []),
      ...sources,
      main,
    ]);
  } catch (error) {
    rmSync(program, { force: true });
    throw error;
  }
  return program;
}

/** A module with the ports of uscope_rvfi that reads them all and records nothing. Written again only when it differs, for `isCurrent`. */
export function pinsModule(work) {
  const tracer = readFileSync(join(SV, 'uscope_rvfi.sv'), 'utf8');
  const head = /^module uscope_rvfi #\([\s\S]*?^\);\n/m.exec(tracer)?.[0];
  if (!head) throw new Error('sv/uscope_rvfi.sv has no module of that name with parameters and ports');
  const text = head + readFileSync(join(here, 'common/rvfi_pins.inc'), 'utf8');
  const file = join(work, 'rvfi_pins.sv');
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
  return file;
}

function isCurrent(program, inputs) {
  if (!existsSync(program)) return false;
  const made = statSync(program).mtimeMs;
  return inputs.every((file) => statSync(file).mtimeMs <= made);
}

/** Runs a program with a trace. `logs`: the texts that the trace is compared with, too. */
export function traced(simulator, core, program, work, { kind = 'traced', logs = true, options = [] } = {}) {
  const out = join(work, `traces_${kind}`);
  rmSync(out, { recursive: true, force: true });
  const log = join(work, `${kind}.log`);
  const cyclesLog = join(work, 'cycles.log');
  const schema = kind === 'pipeline' ? join(here, core.id, 'pipeline.yaml') : join(SV, 'uscope_rvfi.yaml');
  const wanted = [`+log=${log}`, ...(kind === 'pipeline' ? [`+cycles=${cyclesLog}`] : [])];
  const command = [
    'run',
    '--schema',
    schema,
    '--out',
    out,
    ...options,
    '--',
    simulator,
    `+program=${program}`,
  ];
  // Some cores write files where they run.
  mkdirSync(work, { recursive: true });
  const printed = run(process.execPath, [CLI, ...command, ...(logs ? wanted : [])], { cwd: work });
  const summary = JSON.parse(printed.split('\n').find((line) => line.startsWith('{')));
  if (!summary.done) throw new Error('the program did not end');
  return { ...summary, trace: join(out, 'core0.uscope'), log, cyclesLog };
}
