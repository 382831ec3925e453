// @ts-check
/**
 * The version of everything is that of sdk/package.json. The C header, the Python packages, the FuseSoC file and package-lock.json repeat it: this
 * writes them.
 *
 *     node scripts/version.mjs            writes the version into all places
 *     node scripts/version.mjs 0.2.0      raises it first
 *     node scripts/version.mjs --check    writes nothing; exit status 1 when a place has another version
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './step.mjs';

const SOURCE = 'sdk/package.json';
/**
 * What precedes and what follows the version, in each file.
 * @type {readonly (readonly [path: string, before: RegExp])[]}
 */
export const PLACES = [
  [SOURCE, /^\{\s*"name": "uscope",\s*"version": "/],
  ['package-lock.json', /"sdk": \{\s*"name": "uscope",\s*"version": "/],
  ['dpi/include/uscope.h', /#define USCOPE_VERSION_STRING +"/],
  ['cocotb-adapter/src/cocotbext/uscope/version.py', /__version__ = "/],
  ['python-command/src/uscope/version.py', /__version__ = "/],
  ['sv/uscope.core', /name: uscope:trace:uscope_pkg:/],
];

const VERSION = /^\d+\.\d+\.\d+(?:-[0-9a-z.]+)?$/;
/** The version at the beginning of the text. */
const VERSION_THERE = /^\d+\.\d+\.\d+(?:-[0-9a-z.]+)?/;

/**
 * Where the version is in a text.
 * @param {string} path
 * @param {RegExp} before
 * @param {string} text
 */
function find(path, before, text) {
  const match = before.exec(text);
  const start = match ? match.index + match[0].length : -1;
  const version = match ? VERSION_THERE.exec(text.slice(start))?.[0] : undefined;
  if (version === undefined)
    throw new Error(`${path} has no version after ${before}: see scripts/version.mjs`);
  return { start, version };
}

/**
 * The version in a text of one of the places.
 * @param {string} path
 * @param {RegExp} before
 * @param {string} text
 */
export function versionIn(path, before, text) {
  return find(path, before, text).version;
}

/**
 * The text with another version.
 * @param {string} path
 * @param {RegExp} before
 * @param {string} text
 * @param {string} version
 */
export function withVersion(path, before, text, version) {
  const found = find(path, before, text);
  return text.slice(0, found.start) + version + text.slice(found.start + found.version.length);
}

function main() {
  const [argument] = process.argv.slice(2);
  const read = (/** @type {string} */ path) => readFileSync(join(ROOT, path), 'utf8');
  if (argument && argument !== '--check' && !VERSION.test(argument)) {
    console.error(`${argument} is not a version: write MAJOR.MINOR.PATCH, such as 0.2.0`);
    process.exit(1);
  }
  const version = argument && argument !== '--check' ? argument : JSON.parse(read(SOURCE)).version;
  for (const [path, before] of PLACES) {
    const text = read(path);
    const there = versionIn(path, before, text);
    if (there === version) continue;
    if (argument === '--check') {
      console.error(`${path} has version ${there}, ${SOURCE} has ${version}: run node scripts/version.mjs`);
      process.exitCode = 1;
    } else writeFileSync(join(ROOT, path), withVersion(path, before, text, version));
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
