// @ts-check
/** Builds and runs the C half of the benchmarks (bench/c). */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../scripts/step.mjs';

const BENCH = fileURLToPath(new URL('.', import.meta.url));

export async function buildNative() {
  for (const folder of ['dpi', 'bench']) {
    const step = {
      title: `make -C ${folder}`,
      command: 'make',
      args: ['-C', folder, '--no-print-directory'],
    };
    const { ok, output, why } = await run(step);
    if (!ok) throw new Error(`${step.title} failed (${why})\n${output}`);
  }
}

/**
 * Runs one mode and returns the JSON object it prints. Other output goes to stderr, or into the error.
 * @param {string[]} args mode, workload, cycles, …
 * @param {Record<string, string>} [env]
 * @returns {Promise<Record<string, number>>}
 */
export function native(args, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(join(BENCH, 'build', 'bench'), args, {
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
        const how = `bench ${args.join(' ')} ended with ${signal ?? `exit status ${code}`}`;
        reject(new Error(said === '' ? how : `${how}:\n${said.trimEnd()}`));
        return;
      }
      process.stderr.write(said);
      resolve(JSON.parse(output));
    });
  });
}
