// @ts-check
/**
 * Proves that a leaf (a foreign format, MCP, datasets) can be deleted: without its folders and the lines that register it, all other sources
 * pass the type check and the rules of imports, and the command works. Each leaf is deleted in a copy of the sources; tests do not count.
 *
 *     node scripts/leaves.mjs [LEAF...]     default: all; the last line is `N passed, N failed`
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkImports } from './check-imports.mjs';
import { ROOT } from './step.mjs';

const SAMPLE = join(ROOT, 'test/compatibility/0.1.0/traces/closed-lz4.uscope');
const COMPILER = join(ROOT, 'node_modules/typescript-7/bin/tsc');
const REGISTRIES = ['formats/registry.ts', 'cli/leaves.ts'];

/** Rooms of `formats` that are no format: they serve several. */
const SHARED = ['common', 'pipeline', 'retired', 'text'];

/** Folders of a leaf that are not its own by their name: a verb of the command, or a room that is built on it. */
const MORE = new Map([
  ['ctrace', ['cli/ctrace']],
  ['ftr', ['recording']],
]);

/** @param {string} sources @returns {Map<string, string[]>} name of a leaf -> its folders */
function leavesIn(sources) {
  /** @type {Map<string, string[]>} */
  const leaves = new Map();
  for (const entry of readdirSync(join(sources, 'formats'), { withFileTypes: true }))
    if (entry.isDirectory() && !SHARED.includes(entry.name))
      leaves.set(entry.name, [`formats/${entry.name}`, ...(MORE.get(entry.name) ?? [])]);
  return leaves.set('mcp', ['cli/mcp']).set('dataset', ['dataset', 'cli/dataset']);
}

/** A copy of what the package is built of. */
function copyOfPackage() {
  const copy = mkdtempSync(join(tmpdir(), 'uscope-leaves-'));
  mkdirSync(join(copy, 'sdk'));
  for (const name of ['tsconfig.json', 'sdk/package.json', 'sdk/tsconfig.build.json', 'sdk/bin', 'sdk/src'])
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Deletes the lines that load something of the folders. @param {string} sources @param {readonly string[]} folders @returns {number} how many */
function unregister(sources, folders) {
  let removed = 0;
  for (const registry of REGISTRIES) {
    const path = join(sources, registry);
    const room = registry.slice(0, registry.indexOf('/') + 1);
    const own = folders
      .filter((folder) => folder.startsWith(room))
      .map((folder) => `'./${folder.slice(room.length)}/`);
    const lines = readFileSync(path, 'utf8').split('\n');
    const rest = lines.filter((line) => !own.some((start) => line.includes(start)));
    removed += lines.length - rest.length;
    writeFileSync(path, rest.join('\n'));
  }
  return removed;
}

/** @param {string} directory @returns {ReadonlyMap<string, string>} */
function textsOf(directory) {
  const names = /** @type {string[]} */ (readdirSync(directory, { recursive: true }));
  return new Map(
    names
      .filter((name) => name.endsWith('.ts'))
      .map((name) => [name, readFileSync(join(directory, name), 'utf8')]),
  );
}

/** @param {string} copy @param {string[]} args @returns {string} its output */
const node = (copy, ...args) =>
  execFileSync(process.execPath, args, { cwd: copy, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** What is wrong without the leaf, a line each. @param {string} copy @param {readonly string[]} folders @returns {string[]} */
function faultsWithout(copy, folders) {
  const sources = join(copy, 'sdk/src');
  for (const root of ['sdk/src', 'sdk/dist'])
    for (const folder of folders) rmSync(join(copy, root, folder), { recursive: true, force: true });
  if (unregister(sources, folders) === 0) return ['no line registers it'];
  const faults = checkImports(textsOf(sources)).map(({ file, rule }) => `${file} ${rule}`);
  try {
    node(copy, COMPILER, '-p', 'sdk/tsconfig.build.json');
    node(copy, 'sdk/bin/uscope.js', '--help');
    node(copy, 'sdk/bin/uscope.js', 'run', '--help');
    node(copy, 'sdk/bin/uscope.js', 'convert', '--formats');
    node(copy, 'sdk/bin/uscope.js', 'info', SAMPLE);
  } catch (error) {
    const {
      stdout = '',
      stderr = '',
      message,
    } = /** @type {Error & { stdout?: string, stderr?: string }} */ (error);
    faults.push(...(stdout + stderr || message).trim().split('\n'));
  }
  return faults;
}

function main() {
  const all = leavesIn(join(ROOT, 'sdk/src'));
  const wanted = process.argv.slice(2);
  const unknown = wanted.find((name) => !all.has(name));
  if (unknown !== undefined) {
    console.error(`CLI_USAGE: ${unknown} is none of the leaves ${[...all.keys()].join(', ')}`);
    process.exit(2);
  }
  const copy = copyOfPackage();
  let failed = 0;
  const names = wanted.length > 0 ? wanted : [...all.keys()];
  try {
    for (const name of names) {
      const faults = faultsWithout(copy, all.get(name) ?? []);
      if (faults.length > 0) failed++;
      console.log(`${faults.length === 0 ? 'ok  ' : 'FAIL'} without ${name}`);
      for (const fault of faults) console.log(`     ${fault}`);
      cpSync(join(ROOT, 'sdk/src'), join(copy, 'sdk/src'), { recursive: true });
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  console.log(`${names.length - failed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

main();
