/** The generated constants: one definition, files of three languages that say the same. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as bridge from '../sdk/src/bridge/wire/constants.js';
import * as format from '../sdk/src/format/constants.js';
import { limitOfFile, PROCESSES_MS } from '../test/support/limits.js';
import { constantFiles, staleFiles } from './constants.mjs';
import { ROOMS } from './constants-definition.mjs';
import { ROOT } from './step.mjs';

// Generators and compilers are started.
limitOfFile(PROCESSES_MS);

const files = constantFiles();
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

it('the generated files are those of the definition (else: node scripts/constants.mjs)', () => {
  expect(staleFiles(files, read)).toEqual([]);
});

it('a file that was edited, and one that is missing, are stale', () => {
  const [edited, missing] = [...files.keys()];
  const readOther = (path: string) =>
    path === missing ? null : path === edited ? read(path).replace('0x10', '0x14') : read(path);
  expect(staleFiles(files, readOther)).toEqual([edited, missing]);
});

/** Name -> value, as C and Python name them. */
const expected = new Map(
  ROOMS.flatMap(({ groups, constants }) => [
    ...groups.flatMap(({ prefix, values }) =>
      Object.entries(values).map(([key, value]) => [`${prefix}_${key}`, value] as const),
    ),
    ...constants.map(({ name, value }) => [name, value] as const),
  ]),
);

it('no name has two meanings', () => {
  const names = ROOMS.flatMap(({ groups, constants }) => [
    ...groups.flatMap(({ prefix, values }) => Object.keys(values).map((key) => `${prefix}_${key}`)),
    ...constants.map(({ name }) => name),
  ]);
  expect(names.length).toBe(new Set(names).size);
});

it('TypeScript has every number', () => {
  const all: Record<string, unknown> = { ...format, ...bridge };
  for (const { groups, constants } of ROOMS) {
    for (const { name, values } of groups) expect(all[name]).toEqual(values);
    for (const { name, value } of constants) expect([name, all[name]]).toEqual([name, value]);
  }
});

it('a C compiler finds every number in both headers, but those of clients only in theirs', () => {
  const ofClients = ROOMS.flatMap((room) => room.constants.filter(({ isOfClients }) => isOfClients));
  const names = new Set(ofClients.map(({ name }) => name));
  const headers = {
    'sdk/kernel/constants.h': [...expected].filter(([name]) => !names.has(name)),
    'dpi/src/base/constants.h': [...expected],
  };
  for (const [header, numbers] of Object.entries(headers)) {
    const asserts = numbers.map(
      ([name, value]) => `_Static_assert((long long)${name} == ${value}, "${name}");`,
    );
    const source = `#include "${join(ROOT, header)}"\n${asserts.join('\n')}\n`;
    const args = ['-std=c11', '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-fsyntax-only', '-x', 'c', '-'];
    execFileSync('cc', args, { input: source });
  }
});

const hasPython = spawnSync('python3', ['--version']).status === 0;

it.skipIf(!hasPython)('Python has every number', () => {
  const path = join(ROOT, 'cocotb-adapter/src/cocotbext/uscope/constants.py');
  const script = `import json, runpy, sys
names = runpy.run_path(sys.argv[1])
print(json.dumps({k: v for k, v in names.items() if isinstance(v, int)}))`;
  const found = JSON.parse(execFileSync('python3', ['-c', script, path], { encoding: 'utf8' }));
  expect(found).toEqual(Object.fromEntries(expected));
});
