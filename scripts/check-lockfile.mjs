// @ts-check
/**
 * What package-lock.json must be like, so that `npm ci` works everywhere:
 *
 *   1. no entry says from which registry it came (`.npmrc` sees to it): the file then works with every mirror;
 *   2. every dependency has an entry, also those for other platforms. npm leaves out optional packages that its
 *      registry did not have when the file was written, and `npm ci` then refuses the file;
 *   3. every package has the hash of its contents, so that no mirror can give another one.
 *
 *     node scripts/check-lockfile.mjs [FILE]     exit status 0 in order, 1 violations
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './step.mjs';

/** @typedef {import('./npm-packages.mjs').LockFile} LockFile */

/**
 * @param {LockFile} lock
 * @returns {string[]} violations
 */
export function checkLockFile(lock) {
  return [...entriesWithHost(lock), ...entriesMissing(lock), ...entriesWithoutHash(lock)];
}

/** @param {LockFile} lock */
function entriesWithHost(lock) {
  const packages = Object.entries(lock.packages ?? {});
  const named = packages.filter(([, { resolved }]) => resolved?.includes('://'));
  return named.map(([path]) => `${path} names a registry host ("resolved"): write the file with this .npmrc`);
}

/** @param {LockFile} lock */
function entriesWithoutHash(lock) {
  const fetched = Object.entries(lock.packages ?? {}).filter(
    ([path, { link }]) => path.startsWith('node_modules/') && !link,
  );
  const without = fetched.filter(([, { integrity }]) => !integrity);
  return without.map(
    ([path]) => `${path} has no "integrity": add what \`npm view NAME@VERSION dist.integrity\` prints`,
  );
}

/** @param {LockFile} lock */
function entriesMissing(lock) {
  const packages = lock.packages ?? {};
  return Object.entries(packages).flatMap(([path, entry]) => {
    const wanted = Object.keys({ ...entry.dependencies, ...entry.optionalDependencies });
    const missing = wanted.filter((name) => !placesOf(path, name).some((place) => place in packages));
    return missing.map((name) => `${path || 'the root'} needs ${name}, which has no entry: add it by hand`);
  });
}

/**
 * Where Node looks for a package from a folder of the tree, innermost first.
 * @param {string} path
 * @param {string} name
 */
function placesOf(path, name) {
  const places = [];
  for (let at = path; at !== ''; at = at.slice(0, Math.max(at.lastIndexOf('/'), 0))) {
    if (!at.endsWith('node_modules')) places.push(`${at}/node_modules/${name}`);
  }
  return [...places, `node_modules/${name}`];
}

function main() {
  const file = process.argv[2] ?? join(ROOT, 'package-lock.json');
  const violations = checkLockFile(JSON.parse(readFileSync(file, 'utf8')));
  for (const violation of violations) console.error(`package-lock.json: ${violation}`);
  process.exitCode = violations.length > 0 ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
