/**
 * What a trace costs on a core, next to the text tracer that comes with the core, a text log of its pins, and waveforms: processor time of the
 * simulator (user and system, all its threads, until everything is written and closed) and bytes per cycle. The daemon, which compresses a
 * trace, is another process: its time is given separately.
 */
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { childrenSeconds } from '../../../scripts/processor-time.mjs';
import { run } from './commands.mjs';
import { writeListing } from './listing.mjs';
import { buildProgram } from './program.mjs';
import { buildSimulator, hasPipeline, traced } from './simulator.mjs';

const RUNS = 5;
const WAVEFORM_RUNS = 2;
/** Long enough that starting does not count; a waveform of that would be some 10 GB. */
const CYCLES = 2_000_000;
const WAVEFORM_CYCLES = 200_000;

/** @param cycles those of a run of `rounds` rounds, which say how long a round is */
export function measure(core, sources, work, { cycles, rounds }) {
  const programs = [CYCLES, WAVEFORM_CYCLES].map((wanted) => {
    const folder = join(work, `program_${wanted}`);
    mkdirSync(folder, { recursive: true });
    return buildProgram(core, folder, Math.max(1, Math.round((wanted * rounds) / cycles)));
  });
  const ways = waysOf(core, sources, programs, work);
  try {
    const results = alternate(ways);
    for (const result of Object.values(results)) addRatios(result, results.untraced);
    return results;
  } finally {
    for (const file of files(work)) rmSync(file, { force: true });
  }
}

const files = (work) =>
  ['cost.log', 'own.log', 'waveform.fst', 'waveform.vcd'].map((name) => join(work, name));

/** By name: runs once, and gives cycles, seconds, bytes, and for texts the bytes that zstd makes of them. */
function waysOf(core, sources, [program, short], work) {
  const [log, own, fst, vcd] = files(work);
  const plain = buildSimulator(core, sources, work, 'plain');
  const text = (simulator, args, file) => () => ({
    ...execute(simulator, program, args, work),
    bytes: statSync(file).size,
    file,
  });
  const trace = (simulator, kind, ...options) => {
    const observed = (image) =>
      withDaemon(() => {
        const result = traced(simulator, core, image, join(work, 'cost'), { kind, logs: false, options });
        return { ...result, bytes: statSync(result.trace).size };
      });
    return () => {
      const start = observed(short);
      const whole = observed(program);
      // Starting the daemon is in both.
      const daemon = (whole.daemon - start.daemon) / (whole.cycles - start.cycles);
      return { ...whole, daemonNs: Math.max(0, 1e9 * daemon) };
    };
  };
  const withTracer = buildSimulator(core, sources, work, 'traced');
  const ways = {
    untraced: () => ({ ...execute(plain, program, [], work), bytes: 0 }),
    retirement: trace(withTracer, 'traced'),
    'retirement --small': trace(withTracer, 'traced', '--small'),
  };
  if (hasPipeline(core))
    ways['full pipeline'] = trace(buildSimulator(core, sources, work, 'pipeline'), 'pipeline');
  if (core.ownTracer) ways['own tracer'] = ownTracer(core, sources, work, text, own);
  ways['log of the pins'] = text(plain, [`+log=${log}`], log);
  for (const [kind, file] of Object.entries({ fst, vcd })) {
    const simulator = buildSimulator(core, sources, work, kind);
    ways[kind.toUpperCase()] = () => ({
      ...execute(simulator, short, [], work, { WAVEFORM: file }),
      bytes: statSync(file).size,
    });
  }
  return ways;
}

/** `daemon`: seconds of processor time of everything that ran except the simulator. */
function withDaemon(way) {
  const before = childrenSeconds();
  const result = way();
  return { ...result, daemon: childrenSeconds() - before - result.seconds };
}

function ownTracer(core, sources, work, text, file) {
  const { arguments: given, writes } = core.ownTracer;
  const listing = given.some((one) => one.includes('LISTING'))
    ? writeListing(core, join(work, `program_${CYCLES}`))
    : '';
  const args = given.map((one) => one.replace('FILE', file).replace('LISTING', listing));
  return text(buildSimulator(core, sources, work, 'own'), args, writes.replace('FILE', file));
}

function execute(simulator, program, args, work, env = {}) {
  const printed = run(simulator, [`+program=${program}`, ...args], {
    cwd: work,
    env: { ...process.env, ...env },
  });
  return JSON.parse(printed.split('\n').findLast((line) => line.startsWith('{')));
}

/** The fastest of some runs, one way after the other, so that a machine that slows down slows all of them. */
function alternate(ways) {
  const results = {};
  for (let i = 0; i < RUNS; i++) {
    for (const [name, way] of Object.entries(ways)) {
      if (i >= WAVEFORM_RUNS && (name === 'FST' || name === 'VCD')) continue;
      const { cycles, seconds, bytes, file, daemonNs } = way();
      if (i === 0 && file) results[name] = { packed: zstdSize(file) / cycles };
      if (daemonNs !== undefined)
        results[name] = {
          ...results[name],
          daemonNs: Math.min(daemonNs, results[name]?.daemonNs ?? Infinity),
        };
      if (i > 0 && seconds >= results[name].seconds) continue;
      results[name] = { ...results[name], cycles, seconds, bytes };
    }
  }
  return results;
}

function addRatios(result, base) {
  result.nsPerCycle = (1e9 * result.seconds) / result.cycles;
  result.added = result.nsPerCycle - (1e9 * base.seconds) / base.cycles;
  result.time = (result.seconds * base.cycles) / (result.cycles * base.seconds);
  result.bytesPerCycle = result.bytes / result.cycles;
}

function zstdSize(file) {
  const packed = `${file}.zst`;
  run('zstd', ['-q', '-f', '-o', packed, file]);
  const { size } = statSync(packed);
  rmSync(packed);
  return size;
}
