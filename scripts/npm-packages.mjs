// @ts-check
/**
 * Whether node_modules is what package-lock.json asks for, judged by the list npm leaves in node_modules. npm leaves out of that list what
 * is optional and did not install; whether it tried is known from the lock file of our last `npm ci`, which is written down next to it.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {object} LockEntry
 * @property {string} [version]
 * @property {string} [integrity]
 * @property {boolean} [link]
 * @property {boolean} [optional]
 * @property {boolean} [devOptional]
 * @property {string[]} [os]
 * @property {string[]} [cpu]
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
  const lockFile = join(root, 'package-lock.json');
  const wasTried = existsSync(stampOf(root)) && readFileSync(stampOf(root), 'utf8') === digestOf(lockFile);
  return firstDifference(readJson(lockFile), readJson(installed), wasTried);
}

/**
 * After a successful `npm ci`: what is optional and is not there now will not install.
 * @param {string} root
 */
export function noteInstalled(root) {
  writeFileSync(stampOf(root), digestOf(join(root, 'package-lock.json')));
}

/** @param {string} root */
const stampOf = (root) => join(root, 'node_modules', '.installed-from');

/** @param {string} file */
const digestOf = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');

/**
 * @param {LockFile} wanted package-lock.json
 * @param {LockFile} installed node_modules/.package-lock.json
 * @param {boolean} wasTried npm was given this lock file: what is optional and is not there did not install
 * @returns {string | null}
 */
export function firstDifference(wanted, installed, wasTried) {
  const have = installed.packages ?? {};
  const want = wanted.packages ?? {};
  for (const [path, entry] of Object.entries(want)) {
    if (!path.includes('node_modules/')) continue; // the root and the workspaces themselves
    const found = have[path];
    if (!found && (entry.optional || entry.devOptional) && (wasTried || !isForThisMachine(entry))) continue;
    if (!found) return `${path} is not installed`;
    if (!sameEntry(entry, found)) return `${path} is another version`;
  }
  const extra = Object.keys(have).find((path) => path.includes('node_modules/') && !(path in want));
  return extra ? `${extra} is installed but not wanted` : null;
}

/** @param {LockEntry} entry */
function isForThisMachine({ os, cpu }) {
  /** @param {string[] | undefined} list @param {string} value */
  const allows = (list, value) => {
    if (list === undefined || list.includes(value)) return true;
    return list.every((item) => item.startsWith('!')) && !list.includes(`!${value}`);
  };
  return allows(os, process.platform) && allows(cpu, process.arch);
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
