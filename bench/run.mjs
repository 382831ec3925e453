// @ts-check
/** `npm run bench`: the measured claims, each beside what the machine could do at best. See README.md. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, runScript, SetupError, setUpPackages } from '../scripts/setup.mjs';
import { parseOptions, USAGE } from './options.mjs';
import { printTable } from './table.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

/** The parts import the built SDK, so they are loaded after the build. */
const LOADERS = {
  client: async () => (await import('./client.mjs')).benchClient,
  latency: async () => (await import('./client.mjs')).benchLatency,
  path: async () => (await import('./path.mjs')).benchPath,
  cores: async () => (await import('./cores.mjs')).benchCores,
  writer: async () => (await import('./writer.mjs')).benchWriter,
  reader: async () => (await import('./reader.mjs')).benchReader,
  demo: async () => (await import('./demo.mjs')).benchDemo,
  stf: async () => (await import('./stf.mjs')).benchStf,
  cocotb: async () => (await import('./cocotb.mjs')).benchCocotb,
};

/**
 * @param {Options} options
 * @param {string} directory
 */
async function measure(options, directory) {
  /** @type {Record<string, Row[]>} */
  const results = {};
  for (const name of options.names) {
    const benchmark = await LOADERS[name]();
    results[name] = await benchmark(options, directory);
    if (!options.json) printTable(name, results[name]);
  }
  return results;
}

/** @param {Options} options */
async function prepare({ json, names }) {
  // stdout carries the results alone when they are for a program.
  const log = console.log;
  const write = process.stdout.write;
  if (json) {
    console.log = console.error;
    process.stdout.write = process.stderr.write.bind(process.stderr);
  }
  try {
    await setUpPackages(names.includes('demo') ? 'bench' : 'demo');
    await build();
    const { buildNative } = await import('./native.mjs');
    await buildNative();
    if (names.includes('demo')) await (await import('./demo.mjs')).buildDemo();
  } finally {
    console.log = log;
    process.stdout.write = write;
  }
}

/** @returns {Options | null} */
function options() {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    throw new SetupError(`CLI_USAGE: ${error instanceof Error ? error.message : error}\n\n${USAGE}`, 2);
  }
}

await runScript(async () => {
  const asked = options();
  if (asked === null) {
    process.stdout.write(USAGE);
    return 0;
  }
  await prepare(asked);
  if (asked.out) mkdirSync(asked.out, { recursive: true });
  const directory = mkdtempSync(join(asked.out ?? tmpdir(), 'uscope-bench-'));
  const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.versions.node };
  const { workload, compression, runs } = asked;
  try {
    if (!asked.json) {
      console.log(`\n${machine.cores} cores, ${machine.cpu}, Node ${machine.node}`);
      console.log(`workload ${workload}, ${compression}, median of ${runs} runs, files in ${directory}`);
    }
    const results = await measure(asked, directory);
    if (asked.json) console.log(JSON.stringify({ machine, workload, compression, runs, results }, null, 2));
    return 0;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
