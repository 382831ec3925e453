// @ts-check
/**
 * Writes what the contracts in sdk/protocols/*.yaml say into the places that need it:
 *
 *     sdk/src/protocols/definitions.ts     names and shapes
 *     sdk/src/protocols/templates.ts       schemas to begin with
 *     docs/reference/protocols.md          the sections between `<!-- protocol: NAME -->` and `<!-- end -->`
 *
 *     node scripts/protocols.mjs [--check]     --check: writes nothing; exit status 1 when a file is not what would be written
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse } from 'yaml';
import { protocolSection } from './protocols/page.mjs';
import { templateText } from './protocols/template.mjs';
import { ROOT } from './step.mjs';

const NAMES = ['cpu', 'noc', 'tr'];
const PAGE = 'docs/reference/protocols.md';
const BLOCK = /<!-- protocol: (\w+) -->\n.*?<!-- end -->/gs;
const ORIGIN = '/** Written by scripts/protocols.mjs: change sdk/protocols/*.yaml and run it. */';

const read = (/** @type {string} */ path) => readFileSync(join(ROOT, path), 'utf8');

/** Name -> the contract as its file has it. */
export const contracts = () =>
  new Map(NAMES.map((name) => [name, parse(read(`sdk/protocols/${name}.yaml`))]));

/** @returns {Map<string, string>} path -> what has to be in it */
export function protocolFiles() {
  const all = contracts();
  const page = read(PAGE).replace(
    BLOCK,
    (_, name) => `<!-- protocol: ${name} -->\n${protocolSection(all.get(name))}<!-- end -->`,
  );
  return new Map([
    ['sdk/src/protocols/definitions.ts', definitionsText(all)],
    ['sdk/src/protocols/templates.ts', templatesText(all)],
    [PAGE, page],
  ]);
}

/** @param {ReadonlyMap<string, any>} all */
function definitionsText(all) {
  const constants = [...all].map(
    ([name, contract]) =>
      `export const ${name.toUpperCase()} = ${JSON.stringify(shapeOf(contract))} as const satisfies Protocol;`,
  );
  return formatted(
    'definitions.ts',
    `${ORIGIN}\nimport type { Protocol } from './model.js';\n\n${constants.join('\n\n')}\n`,
  );
}

/** What programs need: the sentences for people stay in the page. @param {any} contract */
function shapeOf(contract) {
  const { protocol, version, prefix, isExact, id, reserved } = contract;
  return {
    ...{ protocol, version, prefix, isExact, id },
    properties: Object.keys(contract.properties),
    enums: mapped(contract.enums, ({ labels }) => labels),
    storages: mapped(contract.storages, partOf),
    shapes: mapped(contract.shapes, partOf),
    counters: mapped(contract.counters, ({ also }) => also),
    events: mapped(contract.events, partOf),
    reserved: {
      storages: mapped(reserved.storages, (fields) => mapped(fields, fieldOf)),
      events: mapped(reserved.events, partOf),
    },
  };
}

const partOf = (/** @type {any} */ { presence, without, kind, slots, isFollowed, fields }) => ({
  ...{ kind, slots, isFollowed, presence, without },
  fields: mapped(fields, fieldOf),
});
const fieldOf = (/** @type {any} */ { type, enum: labels, presence, without, byPosition }) => ({
  ...{ type, enum: labels, presence, without, byPosition },
});

/** @param {Record<string, any>} entries @param {(value: any) => unknown} change */
const mapped = (entries, change) =>
  Object.fromEntries(Object.entries(entries).map(([name, value]) => [name, change(value)]));

/** @param {ReadonlyMap<string, any>} all */
function templatesText(all) {
  const texts = [...all].map(
    ([name, contract]) => `${name}: \`${templateText(contract).replaceAll('$', '\\$')}\``,
  );
  return formatted(
    'templates.ts',
    `${ORIGIN}\n\n/** Schemas to begin with, by protocol. */\nexport const TEMPLATES = {${texts.join(',')}} as const;\n`,
  );
}

/** @param {string} name @param {string} text */
function formatted(name, text) {
  const path = join(ROOT, 'sdk/src/protocols', name);
  const biome = join(ROOT, 'node_modules/@biomejs/biome/bin/biome');
  return execFileSync(process.execPath, [biome, 'format', `--stdin-file-path=${path}`], {
    input: text,
    encoding: 'utf8',
  });
}

function main() {
  const isCheck = process.argv.includes('--check');
  for (const [path, text] of protocolFiles()) {
    if (read(path) === text) continue;
    if (isCheck) {
      console.error(`${path} is not what sdk/protocols says: run node scripts/protocols.mjs`);
      process.exitCode = 1;
    } else writeFileSync(join(ROOT, path), text);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
