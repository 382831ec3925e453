// @ts-check
/**
 * Builds sdk/dist, if it is not what the sources give already: the compiler needs seconds to find that. Types are not checked here:
 * `npm run check` and `npm test` do that, for tests as well.
 *
 *     node scripts/sdk-build.mjs
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { writeWasmModules } from './wasm-modules.mjs';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const SOURCES = join(ROOT, 'sdk/src');
/** The one in machine code, which emits the same in a quarter of the time. */
const COMPILER = 'node_modules/typescript-7/bin/tsc';
/** Digest of what sdk/dist was built from. */
const STAMP = join(ROOT, 'sdk/dist/.built-from');
const SETTINGS = [
  'sdk/tsconfig.build.json',
  'tsconfig.json',
  'package-lock.json',
  'scripts/wasm-modules.mjs',
];
const KERNELS = 'wasm';
/** Written by every build, so that one by another program in between is seen. */
const BUILD_INFO = ['sdk/dist/.tsbuildinfo'];

/** Brings sdk/dist up to date with the sources. */
export function buildSdk() {
  const sources = digestOf([...sourceFiles(), ...SETTINGS]);
  if (contents(STAMP) === sources + digestOf(BUILD_INFO)) return;
  const command = [COMPILER, '-p', 'sdk/tsconfig.build.json', '--noCheck'];
  execFileSync(process.execPath, command, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
  writeWasmModules(join(SOURCES, KERNELS), join(ROOT, 'sdk/dist', KERNELS));
  writeFileSync(STAMP, sources + digestOf(BUILD_INFO));
}

function sourceFiles() {
  const names = /** @type {string[]} */ (readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }));
  return names
    .filter((name) => /\.([cm]?[jt]s|wasm)$/.test(name) && !name.endsWith('.test.ts'))
    .map((name) => join('sdk/src', name))
    .sort();
}

/** @param {readonly string[]} files */
function digestOf(files) {
  const hash = createHash('sha256');
  for (const name of files) {
    const text = contents(join(ROOT, name));
    hash.update(`${name} ${text?.length}\n`).update(text ?? '');
  }
  return hash.digest('hex');
}

/** @param {string} file */
function contents(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) buildSdk();
