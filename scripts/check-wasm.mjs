// @ts-check
/**
 * Compiles the checked-in WebAssembly anew and compares it with what is checked in.
 *
 * Another version of the compiler makes other code of the same sources. Each module says which one made it: with that one the bytes must be
 * equal, with another one only the sources and their digest are compared, and the output says so. Without clang and lld nothing can be
 * compared here; the unit tests still compare the digest.
 *
 *     node scripts/check-wasm.mjs     exit status 0: equal, or not comparable; 1: what is checked in is something else
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { builtFrom } from '../sdk/kernel/embed.mjs';
import { ROOT, run } from './step.mjs';

/** Where makefiles are. */
const FOLDERS = ['', 'reader', 'index', 'blocks', 'parquet'].map((name) => join('sdk/kernel', name));
/** Where what they make is checked in. */
const CHECKED_IN = 'sdk/src/wasm';

/**
 * @param {Uint8Array<ArrayBuffer>} checkedIn
 * @param {Uint8Array<ArrayBuffer>} compiled the same module, made here
 * @returns {{equal: boolean, compared: 'bytes' | 'sources'}}
 */
export function compareModules(checkedIn, compiled) {
  const [before, now] = [builtFrom(checkedIn), builtFrom(compiled)];
  if (before?.compiler === now?.compiler) {
    return { equal: Buffer.compare(checkedIn, compiled) === 0, compared: 'bytes' };
  }
  const equal = before?.sha256 === now?.sha256 && before?.sources.join() === now?.sources.join();
  return { equal, compared: 'sources' };
}

/**
 * @param {string} folder
 * @param {string[]} args
 */
async function make(folder, args) {
  const command = { title: `make ${folder}`, command: 'make', args: ['-s', '-C', folder, ...args] };
  const { ok, output } = await run(command);
  if (!ok) throw new Error(`make -C ${folder} failed:\n${output}`);
  return output.trim();
}

/**
 * @param {string} folder
 * @param {string} scratch
 * @returns {Promise<boolean>}
 */
async function check(folder, scratch) {
  mkdirSync(join(scratch, 'out'));
  await make(folder, [`B=${scratch}`, `OUT=${scratch}/out`]);
  let good = true;
  const out = join(scratch, 'out');
  for (const name of readdirSync(out)) {
    const [before, now] = [join(ROOT, CHECKED_IN, name), join(out, name)];
    const { equal, compared } = compareModules(readFileSync(before), readFileSync(now));
    good &&= equal;
    const how = compared === 'bytes' ? 'every byte' : 'another compiler here: only the digest of the sources';
    console.log(`${equal ? 'ok  ' : 'FAIL'} ${CHECKED_IN}/${name} (${how})`);
    if (!equal) console.log(`     it was not made of the sources in ${folder}; run: make -C ${folder}`);
  }
  return good;
}

async function main() {
  const compiler = await make('sdk/kernel', ['compiler']);
  if (!/clang.*, .*LLD/.test(compiler)) {
    console.log('not compared: compiling WebAssembly needs clang and lld (Debian: clang lld)');
    return;
  }
  let good = true;
  for (const folder of FOLDERS) {
    const scratch = mkdtempSync(join(tmpdir(), 'uscope-wasm-'));
    try {
      good = (await check(folder, scratch)) && good;
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  }
  process.exitCode = good ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
