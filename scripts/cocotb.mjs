// @ts-check
/**
 * The tests of the cocotb adapter, in a separate Python environment (cocotb-adapter/.venv). Without Python's venv, or
 * without a package index to install from, they are left out, and said to be.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { countsFromPytest } from './counts.mjs';
import { printResult, ROOT, run, runStep } from './step.mjs';

const FOLDER = join(ROOT, 'cocotb-adapter');
export const PYTHON = join(FOLDER, '.venv', 'bin', 'python');
const PACKAGES = ['pyzmq', 'msgpack', 'cocotb', 'pytest', 'mypy'];
/** For tests that do without where there is none: a second SystemVerilog front end for generated code, arrays for the adapter's batches. */
const EXTRA_PACKAGES = ['pyslang', 'numpy', 'build', 'setuptools>=64', 'wheel'];
const INSTALL_TIMEOUT_MS = 10 * 60_000;
/** They take one on a machine that has nothing else to do. */
const TEST_TIMEOUT_MS = 15 * 60_000;

/** @typedef {import('./counts.mjs').Counts} Counts */

/**
 * @param {Promise<string | null>} environment what `pythonEnvironment` returned
 * @returns {Promise<Counts>}
 */
export async function cocotbTests(environment) {
  const why = await environment;
  if (why !== null) {
    console.log(`skip  tests of the cocotb adapter: ${why}`);
    return { passed: 0, failed: 0, skipped: 1 };
  }
  const types = await runStep({
    title: 'types of the cocotb adapter (mypy)',
    command: PYTHON,
    args: ['-m', 'mypy', '--strict', '--config-file', join(FOLDER, 'pyproject.toml'), join(FOLDER, 'src')],
  });
  const tests = await run({
    title: 'cocotb adapter (pytest, Icarus)',
    command: PYTHON,
    args: ['-m', 'pytest', '-q', '--color=no', '-p', 'no:cacheprovider', join(FOLDER, 'tests')],
    env: { PYTHONPATH: join(FOLDER, 'src'), PYTHONDONTWRITEBYTECODE: '1' },
    timeoutMs: TEST_TIMEOUT_MS,
  });
  printResult('cocotb adapter (pytest)', tests);
  const counts = countsFromPytest(tests);
  return types.ok ? { ...counts, passed: counts.passed + 1 } : { ...counts, failed: counts.failed + 1 };
}

/** @returns {Promise<string | null>} why the tests cannot run; null when they can */
export async function pythonEnvironment() {
  if (!existsSync(PYTHON)) {
    const venv = await run({
      title: 'venv',
      command: 'python3',
      args: ['-m', 'venv', join(FOLDER, '.venv')],
      timeoutMs: INSTALL_TIMEOUT_MS,
    });
    if (!venv.ok) return 'no Python environment could be made; install python3-venv';
  }
  const imports = await run({
    title: 'imports',
    command: PYTHON,
    args: ['-c', 'import zmq, msgpack, cocotb, pytest, mypy'],
    timeoutMs: INSTALL_TIMEOUT_MS,
  });
  if (imports.ok) return null;
  if (!(await pipInstalls(PACKAGES))) return `pip could not install ${PACKAGES.join(', ')}`;
  await pipInstalls(EXTRA_PACKAGES);
  return null;
}

/** @param {readonly string[]} packages */
async function pipInstalls(packages) {
  const { ok } = await run({
    title: 'pip',
    command: PYTHON,
    args: ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages],
    timeoutMs: INSTALL_TIMEOUT_MS,
  });
  return ok;
}
