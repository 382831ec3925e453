// @ts-check
/**
 * Shares of the time: instructions of the client's functions and of the demo core (callgrind), samples of the daemon and of a
 * reader (Node's profiler).
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withDaemon } from './daemon.mjs';
import { profileDemo } from './demo-profile.mjs';
import { native } from './native.mjs';

/** @typedef {{title: string, total: string, lines: {name: string, share: number}[]}} Profile */

const execute = promisify(execFile);
const BENCH = fileURLToPath(new URL('build/bench', import.meta.url));
const READER = fileURLToPath(new URL('reader-scan.mjs', import.meta.url));
const CYCLES = 10_000_000;
/** callgrind is fifty times as slow. */
const CLIENT_CYCLES = 20_000;
const CLIENT_RUNS = 3;
const LINES = 12;

/** @param {string} directory @returns {Promise<Profile[]>} */
export async function profileAll(directory) {
  const client = await profileClient(directory);
  const demo = await profileDemo(directory);
  const daemon = await profileDaemon(directory);
  const folder = join(directory, 'reader');
  mkdirSync(folder);
  const args = ['--cpu-prof', '--cpu-prof-dir', folder, READER, join(directory, 'path.uscope')];
  const { stdout } = await execute(process.execPath, args);
  const title = `reader: one scan of ${Number(stdout).toLocaleString('en-US')} items`;
  return [client, demo, daemon, { title, ...readSamples(folder) }];
}

/** @param {string} directory @returns {Promise<Profile>} */
async function profileClient(directory) {
  const file = join(directory, 'callgrind.out');
  const args = ['client', 'std', String(CLIENT_CYCLES), String(CLIENT_RUNS)];
  await withDaemon(directory, 'lz4', (env) =>
    execute(
      'valgrind',
      ['--tool=callgrind', '--separate-threads=yes', `--callgrind-out-file=${file}`, BENCH, ...args],
      {
        env: { ...process.env, ...env },
      },
    ),
  );
  // thread 1 is the simulator's
  const { stdout } = await execute('callgrind_annotate', ['--auto=no', '--threshold=99', `${file}-01`], {
    maxBuffer: 1 << 26,
  });
  const items = 2 * 7 * CLIENT_CYCLES * (CLIENT_RUNS + 1); // in C and in C++
  const ours = readAnnotation(stdout).filter(({ name }) => /^uscope_|append|^put_|chunk|frame/.test(name));
  const sum = ours.reduce((total, { instructions }) => total + instructions, 0);
  return {
    title: "client: the simulator's thread, std",
    total: `${(sum / items).toFixed(1)} instructions per item`,
    lines: ours
      .map(({ name, instructions }) => ({ name, share: instructions / sum }))
      .sort((a, b) => b.share - a.share)
      .slice(0, LINES),
  };
}

/** Lines like `1,234 (12.3%)  file.c:function [object]`; a function has one for each file that was inlined into it. @param {string} text */
export function readAnnotation(text) {
  /** @type {Map<string, number>} */
  const sums = new Map();
  for (const line of text.split('\n')) {
    const [, digits, place] = /^\s*([\d,]+) \([^)]*\)\s+(\S+:\S+)/.exec(line) ?? [];
    if (!place) continue;
    const name = place.slice(place.lastIndexOf(':') + 1);
    sums.set(name, (sums.get(name) ?? 0) + Number(digits.replaceAll(',', '')));
  }
  return [...sums].map(([name, instructions]) => ({ name, instructions }));
}

/** @param {string} directory @returns {Promise<Profile>} */
async function profileDaemon(directory) {
  const folder = join(directory, 'daemon');
  mkdirSync(folder);
  const flags = ['--cpu-prof', '--cpu-prof-dir', folder];
  const { items } = await withDaemon(
    directory,
    'lz4',
    (env) => native(['path', 'std', String(CYCLES)], env),
    flags,
  );
  return { title: `daemon: the main thread, ${items.toLocaleString('en-US')} items`, ...readSamples(folder) };
}

/**
 * Of the largest profile there: threads write their own. Waiting is left out.
 * @param {string} folder
 */
function readSamples(folder) {
  const texts = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  const longest = texts.sort((a, b) => b.length - a.length)[0];
  return summarizeSamples(JSON.parse(longest));
}

/**
 * @param {{nodes: {id: number, callFrame: {functionName: string, url: string}}[], samples: number[], timeDeltas: number[]}} profile
 * @returns {Pick<Profile, 'total' | 'lines'>}
 */
export function summarizeSamples({ nodes, samples, timeDeltas }) {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  /** @type {Map<string, number>} µs */
  const times = new Map();
  samples.forEach((id, i) => {
    const name = names.get(id) ?? '?';
    times.set(name, (times.get(name) ?? 0) + timeDeltas[i]);
  });
  times.delete('(idle)');
  const sum = [...times.values()].reduce((total, time) => total + time, 0);
  const lines = [...times].map(([name, time]) => ({ name, share: time / sum }));
  lines.sort((a, b) => b.share - a.share);
  return { total: `${(sum / 1e6).toFixed(2)} s of work`, lines: lines.slice(0, LINES) };
}

/** @param {{functionName: string, url: string}} frame */
function nameOf({ functionName, url }) {
  const name = functionName || '(anonymous)';
  return url ? `${name} (${basename(url)})` : name;
}

/** @param {Profile} profile */
export function printProfile({ title, total, lines }) {
  console.log(`\n${title}: ${total}`);
  for (const { name, share } of lines) console.log(`  ${(share * 100).toFixed(1).padStart(5)} %  ${name}`);
}
