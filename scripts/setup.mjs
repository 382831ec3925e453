// @ts-check
/**
 * Brings a machine and a fresh clone to the point where everything runs: Node's version, system packages, npm packages, and
 * the built SDK with its native kernel and client library. Does only what is missing, so it is quick the second time.
 *
 *     node scripts/setup.mjs [--for demo|bench|test] [--no-install] [--no-build]
 *
 * Exit status: 0 ready, 1 a step failed, 2 the machine lacks something (ENV_MISSING).
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { noteInstalled, npmCommand, whyInstall } from './npm-packages.mjs';
import { printResult, ROOT, runStep } from './step.mjs';
import { describeMissing, ensureSystemPackages } from './system-packages.mjs';

const NODE_MIN = [20, 15];

/** The machine or a step is in the way; `exitCode` says which. */
export class SetupError extends Error {
  /**
   * @param {string} message
   * @param {1 | 2} exitCode
   */
  constructor(message, exitCode) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * System and npm packages.
 * @param {import('./system-packages.mjs').Purpose} purpose
 * @param {{install?: boolean}} [options]
 */
export async function setUpPackages(purpose, { install = true } = {}) {
  await setUpSystem(purpose, { install });
  await setUpNpm({ install });
}

/**
 * Node's version and system packages: all that C and Python need.
 * @param {import('./system-packages.mjs').Purpose} purpose
 * @param {{install?: boolean}} [options]
 */
export async function setUpSystem(purpose, { install = true } = {}) {
  checkNode(process.versions.node);
  await systemPackages(purpose, install);
}

/** The `uscope` command, its native kernel and the client library, as the demo needs them. */
export async function build() {
  for (const step of buildSteps()) {
    const { ok } = await runStep(step);
    if (!ok) throw new SetupError(`${step.title} failed`, 1);
  }
}

/** @returns {import('./step.mjs').Command[]} */
export function buildSteps() {
  return [
    { title: 'build the SDK', ...npmCommand(['run', '--silent', 'build', '-w', 'sdk']) },
    { title: 'build the viewer', ...npmCommand(['run', '--silent', 'build', '-w', 'viewer']) },
    {
      title: 'build the native kernel',
      command: 'make',
      args: ['-C', 'sdk/kernel/native', '--no-print-directory'],
    },
    { title: 'build the C client library', command: 'make', args: ['-C', 'dpi', '--no-print-directory'] },
  ];
}

/** @param {string} version */
export function checkNode(version) {
  const [major, minor] = version.split('.').map(Number);
  if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])) return;
  throw new SetupError(
    `ENV_MISSING: Node.js ${NODE_MIN.join('.')} or later is needed, this is ${version}. Install it and run the command again.`,
    2,
  );
}

/**
 * @param {import('./system-packages.mjs').Purpose} purpose
 * @param {boolean} install
 */
async function systemPackages(purpose, install) {
  const started = performance.now();
  const { installed, missing, log } = await ensureSystemPackages(purpose, { install });
  const title = installed.length ? `system packages (apt-get: ${installed.join(' ')})` : 'system packages';
  const seconds = (performance.now() - started) / 1000;
  printResult(title, { ok: missing.length === 0, seconds, output: log });
  if (missing.length > 0) throw new SetupError(`ENV_MISSING: ${describeMissing(missing)}`, 2);
}

/** @param {{install?: boolean}} [options] */
export async function setUpNpm({ install = true } = {}) {
  const reason = whyInstall(ROOT);
  if (reason === null) {
    printResult('npm packages', { ok: true, seconds: 0 });
  } else if (!install) {
    throw new SetupError(`ENV_MISSING: npm packages: ${reason}. Run: npm ci`, 2);
  } else {
    const { ok } = await runStep({ title: 'npm packages (npm ci)', ...npmCommand(['ci']) });
    if (!ok) throw new SetupError(`npm ci failed (${reason})`, 1);
    noteInstalled(ROOT);
  }
  if (!existsSync(join(ROOT, 'node_modules', 'zstd-napi'))) {
    console.log(
      '      note: the optional npm package zstd-napi did not install; traces cannot be written with zstd',
    );
  }
}

/**
 * Runs a script's main function and turns a SetupError into its message and exit status.
 * @param {() => Promise<number>} main returns the exit status
 */
export async function runScript(main) {
  try {
    process.exitCode = await main();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = error.exitCode;
  }
}

async function main() {
  const { values } = parseArgs({
    options: {
      for: { type: 'string', default: 'demo' },
      'no-install': { type: 'boolean', default: false },
      'no-build': { type: 'boolean', default: false },
    },
  });
  if (values.for !== 'demo' && values.for !== 'bench' && values.for !== 'test') {
    throw new SetupError(`CLI_USAGE: --for takes demo, bench or test, not ${values.for}`, 2);
  }
  await setUpPackages(values.for, { install: !values['no-install'] });
  if (!values['no-build']) await build();
  return 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await runScript(main);
