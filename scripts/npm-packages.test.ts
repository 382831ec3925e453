import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkLockFile } from './check-lockfile.mjs';
import { firstDifference } from './npm-packages.mjs';
import { ROOT } from './step.mjs';

const wanted = {
  packages: {
    '': { version: '1.0.0' },
    sdk: { version: '0.1.0' },
    'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
    'node_modules/optional': { version: '2.0.0', integrity: 'sha512-o', optional: true },
    'node_modules/elsewhere': { version: '2.0.0', integrity: 'sha512-e', optional: true, os: ['plan9'] },
    'node_modules/uscope': { resolved: 'sdk', link: true },
  },
};

function installed(changes: Record<string, object | undefined>) {
  const { '': _root, ...rest } = wanted.packages;
  const { 'node_modules/optional': _optional, 'node_modules/elsewhere': _elsewhere, ...packages } = rest;
  const entries = Object.entries({ ...packages, ...changes }).filter(([, entry]) => entry !== undefined);
  return { packages: Object.fromEntries(entries) as Record<string, object> };
}

describe('installed packages against the lock file', () => {
  it('are in order when only optional ones are absent, which npm could not install', () => {
    expect(firstDifference(wanted, installed({}), true)).toBeNull();
  });

  it('are not when an optional one is new, unless it is for other machines', () => {
    expect(firstDifference(wanted, installed({}), false)).toBe('node_modules/optional is not installed');
    const there = { 'node_modules/optional': { version: '2.0.0', integrity: 'sha512-o' } };
    expect(firstDifference(wanted, installed(there), false)).toBeNull();
  });

  it.each([
    ['a package is missing', { 'node_modules/a': undefined }, 'node_modules/a is not installed'],
    [
      'a package has another version',
      { 'node_modules/a': { version: '0.9.0', integrity: 'sha512-a' } },
      'node_modules/a is another version',
    ],
    [
      'a package has other contents',
      { 'node_modules/a': { version: '1.0.0', integrity: 'sha512-b' } },
      'node_modules/a is another version',
    ],
    [
      'a workspace is not linked',
      { 'node_modules/uscope': undefined },
      'node_modules/uscope is not installed',
    ],
    [
      'a package is left over',
      { 'node_modules/b': { version: '1.0.0' } },
      'node_modules/b is installed but not wanted',
    ],
  ])('are not when %s', (_what, changes, reason) => {
    expect(firstDifference(wanted, installed(changes), true)).toBe(reason);
  });
});

describe('package-lock.json', () => {
  it('of this repository is in order', () => {
    expect(checkLockFile(JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')))).toEqual([]);
  });

  it('may not name a registry', () => {
    const lock = {
      packages: {
        'node_modules/a': { resolved: 'https://registry.example/a-1.0.0.tgz', integrity: 'sha512-a' },
      },
    };
    expect(checkLockFile(lock)).toEqual([expect.stringContaining('node_modules/a names a registry host')]);
  });

  it('may not leave out the hash of what is fetched', () => {
    const lock = { packages: { sdk: {}, 'node_modules/uscope': { link: true }, 'node_modules/a': {} } };
    expect(checkLockFile(lock)).toEqual([expect.stringContaining('node_modules/a has no "integrity"')]);
  });

  it('may not leave out what another platform needs', () => {
    const lock = {
      packages: { 'node_modules/a': { integrity: 'sha512-a', optionalDependencies: { 'a-win32': '1.0.0' } } },
    };
    expect(checkLockFile(lock)).toEqual([expect.stringContaining('node_modules/a needs a-win32')]);
  });

  it('may keep a dependency inside the package that needs it', () => {
    const lock = {
      packages: {
        'node_modules/@x/a': { dependencies: { b: '1' }, integrity: 'sha512-a' },
        'node_modules/@x/a/node_modules/b': { integrity: 'sha512-b' },
      },
    };
    expect(checkLockFile(lock)).toEqual([]);
  });
});
