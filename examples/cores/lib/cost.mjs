/** What a trace costs on a core, next to a text log of the same pins and to waveforms: time of the simulation and bytes per cycle. */
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './commands.mjs';
import { buildSimulator, traced } from './simulator.mjs';

const RUNS = 3;

export async function measure(core, sources, program, work, first) {
  const { cycles } = first;
  const plain = buildSimulator(core, sources, work, 'plain');
  const withTracer = buildSimulator(core, sources, work, 'traced');
  const time = (simulator, args, env = {}) => {
    const printed = run(simulator, [`+program=${program}`, ...args], { env: { ...process.env, ...env } });
    return JSON.parse(printed.trim().split('\n').at(-1)).seconds;
  };
  const log = join(work, 'cost.log');
  const ways = {
    untraced: () => ({ seconds: time(plain, []), bytes: 0 }),
    retirement: () => ({
      seconds: retirement(withTracer, core, program, work),
      bytes: statSync(first.trace).size,
    }),
    text: () => ({ seconds: time(plain, [`+log=${log}`]), bytes: statSync(log).size }),
  };
  for (const kind of ['fst', 'vcd']) {
    const simulator = buildSimulator(core, sources, work, kind);
    const file = join(work, `waveform.${kind}`);
    ways[kind] = () => ({ seconds: time(simulator, [], { WAVEFORM: file }), bytes: statSync(file).size });
  }
  const results = alternate(ways);
  const base = results.untraced.seconds;
  const packed = zstdSize(log) / cycles;
  for (const [name, result] of Object.entries(results)) {
    result.time = result.seconds / base;
    result.bytesPerCycle = result.bytes / cycles;
    result.packed = name === 'text' ? packed : null;
  }
  for (const name of ['cost.log', 'waveform.fst', 'waveform.vcd']) rmSync(join(work, name), { force: true });
  return results;
}

/** The best of some runs, one way after the other, so that a machine that slows down slows all of them. */
function alternate(ways) {
  const results = {};
  for (let i = 0; i < RUNS; i++) {
    for (const [name, way] of Object.entries(ways)) {
      const result = way();
      if (!results[name] || result.seconds < results[name].seconds) results[name] = result;
    }
  }
  return results;
}

/** The log of the pins is left out: without +log it writes nothing. */
function retirement(simulator, core, program, work) {
  return traced(simulator, core, program, join(work, 'cost'), { logs: false }).seconds;
}

function zstdSize(file) {
  run('zstd', ['-q', '-f', file]);
  const { size } = statSync(`${file}.zst`);
  rmSync(`${file}.zst`);
  return size;
}
