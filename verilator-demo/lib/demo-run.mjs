/** What the demo of one core and that of several have in common. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const here = dirname(dirname(fileURLToPath(import.meta.url)));
export const root = dirname(here);
export const schema = join(here, 'schema.yaml');
export const cli = join(root, 'sdk/bin/uscope.js');
export const reader = join(root, 'sdk/dist/reader/node.js');

/** The program in a folder of builds, of the build with the name (CONFIG of the Makefile) or without one. */
export const simulatorOf = (folder, build, program = 'Vtop') =>
  join(here, build ? `${folder}_${build}` : folder, program);

export function requireBuilt(file, command, build) {
  if (existsSync(file)) return;
  const ways = build
    ? `"${command} CONFIG=${build}" in ${root}`
    : `"npm run demo" in ${root}, or "${command}" there`;
  process.stderr.write(`${relative(root, file)} is missing: run ${ways}\n`);
  process.exit(1);
}

/** Runs a simulator under `uscope run`; ends the demo when that fails. */
export function runTraced(out, options, simulator, simulatorArguments) {
  const run = ['run', ...options, '--out', out, '--', simulator, ...simulatorArguments];
  const { status, signal, error } = spawnSync(process.execPath, [cli, ...run], { stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) {
    process.stderr.write(`uscope run ended with ${signal ? `signal ${signal}` : `status ${status}`}\n`);
    process.exit(status || 1);
  }
}

/** What a verb prints on stdout; ends the demo when it fails. */
export function uscope(...args) {
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [cli, ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (error) throw error;
  if (status !== 0)
    failWith(`uscope ${args.join(' ')} ended with status ${status}`, stderr.trim().split('\n'));
  return stdout;
}

export function failWith(what, lines) {
  process.stderr.write(`\n${what}:\n${lines.map((line) => `  ${line}\n`).join('')}`);
  process.exit(1);
}
