// @ts-check
/**
 * What prebuilt libraries are made with: a compiler that links against a chosen glibc (Zig, from PyPI), and the sources of libzmq and libsodium
 * (from crates, whose checksums are written down here).
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../setup.mjs';
import { run } from '../step.mjs';

const ZIG = 'ziglang==0.17.1';

/** @type {readonly {name: string, version: string, sha256: string}[]} */
const CRATES = [
  {
    name: 'zeromq-src', // libzmq 4.3.5
    version: '0.3.6',
    sha256: 'd9a1c884770df9c1b3eb0a0ad01d7516234879e0ce144c505348550f2492923e',
  },
  {
    name: 'libsodium-sys-stable', // libsodium 1.0.22
    version: '1.24.3',
    sha256: '1f55c1c508d31e2cf0a649c9c889e4bcf554cbfb2a6803f049f219784b044283',
  },
];

/**
 * @param {string} directory that is kept from release to release
 * @returns {Promise<{zig: string, zmq: string, sodium: string}>} the compiler's command, and directories
 * @throws {SetupError} ENV_MISSING
 */
export async function toolchain(directory) {
  mkdirSync(directory, { recursive: true });
  return { zig: await zig(directory), ...(await sources(directory)) };
}

/** @param {string} directory */
async function zig(directory) {
  const python = join(directory, 'zig/bin/python');
  if (!existsSync(python)) await need('Python with venv', 'python3', ['-m', 'venv', join(directory, 'zig')]);
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ZIG];
  await need(`${ZIG} from PyPI`, python, install);
  return `${python} -m ziglang`;
}

/** @param {string} directory */
async function sources(directory) {
  const project = join(directory, 'sources');
  const vendor = join(project, 'vendor');
  if (!existsSync(vendor)) {
    mkdirSync(join(project, 'src'), { recursive: true });
    writeFileSync(join(project, 'src/lib.rs'), '');
    const lines = CRATES.map(({ name, version }) => `${name} = "=${version}"`);
    const head = '[package]\nname = "sources"\nversion = "0.0.0"\nedition = "2021"\n\n[dependencies]\n';
    writeFileSync(join(project, 'Cargo.toml'), `${head}${lines.join('\n')}\n`);
    await need('the sources of libzmq and libsodium (crates, with cargo)', 'cargo', ['vendor'], project);
  }
  for (const { name, sha256 } of CRATES) checkCrate(join(vendor, name), sha256);
  const sodium = join(project, 'sodium');
  if (!existsSync(sodium)) {
    mkdirSync(sodium);
    const archive = join(vendor, 'libsodium-sys-stable/LATEST.tar.gz');
    await need('tar', 'tar', ['xzf', archive, '-C', sodium, '--strip-components=1']);
  }
  return { zmq: join(vendor, 'zeromq-src/vendor'), sodium };
}

/**
 * cargo has compared the files with the checksum of the crate: that has to be the one we know.
 * @param {string} directory
 * @param {string} sha256
 */
function checkCrate(directory, sha256) {
  const found = existsSync(directory) ? readdirSync(directory) : [];
  const checksum = found.includes('.cargo-checksum.json')
    ? JSON.parse(readFileSync(join(directory, '.cargo-checksum.json'), 'utf8')).package
    : 'nothing';
  if (checksum === sha256) return;
  throw new SetupError(
    `RELEASE_SOURCES: ${directory} is ${checksum}, scripts/release/toolchain.mjs wants ${sha256}: remove it to fetch it again`,
    1,
  );
}

/**
 * @param {string} what
 * @param {string} command
 * @param {string[]} args
 * @param {string} [cwd]
 */
async function need(what, command, args, cwd) {
  const { ok, output, why } = await run({ title: what, command, args, ...(cwd ? { cwd } : {}) });
  if (ok) return;
  const lines = output.trimEnd().split('\n').slice(-5).join('\n');
  throw new SetupError(`ENV_MISSING: ${what}: ${why}\n${lines}`, 2);
}
