/**
 * What a trace costs on a core, next to the text tracer that comes with the core, a text log of its pins, and waveforms: processor time of the
 * simulator (user and system, all its threads, until everything is written and closed) and bytes per cycle. The daemon, which compresses a
 * trace, is another process: its time is given separately.
 */
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { childrenSeconds } from '../../../scripts/processor-time.mjs';
import { run } from './commands.mjs';
import { layoutsOf } from './layouts.mjs';
import { writeListing } from './listing.mjs';
import { buildProgram } from './program.mjs';
import { buildSimulator, hasPipeline, LIBRARIES, traced } from './simulator.mjs';

/** Each model is linked in that number of ways. Each of these runs once, that of a slow core twice. */
const LAYOUTS = 5;
const WAVEFORM_RUNS = 2;
/** Seconds that are long enough, so that starting does not count; a waveform of that would be some 10 GB. */
const CYCLES = { fast: 2_000_000, slow: 500_000 };
const SLOW_NS = 500;
const WAVEFORM_CYCLES = 200_000;

/** @param one a run of `rounds` rounds, which says how long a round is */
export function measure(core, sources, work, { one: { cycles, seconds }, rounds }) {
  const isSlow = (1e9 * seconds) / cycles >= SLOW_NS;
  const length = isSlow ? CYCLES.slow : CYCLES.fast;
  const programs = [length, WAVEFORM_CYCLES].map((wanted) => {
    const folder = join(work, `program_${wanted}`);
    mkdirSync(folder, { recursive: true });
    return {
      folder,
      image: buildProgram(core, folder, Math.max(1, Math.round((wanted * rounds) / cycles))),
    };
  });
  const ways = waysOf(core, sources, programs, work);
  try {
    const results = alternate(ways, isSlow ? 2 * LAYOUTS : LAYOUTS);
    for (const result of Object.values(results)) addRatios(result, results.untraced);
    return results;
  } finally {
    for (const file of files(work)) rmSync(file, { force: true });
  }
}

const files = (work) =>
  ['cost.log', 'own.log', 'waveform.fst', 'waveform.vcd'].map((name) => join(work, name));

/** By name: runs one layout once, and gives cycles, seconds, bytes, and for texts the bytes that zstd makes of them. */
function waysOf(core, sources, [program, short], work) {
  const [log, own, fst, vcd] = files(work);
  const layouts = (kind, libraries) =>
    layoutsOf(buildSimulator(core, sources, work, kind), LAYOUTS, libraries);
  const plain = layouts('plain');
  const silent = (simulators) => (layout) => ({
    ...execute(simulators[layout], program.image, [], work),
    bytes: 0,
  });
  const text = (simulators, args, file) => (layout) => ({
    ...execute(simulators[layout], program.image, args, work),
    bytes: statSync(file).size,
    file,
  });
  const trace = (simulators, kind, ...options) => {
    const observed = (simulator, image) =>
      withDaemon(() => {
        const result = traced(simulator, core, image, join(work, 'cost'), { kind, logs: false, options });
        return { ...result, bytes: statSync(result.trace).size };
      });
    return (layout) => {
      const start = observed(simulators[layout], short.image);
      const whole = observed(simulators[layout], program.image);
      // Starting the daemon is in both.
      const daemon = (whole.daemon - start.daemon) / (whole.cycles - start.cycles);
      return { ...whole, daemonNs: 1e9 * daemon };
    };
  };
  const withTracer = layouts('traced', LIBRARIES);
  const ways = {
    'core alone': silent(layouts('bare')),
    untraced: silent(plain),
    'pins alone': silent(layouts('pins')),
    retirement: trace(withTracer, 'traced'),
    'retirement --small': trace(withTracer, 'traced', '--small'),
  };
  if (hasPipeline(core)) ways['full pipeline'] = trace(layouts('pipeline', LIBRARIES), 'pipeline');
  if (core.ownTracer) {
    const { args, file } = ownTracer(core, program, own);
    ways['own tracer'] = text(layouts('own'), args, resolve(work, file));
  }
  ways['log of the pins'] = text(plain, [`+log=${log}`], log);
  for (const [kind, file] of Object.entries({ fst, vcd })) {
    const simulator = buildSimulator(core, sources, work, kind);
    ways[kind.toUpperCase()] = () => ({
      ...execute(simulator, short.image, [], work, { WAVEFORM: file }),
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

/** Its arguments, and the file that it writes. */
function ownTracer(core, { folder }, file) {
  const { arguments: given, writes } = core.ownTracer;
  const listing = given.some((one) => one.includes('LISTING')) ? writeListing(core, folder) : '';
  return {
    args: given.map((one) => one.replace('FILE', file).replace('LISTING', listing)),
    file: writes.replace('FILE', file),
  };
}

function execute(simulator, program, args, work, env = {}) {
  const printed = run(simulator, [`+program=${program}`, ...args], {
    cwd: work,
    env: { ...process.env, ...env },
  });
  return JSON.parse(printed.split('\n').findLast((line) => line.startsWith('{')));
}

/**
 * One way after the other, so that a machine that slows down slows all of them. The time is the median of the layouts, each with the faster of its
 * runs; of a waveform, that of the faster run.
 */
function alternate(ways, runs) {
  const results = {};
  const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  const daemons = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let i = 0; i < runs; i++) {
    for (const [name, way] of Object.entries(ways)) {
      const isWaveform = name === 'FST' || name === 'VCD';
      if (isWaveform && i >= WAVEFORM_RUNS) continue;
      const layout = isWaveform ? 0 : i % LAYOUTS;
      const { cycles, seconds, bytes, file, daemonNs } = way(layout);
      times[name][layout] = Math.min(seconds, times[name][layout] ?? Infinity);
      results[name] = { ...results[name], cycles, bytes };
      if (i === 0 && file) results[name].packed = zstdSize(file) / cycles;
      if (daemonNs !== undefined) daemons[name].push(daemonNs);
    }
  }
  for (const [name, result] of Object.entries(results)) {
    Object.assign(result, middle(times[name]));
    if (daemons[name].length > 0) result.daemonNs = Math.max(0, middle(daemons[name]).seconds);
  }
  return results;
}

/** `spread`: from the middle to the ends, as a part of it; null of one time. */
export function middle(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const seconds = sorted[Math.floor(sorted.length / 2)];
  return { seconds, spread: sorted.length > 1 ? (sorted.at(-1) - sorted[0]) / 2 / seconds : null };
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
