// @ts-check
/**
 * `npm run compatibility`: stores what this release writes, for the tests of later releases (docs/reference/compatibility.md), in
 * test/compatibility/VERSION. Needs what `npm run setup` builds, and Python with pyzmq and msgpack: the environment of the cocotb adapter's
 * tests, or the one that PYTHON names.
 *
 *     node scripts/compatibility.mjs [--force] [--out FOLDER] [--no-python]
 *
 * --force replaces the folder of a version that has not been released; --out writes into another folder; --no-python leaves the Python client out.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { openTraceFile, parseSchema } from 'uscope';
import { listSchema, listTrace, writeJson } from '../test/compatibility/listing.mjs';
import { makeConversations } from '../test/compatibility/make/conversations.mjs';
import { makeTraces } from '../test/compatibility/make/traces.mjs';
import { PYTHON } from './cocotb.mjs';
import { ROOT } from './step.mjs';

const FOLDER = join(ROOT, 'test/compatibility');
/** Schema files of a release: those that a user would have copied. */
const SCHEMAS = [
  'test/compatibility/make/cores.yaml',
  'verilator-demo/schema.yaml',
  'verilator-demo/noc.yaml',
  'examples/two-clocks/schema.yaml',
];

/** @returns {Promise<number>} exit status */
async function main() {
  const { values } = parseArgs({
    options: {
      force: { type: 'boolean', default: false },
      out: { type: 'string' },
      'no-python': { type: 'boolean', default: false },
    },
  });
  const { version } = JSON.parse(readFileSync(join(ROOT, 'sdk/package.json'), 'utf8'));
  const folder = values.out ?? join(FOLDER, version);
  if (values.out === undefined && existsSync(folder)) {
    if (!values.force) {
      console.error(`test/compatibility/${version} is there: what a release has written stays as it is`);
      return 1;
    }
    rmSync(folder, { recursive: true });
  }
  await makeTraces(join(folder, 'traces'));
  const python = values['no-python'] ? null : (process.env.PYTHON ?? PYTHON);
  await makeConversations(join(folder, 'conversations'), python);
  await listAll(join(folder, 'traces'));
  await listAll(join(folder, 'conversations'));
  storeSchemas(join(folder, 'schemas'));
  console.log(relative(ROOT, folder));
  return 0;
}

/** The listing of each trace, next to it. @param {string} folder */
async function listAll(folder) {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.uscope'))) {
    const trace = await openTraceFile(join(folder, name));
    writeJson(join(folder, name.replace(/uscope$/, 'json')), await listTrace(trace));
    await trace.close();
  }
}

/** @param {string} folder */
function storeSchemas(folder) {
  mkdirSync(folder);
  for (const path of SCHEMAS) {
    const name = path.replace(/^test\/compatibility\/make\//, '').replaceAll('/', '-');
    copyFileSync(join(ROOT, path), join(folder, name));
    const { schema, dut } = parseSchema(readFileSync(join(ROOT, path), 'utf8'), { variables: { core: '0' } });
    writeJson(join(folder, name.replace(/yaml$/, 'json')), { ...listSchema(schema), dut });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.exitCode = await main();
