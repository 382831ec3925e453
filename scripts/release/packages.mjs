// @ts-check
/** The files of a release: the npm package, Python packages, archives for C, and their checksums. */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npmCommand } from '../npm-packages.mjs';
import { SetupError } from '../setup.mjs';
import { ROOT, runStep } from '../step.mjs';
import { BUILD, MACHINES } from './native.mjs';

/** Together with the npm package in the Python package: the version that its package.json asks for. */
const ZEROMQ = 'zeromq';
const INSTALL_MS = 10 * 60_000;

/**
 * @typedef {object} Release
 * @property {string} version
 * @property {string} folder where everything goes
 * @property {string} npm the npm package
 * @property {Record<'cocotb' | 'command', {wheel: string, source: string}>} python
 * @property {string[]} client archives with headers and libraries, one a machine
 * @property {string} clientSource
 */

/**
 * @param {string} title
 * @param {string} command
 * @param {string[]} args
 * @param {string} [cwd]
 */
async function step(title, command, args, cwd = ROOT) {
  const { ok } = await runStep({ title, command, args, cwd, timeoutMs: INSTALL_MS });
  if (!ok) throw new SetupError(`RELEASE_BUILD: ${title} failed`, 1);
}

/** @returns {Promise<Release>} @throws {SetupError} */
export async function makePackages() {
  const { version, folder, npm } = names();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await step(
    'npm package',
    ...npmWords(['pack', join(ROOT, 'sdk'), '--pack-destination', folder, '--silent']),
  );
  await pythonPackages(folder, join(folder, npm));
  await clientArchives(folder, version);
  await clientSources(folder, version);
  writeChecksums(folder);
  return madePackages();
}

/** @returns {Release} @throws {SetupError} RELEASE_INCOMPLETE */
export function madePackages() {
  const release = names();
  const { folder, npm, python, client, clientSource } = release;
  const files = [
    npm,
    ...Object.values(python).flatMap((of) => Object.values(of)),
    ...client,
    clientSource,
    'SHA256SUMS',
  ];
  const missing = files.filter((name) => !existsSync(join(folder, name)));
  if (missing.length === 0) return release;
  throw new SetupError(
    `RELEASE_INCOMPLETE: ${folder} lacks ${missing.join(', ')}: npm run release makes them`,
    1,
  );
}

/** @returns {Release} */
function names() {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'sdk/package.json'), 'utf8'));
  const pip = (/** @type {string} */ name) => ({
    wheel: `${name}-${version}-py3-none-any.whl`,
    source: `${name}-${version}.tar.gz`,
  });
  return {
    version,
    folder: join(BUILD, `uscope-${version}`),
    npm: `uscope-${version}.tgz`,
    python: { cocotb: pip('cocotbext_uscope'), command: pip('uscope') },
    client: Object.keys(MACHINES).map((machine) => `uscope-client-${version}-${machine}.tar.gz`),
    clientSource: `uscope-client-${version}.tar.gz`,
  };
}

/** @param {string[]} args @returns {[string, string[]]} */
function npmWords(args) {
  const { command, args: all } = npmCommand(args);
  return [command, all];
}

/**
 * @param {string} folder
 * @param {string} npm
 */
async function pythonPackages(folder, npm) {
  const python = await pythonTools();
  const command = await stageCommand(npm);
  const cocotb = join(ROOT, 'cocotb-adapter');
  for (const [name, source] of [
    ['cocotbext-uscope', cocotb],
    ['uscope', command],
  ]) {
    await step(`${name} for pip`, python, ['-m', 'build', '--outdir', folder, `${source}`]);
  }
  const files = readdirSync(folder).filter((name) => /\.whl$|\.tar\.gz$/.test(name));
  await step('twine check', python, [
    '-m',
    'twine',
    'check',
    '--strict',
    ...files.map((name) => join(folder, name)),
  ]);
}

/** Python with build and twine. */
async function pythonTools() {
  const home = join(BUILD, 'tools/python');
  const python = join(home, 'bin/python');
  if (!existsSync(python))
    await step("a Python environment for pip's tools", 'python3', ['-m', 'venv', home]);
  await step('build and twine from PyPI', python, [
    ...['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', 'build', 'twine'],
  ]);
  return python;
}

/**
 * The folder python-command with the npm package and what it needs in it.
 * @param {string} npm
 */
async function stageCommand(npm) {
  const stage = join(BUILD, 'python-command');
  rmSync(stage, { recursive: true, force: true });
  cpSync(join(ROOT, 'python-command'), stage, { recursive: true });
  const modules = join(stage, 'src/uscope');
  const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'sdk/package.json'), 'utf8'));
  writeFileSync(join(modules, 'package.json'), '{"private": true}\n');
  const flags = [
    '--omit=optional',
    '--omit=peer',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-package-lock',
  ];
  await step(
    'what the command needs from npm',
    ...npmWords(['install', ...flags, npm, `${ZEROMQ}@${optionalDependencies[ZEROMQ]}`]),
    modules,
  );
  for (const name of ['package.json', 'node_modules/.bin', 'node_modules/.package-lock.json'])
    rmSync(join(modules, name), { recursive: true, force: true });
  return stage;
}

/**
 * What `make install` installs, with the prebuilt libraries.
 * @param {string} folder
 * @param {string} version
 */
async function clientArchives(folder, version) {
  for (const machine of Object.keys(MACHINES)) {
    const name = `uscope-client-${version}-${machine}`;
    const stage = join(BUILD, 'client', name);
    rmSync(stage, { recursive: true, force: true });
    const prebuilt = join(ROOT, 'sdk/prebuilt', machine);
    await step(`client for ${machine}`, 'make', [
      ...['-s', '-C', 'dpi', '-f', 'install/prebuilt.mk', `PREBUILT=${prebuilt}`, `PREFIX=${stage}`],
    ]);
    for (const file of ['README', 'LICENSE.libzmq', 'LICENSE.libsodium'])
      cpSync(join(prebuilt, file), join(stage, 'share/uscope', file));
    cpSync(join(ROOT, 'LICENSE'), join(stage, 'share/uscope/LICENSE'));
    await archive(folder, name);
  }
}

/**
 * For `make install` with the compiler and the libzmq of a machine.
 * @param {string} folder
 * @param {string} version
 */
async function clientSources(folder, version) {
  const name = `uscope-client-${version}`;
  const stage = join(BUILD, 'client', name);
  rmSync(stage, { recursive: true, force: true });
  for (const path of [
    'LICENSE',
    'sv',
    'dpi/Makefile',
    'dpi/README.md',
    'dpi/install',
    'dpi/include',
    'dpi/src',
  ])
    cpSync(join(ROOT, path), join(stage, path), { recursive: true });
  await archive(folder, name);
}

/** @param {string} folder @param {string} name */
async function archive(folder, name) {
  const file = `${name}.tar.gz`;
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--sort=name'];
  await step(file, 'tar', ['czf', join(folder, file), ...owner, '-C', join(BUILD, 'client'), name]);
}

/** As `sha256sum -c` takes it. @param {string} folder */
function writeChecksums(folder) {
  const lines = readdirSync(folder)
    .filter((name) => name !== 'SHA256SUMS')
    .sort()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}  ${name}\n`,
    );
  writeFileSync(join(folder, 'SHA256SUMS'), lines.join(''));
}
