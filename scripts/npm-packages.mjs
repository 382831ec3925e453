// @ts-check
/** Whether node_modules is what package-lock.json asks for, judged by the list npm leaves in node_modules. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {object} LockEntry
 * @property {string} [version]
 * @property {string} [integrity]
 * @property {boolean} [link]
 * @property {boolean} [optional]
 * @property {boolean} [devOptional]
 * @property {string} [resolved]
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [optionalDependencies]
 */

/** @typedef {{packages?: Record<string, LockEntry>}} LockFile */

/**
 * Why an install is needed, or null when there is nothing to do.
 * @param {string} root
 * @returns {string | null}
 */
export function whyInstall(root) {
  const installed = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installed)) return 'nothing is installed yet';
  return firstDifference(readJson(join(root, 'package-lock.json')), readJson(installed));
}

/**
 * @param {LockFile} wanted package-lock.json
 * @param {LockFile} installed node_modules/.package-lock.json
 * @returns {string | null}
 */
export function firstDifference(wanted, installed) {
  const have = installed.packages ?? {};
  const want = wanted.packages ?? {};
  for (const [path, entry] of Object.entries(want)) {
    if (!path.includes('node_modules/')) continue; // the root and the workspaces themselves
    const found = have[path];
    // npm leaves out optional packages that are for other machines or did not build.
    if (!found && (entry.optional || entry.devOptional)) continue;
    if (!found) return `${path} is not installed`;
    if (!sameEntry(entry, found)) return `${path} is another version`;
  }
  const extra = Object.keys(have).find((path) => path.includes('node_modules/') && !(path in want));
  return extra ? `${extra} is installed but not wanted` : null;
}

/**
 * @param {LockEntry} a
 * @param {LockEntry} b
 */
function sameEntry(a, b) {
  return a.version === b.version && a.integrity === b.integrity && a.link === b.link;
}

/** @param {string} path */
function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/**
 * The npm that runs us, or the one on the PATH.
 * @param {string[]} args
 * @returns {{command: string, args: string[]}}
 */
export function npmCommand(args) {
  const cli = process.env.npm_execpath;
  if (cli && /\.c?js$/.test(cli)) return { command: process.execPath, args: [cli, ...args] };
  return { command: 'npm', args };
}
