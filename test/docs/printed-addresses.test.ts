/** Every address of a document that a product prints, in an error, a help text or a generated file, exists. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const PRODUCTS = [
  'sdk/src',
  'viewer/src',
  'dpi/src',
  'dpi/include',
  'cocotb-adapter/src',
  'python-command/src',
  'sv',
];
const SOURCE = /\.(tsx?|mjs|c|h|hpp|py|svh?|mk|yaml)$/;
const ADDRESS = /\bdocs\/[\w/-]+(?:\.md)?/g;

const files = PRODUCTS.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((name) => SOURCE.test(name) && !/\.test\.ts$|node_modules/.test(name)),
);
const addresses = files.flatMap((file) =>
  [...readFileSync(join(root, file), 'utf8').matchAll(ADDRESS)].map(([address]) => ({ file, address })),
);

it('finds the addresses of errors, help texts and generated code', () => {
  const printing = new Set(addresses.map(({ file }) => file));
  for (const file of [
    'sdk/src/formats/strangers.ts',
    'sdk/src/cli/verbs/codegen.ts',
    'sdk/src/schema/codegen/typescript.ts',
    'sv/mk/vcs.mk',
  ])
    expect(printing).toContain(file);
});

it('each exists', () => {
  expect(addresses.filter(({ address }) => !existsSync(join(root, address)))).toEqual([]);
});
