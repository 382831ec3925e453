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
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT, run } from './step.mjs';

/** Where a makefile is, and where what it makes is checked in. */
const KERNELS = [
  { folder: 'sdk/kernel', checkedIn: 'sdk/src/native' },
  { folder: 'sdk/kernel/reader', checkedIn: 'sdk/src/reader/kernel' },
  { folder: 'sdk/kernel/index', checkedIn: 'sdk/src/trace-index/kernel' },
  { folder: 'sdk/kernel/blocks', checkedIn: 'sdk/src/semantics/blocks/kernel' },
  { folder: 'sdk/kernel/parquet', checkedIn: 'sdk/src/dataset/parquet/kernel' },
];

/**
 * @param {string} checkedIn text of the module that is checked in
 * @param {string} compiled text of the same module, made here
 * @returns {{equal: boolean, compared: 'bytes' | 'sources'}}
 */
export function compareModules(checkedIn, compiled) {
  const sameCompiler = partOf(checkedIn, 'COMPILER') === partOf(compiled, 'COMPILER');
  if (sameCompiler) return { equal: checkedIn === compiled, compared: 'bytes' };
  const equal = ['SOURCES', 'SOURCES_SHA256'].every(
    (name) => partOf(checkedIn, name) !== null && partOf(checkedIn, name) === partOf(compiled, name),
  );
  return { equal, compared: 'sources' };
}

/**
 * @param {string} text
 * @param {string} name of a constant
 */
function partOf(text, name) {
  return new RegExp(`^export const ${name} = ([^;]*);`, 'm').exec(text)?.[1] ?? null;
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
 * @param {{folder: string, checkedIn: string}} kernel
 * @param {string} scratch
 * @returns {Promise<boolean>}
 */
async function check({ folder, checkedIn }, scratch) {
  await make(folder, [`B=${scratch}`, `OUT=${scratch}`]);
  let good = true;
  for (const name of readdirSync(scratch).filter((file) => file.endsWith('.ts'))) {
    const [before, now] = [join(ROOT, checkedIn, name), join(scratch, name)];
    const { equal, compared } = compareModules(readFileSync(before, 'utf8'), readFileSync(now, 'utf8'));
    good &&= equal;
    const how = compared === 'bytes' ? 'every byte' : 'another compiler here: only the digest of the sources';
    console.log(`${equal ? 'ok  ' : 'FAIL'} ${checkedIn}/${name} (${how})`);
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
  for (const kernel of KERNELS) {
    const scratch = mkdtempSync(join(tmpdir(), 'uscope-wasm-'));
    try {
      good = (await check(kernel, scratch)) && good;
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  }
  process.exitCode = good ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
