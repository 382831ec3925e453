// @ts-check
/** Builds and runs the C half of the benchmarks (bench/c). */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../scripts/step.mjs';

const BENCH = fileURLToPath(new URL('.', import.meta.url));

export async function buildNative() {
  await make('dpi');
  await make('bench');
}

/** SystemC's headers take seconds to compile, so only what needs them builds this. */
export async function buildSystemC() {
  await make('bench', 'build/systemc');
}

/** The pass of the index, from the sources of its addon. */
export async function buildIndexPass() {
  await make('bench', 'build/index_pass');
}

/** @param {string} folder @param {string[]} targets */
async function make(folder, ...targets) {
  const args = ['-C', folder, '--no-print-directory', ...targets];
  const step = { title: `make ${args.join(' ')}`, command: 'make', args };
  const { ok, output, why } = await run(step);
  if (!ok) throw new Error(`${step.title} failed (${why})\n${output}`);
}

/**
 * Runs one mode and returns the JSON object it prints. Other output goes to stderr, or into the error.
 * @param {string[]} args mode, workload, cycles, …
 * @param {Record<string, string>} [env]
 * @param {{program?: string, cwd?: string}} [how] another program of bench/build, and where it runs
 * @returns {Promise<Record<string, number>>}
 */
export function native(args, env = {}, { program = 'bench', cwd } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(join(BENCH, 'build', program), args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (said += text));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code !== 0) {
        const how = `${program} ${args.join(' ')} ended with ${signal ?? `exit status ${code}`}`;
        reject(new Error(said === '' ? how : `${how}:\n${said.trimEnd()}`));
        return;
      }
      process.stderr.write(said);
      resolve(JSON.parse(output));
    });
  });
}
