// @ts-check
/** `npm run bench`: the measured claims, each compared with the best that the machine could do. See README.md. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, runScript, SetupError, setUpPackages } from '../scripts/setup.mjs';
import { parseRequest, USAGE } from './options.mjs';
import { describeMachine, describeResults, optionsOf, readResults } from './results.mjs';
import { printTable } from './table.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

/** The parts import the built SDK, so they are loaded after the build. */
const LOADERS = {
  client: async () => (await import('./client.mjs')).benchClient,
  latency: async () => (await import('./client.mjs')).benchLatency,
  path: async () => (await import('./path.mjs')).benchPath,
  size: async () => (await import('./size.mjs')).benchSize,
  memory: async () => (await import('./memory.mjs')).benchMemory,
  growth: async () => (await import('./growth.mjs')).benchGrowth,
  cores: async () => (await import('./cores.mjs')).benchCores,
  writer: async () => (await import('./writer.mjs')).benchWriter,
  library: async () => (await import('./library.mjs')).benchLibrary,
  reader: async () => (await import('./reader.mjs')).benchReader,
  answers: async () => (await import('./answers.mjs')).benchAnswers,
  index: async () => (await import('./index.mjs')).benchIndex,
  dataset: async () => (await import('./dataset.mjs')).benchDataset,
  demo: async () => (await import('./demo.mjs')).benchDemo,
  stf: async () => (await import('./stf.mjs')).benchStf,
  waves: async () => (await import('./waves.mjs')).benchWaves,
  flux: async () => (await import('./flux.mjs')).benchFlux,
  ftr: async () => (await import('./ftr.mjs')).benchFtr,
  ctrace: async () => (await import('./ctrace.mjs')).benchCtrace,
  formats: async () => (await import('./formats.mjs')).benchFormats,
  systemc: async () => (await import('./systemc.mjs')).benchSystemC,
  cocotb: async () => (await import('./cocotb.mjs')).benchCocotb,
};

/**
 * One after the other; what cannot be measured here does not keep the others from it.
 * @param {Options} options
 * @param {string} directory
 */
async function measure(options, directory) {
  /** @type {Record<string, Row[]>} */
  const results = {};
  /** @type {string[]} */
  const failed = [];
  for (const name of options.names) {
    try {
      const benchmark = await LOADERS[name]();
      results[name] = (await benchmark(options, directory)).filter(isMeasured);
      if (options.json !== '-') printTable(name, results[name]);
    } catch (error) {
      if (options.names.length === 1) throw error;
      failed.push(name);
      console.error(`${name} could not be measured: ${error instanceof Error ? error.message : error}`);
    }
  }
  return { results, failed };
}

/** Runs too short for the clock give 0 or infinity. @param {Row} row */
function isMeasured({ name, value }) {
  if (Number.isFinite(value)) return true;
  console.error(`"${name}" was too short to be measured`);
  return false;
}

/** @param {'bench' | 'demo'} packages of the system that are needed */
async function buildAll(packages) {
  await setUpPackages(packages);
  await build();
  const { buildNative } = await import('./native.mjs');
  await buildNative();
}

/** @param {Options} options */
async function prepare({ json, names, workload }) {
  // stdout carries the results alone when they are for a program.
  const log = console.log;
  const write = process.stdout.write;
  if (json === '-') {
    console.log = console.error;
    process.stdout.write = process.stderr.write.bind(process.stderr);
  }
  try {
    await buildAll(names.includes('demo') ? 'bench' : 'demo');
    if (names.includes('demo')) await (await import('./demo.mjs')).buildDemo(workload);
  } finally {
    console.log = log;
    process.stdout.write = write;
  }
}

/**
 * @param {Options} options
 * @param {readonly string[]} argv
 */
async function run(options, argv) {
  if (options.build) await prepare(options);
  if (options.out) mkdirSync(options.out, { recursive: true });
  const directory = mkdtempSync(join(options.out ?? tmpdir(), 'uscope-bench-'));
  const machine = describeMachine();
  try {
    if (options.json !== '-') {
      console.log(
        `\n${machine.cores} cores, ${machine.cpu}, Node ${process.versions.node}, load ${machine.load[0]}`,
      );
      const { workload, compression, runs } = options;
      console.log(`workload ${workload}, ${compression}, median of ${runs} runs, files in ${directory}`);
    }
    const { results, failed } = await measure(options, directory);
    return { document: describeResults(options, argv, machine, results), failed };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** @param {Options} options @param {readonly string[]} argv */
async function measureAndTell(options, argv) {
  const { document, failed } = await run(options, argv);
  const text = `${JSON.stringify(document, null, 2)}\n`;
  if (options.json === '-') process.stdout.write(text);
  else if (options.json !== null) writeFileSync(options.json, text);
  return failed.length > 0 ? 1 : 0;
}

/** @param {string} oldFile @param {string | null} newFile null: measured now, as the old one was */
async function compare(oldFile, newFile) {
  const before = readResults(oldFile);
  const after = newFile === null ? (await run(optionsOf(before), [])).document : readResults(newFile);
  const { compareResults, printComparison } = await import('./compare.mjs');
  return printComparison(compareResults(before, after));
}

/** @param {readonly string[]} files */
async function report(files) {
  const { writeReport } = await import('./report.mjs');
  for (const written of writeReport(files.map(readResults))) console.log(written);
  return 0;
}

async function profile() {
  await buildAll('demo');
  const directory = mkdtempSync(join(tmpdir(), 'uscope-bench-'));
  try {
    const { profileAll, printProfile } = await import('./profile.mjs');
    for (const found of await profileAll(directory)) printProfile(found);
    return 0;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function request() {
  try {
    return parseRequest(process.argv.slice(2));
  } catch (error) {
    throw new SetupError(`CLI_USAGE: ${error instanceof Error ? error.message : error}\n\n${USAGE}`, 2);
  }
}

await runScript(async () => {
  const asked = request();
  if (asked === null) {
    process.stdout.write(USAGE);
    return 0;
  }
  if (asked.verb === 'compare') return compare(asked.old, asked.new);
  if (asked.verb === 'report') return report(asked.files);
  if (asked.verb === 'profile') return profile();
  return measureAndTell(asked.options, process.argv.slice(2));
});
