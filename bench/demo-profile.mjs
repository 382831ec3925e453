// @ts-check
/**
 * What tracing costs the demo core in instructions, which another tenant of the machine does not change: callgrind of the
 * simulator's thread, traced and untraced, over the same cycles in the middle of the program.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withDaemon } from './daemon.mjs';
import { buildDemo, schemaOf, simulatorOf } from './demo.mjs';

/** @typedef {import('./profile.mjs').Profile} Profile */
/** @typedef {Map<string, number>} Instructions by source file */

const execute = promisify(execFile);
/** The difference of two runs leaves start, opening and closing out. */
const FROM_CYCLE = 100_000;
const TO_CYCLE = 200_000;
const LINES = 8;

/** @param {string} directory @returns {Promise<Profile>} */
export async function profileDemo(directory) {
  const title = "demo: the simulator's thread";
  if (!(await hasValgrind())) return { title, total: 'not counted, valgrind is not installed', lines: [] };
  await buildDemo('std', ['untraced', 'traced']);
  const { untraced, traced } = await withDaemon(directory, 'lz4', async (daemon) => ({
    untraced: await countCycles('untraced', directory, daemon),
    traced: await countCycles('traced', directory, daemon),
  }));
  return { title, ...summarizeDemo(untraced, traced) };
}

async function hasValgrind() {
  return execute('valgrind', ['--version']).then(
    () => true,
    () => false,
  );
}

/**
 * Instructions per cycle.
 * @param {'untraced' | 'traced'} name
 * @param {string} directory
 * @param {Record<string, string>} daemon environment for clients of the daemon
 * @returns {Promise<Instructions>}
 */
async function countCycles(name, directory, daemon) {
  const before = await count(name, FROM_CYCLE, directory, daemon);
  const after = await count(name, TO_CYCLE, directory, daemon);
  const files = [...new Set([...before.keys(), ...after.keys()])];
  const grown = (/** @type {string} */ file) => (after.get(file) ?? 0) - (before.get(file) ?? 0);
  return new Map(files.map((file) => [file, grown(file) / (TO_CYCLE - FROM_CYCLE)]));
}

/**
 * @param {'untraced' | 'traced'} name
 * @param {number} cycles
 * @param {string} directory
 * @param {Record<string, string>} daemon
 * @returns {Promise<Instructions>}
 */
async function count(name, cycles, directory, daemon) {
  const file = join(directory, `callgrind.${name}.${cycles}`);
  const run = execute(
    'valgrind',
    [
      '--tool=callgrind',
      '--separate-threads=yes',
      `--callgrind-out-file=${file}`,
      simulatorOf('std', name),
      '+quiet',
      `+max-cycles=${cycles}`,
    ],
    { env: { ...process.env, ...daemon, USCOPE_SCHEMA: schemaOf('std') }, maxBuffer: 1 << 26 },
  );
  // A program that has not ended within the limit is a failure to the simulator: exit status 1.
  await run.catch((error) => {
    if (error.code !== 1) throw error;
  });
  const { stdout } = await execute('callgrind_annotate', ['--auto=no', '--threshold=100', `${file}-01`], {
    maxBuffer: 1 << 26,
  });
  return readFiles(stdout);
}

/** Lines like `1,234 (12.3%)  folder/file.c:function(int) [object]`, summed by file. @param {string} text @returns {Instructions} */
export function readFiles(text) {
  /** @type {Instructions} */
  const sums = new Map();
  for (const line of text.split('\n')) {
    const [, digits, path] = /^\s*([\d,]+) \([^)]*\)\s+([^\s:]+):/.exec(line) ?? [];
    if (path) sums.set(path, (sums.get(path) ?? 0) + Number(digits.replaceAll(',', '')));
  }
  return sums;
}

/**
 * Shares of what tracing adds: files of the client, and everything else, which is the tracer's SystemVerilog and what the
 * model around it is compiled to.
 * @param {Instructions} untraced
 * @param {Instructions} traced
 * @returns {Pick<Profile, 'total' | 'lines'>}
 */
export function summarizeDemo(untraced, traced) {
  const [before, after] = [sum(untraced), sum(traced)];
  const added = after - before;
  const client = [...traced].filter(([path]) => path.includes('/dpi/src/'));
  const parts = client.map(([path, instructions]) => ({
    name: `client: ${path.slice(path.lastIndexOf('/') + 1)}`,
    instructions,
  }));
  parts.sort((a, b) => b.instructions - a.instructions);
  const rest = { name: 'tracer and model', instructions: added - sum(new Map(client)) };
  return {
    total: `${before.toFixed(0)} instructions per cycle untraced, ${after.toFixed(0)} traced: ${added.toFixed(0)} more`,
    lines: [rest, ...parts]
      .slice(0, LINES)
      .map(({ name, instructions }) => ({ name, share: instructions / added })),
  };
}

/** @param {Instructions} instructions */
function sum(instructions) {
  return [...instructions.values()].reduce((total, n) => total + n, 0);
}
