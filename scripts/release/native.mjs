// @ts-check
/**
 * Builds sdk/prebuilt: for each machine the client library, the DPI library and the writer's addon, for glibc 2.28 and later. Then looks at what the
 * files need and export.
 *
 *     node scripts/release/native.mjs [linux-x64] [linux-arm64]
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runScript, SetupError } from '../setup.mjs';
import { printResult, ROOT, runStep } from '../step.mjs';
import { toolchain } from './toolchain.mjs';

export const GLIBC = '2.28';
/** By Node's names. */
export const MACHINES = { 'linux-x64': 'x86_64', 'linux-arm64': 'aarch64' };
const FILES = ['libuscope.so', 'libuscope_dpi.so', 'kernel.node'];
/** Everything that they export; what the C++ runtime and libzmq have is hidden, so that it meets no other copy. */
const EXPORTED = /^(uscope_\w+|napi_register_module_v1|node_api_module_get_api_version_v1)$/;
const BUILD_MS = 60 * 60_000;

/** @typedef {keyof typeof MACHINES} Machine */

export const BUILD = join(ROOT, 'build/release');

/**
 * @param {readonly Machine[]} machines
 * @returns {Promise<void>}
 * @throws {SetupError}
 */
export async function buildPrebuilt(machines) {
  const svdpi = svdpiDirectory();
  const { zig, zmq, sodium } = await toolchain(join(BUILD, 'tools'));
  for (const machine of machines) {
    const arch = MACHINES[machine];
    const out = join(ROOT, 'sdk/prebuilt', machine);
    mkdirSync(out, { recursive: true });
    const variables = {
      ZIG: zig,
      TARGET: `${arch}-linux-gnu.${GLIBC}`,
      ARCH: arch,
      ZMQ: zmq,
      SODIUM: sodium,
      ROOT: ROOT.replace(/\/$/, ''),
      B: join(BUILD, machine),
      OUT: out,
      SVDPI_INC: svdpi,
      NODE_HEADERS: join(ROOT, 'node_modules/node-api-headers/include'),
    };
    const { ok } = await runStep({
      title: `prebuilt libraries for ${machine}`,
      command: 'make',
      args: [
        ...['-s', '-f', join(ROOT, 'scripts/release/native.mk'), `-j${availableParallelism()}`],
        ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
      ],
      timeoutMs: BUILD_MS,
    });
    if (!ok) throw new SetupError(`RELEASE_BUILD: the prebuilt libraries for ${machine} failed`, 1);
    writeLicences(out, zmq, sodium);
    for (const name of FILES) checkSymbols(join(out, name));
    printResult(`needs glibc ${GLIBC} at most, exports only its own (${machine})`, { ok: true, seconds: 0 });
  }
}

/** Of an installed Verilator. */
function svdpiDirectory() {
  const root = spawnSync('verilator', ['--getenv', 'VERILATOR_ROOT'], { encoding: 'utf8' }).stdout?.trim();
  const places = [`${root}/include/vltstd`, '/usr/share/verilator/include/vltstd'];
  const found = places.find((place) => existsSync(join(place, 'svdpi.h')));
  if (found) return found;
  throw new SetupError('ENV_MISSING: svdpi.h, which Verilator has: apt-get install verilator', 2);
}

/** Of what is linked in. @param {string} out @param {string} zmq @param {string} sodium */
function writeLicences(out, zmq, sodium) {
  copyFileSync(join(zmq, 'LICENSE'), join(out, 'LICENSE.libzmq'));
  copyFileSync(join(sodium, 'LICENSE'), join(out, 'LICENSE.libsodium'));
  writeFileSync(
    join(out, 'README'),
    `libuscope.so and libuscope_dpi.so contain libzmq 4.3.5 (Mozilla Public License 2.0, LICENSE.libzmq; its sources are in the crate zeromq-src),
libsodium 1.0.22 (ISC licence, LICENSE.libsodium) and LLVM's C++ runtime (Apache License 2.0 with LLVM exceptions). They need glibc ${GLIBC}.
`,
  );
}

/** @param {string} file @throws {SetupError} RELEASE_GLIBC, RELEASE_SYMBOLS */
export function checkSymbols(file) {
  const { stdout, status } = spawnSync('objdump', ['-T', file], { encoding: 'utf8' });
  if (status !== 0)
    throw new SetupError(`ENV_MISSING: objdump cannot read ${file}: apt-get install binutils-multiarch`, 2);
  const { glibc, exported } = symbolsOf(stdout);
  const newer = glibc.filter((version) => isNewer(version, GLIBC));
  if (newer.length > 0)
    throw new SetupError(`RELEASE_GLIBC: ${file} needs glibc ${newer.join(', ')}, not only ${GLIBC}`, 1);
  const foreign = exported.filter((name) => !EXPORTED.test(name));
  if (foreign.length > 0 || exported.length === 0)
    throw new SetupError(`RELEASE_SYMBOLS: ${file} exports ${foreign.join(', ') || 'nothing'}`, 1);
}

/** @param {string} table what `objdump -T` prints */
export function symbolsOf(table) {
  const glibc = new Set([...table.matchAll(/\bGLIBC_([0-9.]+)/g)].map(([, version = '']) => version));
  const exported = table
    .split('\n')
    .filter((line) => /^[0-9a-f]{8,} g/.test(line))
    .map((line) => line.trim().split(/\s+/).at(-1) ?? '');
  return { glibc: [...glibc], exported };
}

/** @param {string} version @param {string} than */
export function isNewer(version, than) {
  const [a = [], b = []] = [version, than].map((text) => text.split('.').map(Number));
  const at = a.findIndex((part, i) => part !== (b[i] ?? 0));
  return at >= 0 && (a[at] ?? 0) > (b[at] ?? 0);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await runScript(async () => {
    const asked = process.argv.slice(2);
    const known = Object.keys(MACHINES);
    const unknown = asked.find((name) => !known.includes(name));
    if (unknown) throw new SetupError(`CLI_USAGE: ${unknown} is none of ${known.join(', ')}`, 2);
    await buildPrebuilt(/** @type {Machine[]} */ (asked.length > 0 ? asked : known));
    return 0;
  });
}
