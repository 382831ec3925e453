#!/usr/bin/env node
// @ts-check
/**
 * Tells whether two checkouts print and write the same, before and after a change that must change no output.
 *
 *     node scripts/same-outputs.mjs BASE NEW [--traces DIR]... [--only TEXT] [--keep DIR]
 *
 * BASE and NEW are checkouts in which `npm run build` has been run. The traces are the samples in NEW's test/vectors and test/compatibility,
 * and those below each DIR, such as verilator-demo/out; `--only` takes the ones with TEXT in their path. Each checkout gets a copy of each
 * trace, runs the reading verbs on it, converts it to every format and back, exports it and asks for the rows. What the verbs print, their
 * exit status and every file that they write must be equal byte for byte. `--keep` leaves both sides in DIR.
 * Exit status: 0 the same, 1 different, 2 wrong usage.
 *
 * The clock stands still and random bytes repeat in the processes that run the verbs, so files with a date or an identity are equal too.
 */
import { execFile } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs, promisify } from 'node:util';

/**
 * Files of a side that may differ: the layout of a Parquet file is free (`uscope sql` compares the rows), and `_runs` holds sizes of these.
 */
const EXCEPTIONS = [/\.parquet$/, /^dataset\/_runs\//];

/** The clock during the verbs: 2026-01-01. */
const NOW = 1_767_225_600_000;
/** `dump` prints only a part of a larger trace. */
const LONG_TRACE = 4_000_000;
const SAMPLES = /\.(uscope|stf|zstf|ftr|flux|ctrace|kanata|out|vcd|log|txlog|gz|xz)$/;
const TRACE = 'trace.uscope';

/** What follows the trace on the command line of each verb; alternatives are separated by `|`. */
const VERBS = {
  info: '|--json --count',
  stats: '|--json --points 7|--exact --json|--all-cores|--html stats.html',
  buffers: '|--json --series 5|--exact --json',
  counters: '|--json --series 5 --per-cycle|--exact',
  events: '--limit 5000|--json --limit 5000',
  timeline: '|--json|--all-cores|--last 40',
  schema: '|--json',
  find: 'a --limit 50',
  state: '--at 5000',
  verify: '',
  doctor: '',
  slice: '--from 0 --to 9000 -o slice.uscope',
  diff: 'slice.uscope|slice.uscope --by retired --json',
  merge: 'slice.uscope -o merged.uscope',
  recover: '-o recovered.uscope',
  export: '-o dataset --run run',
  convert: '-o written.pftrace',
};
const BOTH_WAYS = ['stf', 'ftr', 'flux', 'ctrace', 'kanata', 'vcd'];
const TABLES = 'traces instructions stages events slots counters stalls transactions occupancy gaps';

/**
 * The command lines for a trace, in order: later ones read what earlier ones wrote.
 * @param {string} name of the file in the folder of the side
 * @param {number} size
 * @param {string[]} options of `convert`
 */
function commandLines(name, size, options) {
  const onTrace = (/** @type {[string, string]} */ [verb, rests]) =>
    rests.split('|').map((rest) => [verb, TRACE, ...rest.split(' ').filter(Boolean)]);
  const part = size > LONG_TRACE ? '--cycles 1000:9000' : '';
  return [
    ...(name === TRACE ? [] : [['convert', name, '-o', TRACE, ...options]]),
    ...Object.entries({ dump: `${part}|--jsonl ${part}`, ...VERBS }).flatMap(onTrace),
    ...BOTH_WAYS.flatMap((format) => [
      ['convert', TRACE, '-o', `written.${format}`],
      ['convert', `written.${format}`, '-o', `${format}.uscope`],
      ['diff', TRACE, `${format}.uscope`],
    ]),
    ...TABLES.split(' ').map((table) => {
      return ['sql', 'dataset', `SELECT * FROM ${table} ORDER BY ALL LIMIT 20000`, '--jsonl', '--no-links'];
    }),
  ];
}

/**
 * One side, which has a process: runs the command lines with the command of `checkout` in the current folder.
 * @param {string} checkout
 * @param {string[][]} lines
 */
async function runSide(checkout, lines) {
  standStill();
  const part = (/** @type {string} */ path) =>
    import(pathToFileURL(join(checkout, 'sdk/dist/cli', path)).href);
  const [{ runCli }, { useIo }] = await Promise.all([part('main.js'), part('common/io.js')]);
  for (const [index, line] of lines.entries()) {
    const output = fs.openSync(`${String(index).padStart(2, '0')}-${line[0]}.txt`, 'w');
    const out = (/** @type {string} */ text) => void fs.writeSync(output, text);
    const err = (/** @type {string} */ text) => out(`stderr: ${text}\n`);
    useIo({ out, err, flush: () => undefined, colour: false, bar: null });
    out(`uscope ${line.join(' ')}\n`);
    const status = await runCli(line);
    out(`status: ${status}\n`);
    fs.closeSync(output);
    for (const name of filesBelow('.')) fs.utimesSync(name, NOW / 1000, NOW / 1000);
  }
}

/** Date and random bytes are the same in each process. */
function standStill() {
  class Still extends Date {
    constructor(/** @type {any[]} */ ...parts) {
      super(.../** @type {[]} */ (parts.length === 0 ? [NOW] : parts));
    }
  }
  Still.now = () => NOW;
  let count = 0;
  const randomBytes = (/** @type {number} */ size) => {
    count += 1;
    return Buffer.alloc(size, count);
  };
  const randomUUID = () =>
    randomBytes(16)
      .toString('hex')
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  globalThis.Date = /** @type {DateConstructor} */ (Still);
  Object.assign(crypto, { randomUUID, randomBytes });
  Object.assign(globalThis.crypto, { randomUUID });
  syncBuiltinESMExports();
}

function filesBelow(/** @type {string} */ directory) {
  const entries = fs.readdirSync(directory, { withFileTypes: true, recursive: true });
  const found = entries.filter((entry) => entry.isFile());
  return found.map((entry) => join(entry.parentPath, entry.name)).sort();
}

/**
 * A line for each file that differs.
 * @param {string[]} roots the folders of the sides
 * @param {string[]} checkouts
 */
function differences(roots, checkouts) {
  const names = new Set(roots.flatMap((root) => filesBelow(root).map((file) => file.slice(root.length + 1))));
  return [...names].flatMap((name) => {
    const [a, b] = roots
      .map((root) => join(root, name))
      .map((file) => (fs.existsSync(file) ? fs.readFileSync(file) : null));
    if (EXCEPTIONS.some((exception) => exception.test(name)) || (a && b?.equals(a))) return [];
    if (!a || !b) return [`${name}: only in ${a ? 'base' : 'new'}`];
    if (!/\.(txt|html|json)$/.test(name)) return [`${name}: other bytes`];
    const [before, after] = [a, b].map((text, side) => {
      return `${text}`.replaceAll(roots[side], 'ROOT').replaceAll(checkouts[side], 'CHECKOUT').split('\n');
    });
    const at = before.findIndex((line, index) => line !== after[index]);
    if (at < 0 && before.length === after.length) return [];
    const shown = (/** @type {string[]} */ lines) => lines.at(at)?.slice(0, 300);
    return [`${name}: ${before[0]}\n    base ${shown(before)}\n    new  ${shown(after)}`];
  });
}

async function main() {
  const { values, positionals } = parseArgs({
    options: {
      traces: { type: 'string', multiple: true },
      only: { type: 'string' },
      keep: { type: 'string' },
    },
    allowPositionals: true,
  });
  if (positionals.length !== 2) {
    console.error(
      'usage: node scripts/same-outputs.mjs BASE NEW [--traces DIR]... [--only TEXT] [--keep DIR]',
    );
    return 2;
  }
  const checkouts = positionals.map((path) => resolve(path));
  const places = ['test/vectors', 'test/compatibility'].map((path) => join(checkouts[1], path));
  const files = [...places, ...(values.traces ?? [])].flatMap((place) => filesBelow(resolve(place)));
  const traces = files.filter((file) => SAMPLES.test(file) && file.includes(values.only ?? ''));
  const scratch = fs.mkdtempSync(join(tmpdir(), 'same-outputs-'));
  let different = 0;
  for (const trace of traces) {
    const folder = values.keep ? join(resolve(values.keep), trace.replaceAll('/', '_')) : scratch;
    const roots = ['a', 'b'].map((side) => join(folder, side));
    await Promise.all(roots.map((root, side) => runTrace(root, checkouts[side], trace)));
    const found = differences(roots, checkouts);
    if (found.length > 0) different += 1;
    console.log([`${found.length === 0 ? 'same' : 'DIFFERENT'}  ${trace}`, ...found].join('\n  '));
  }
  fs.rmSync(scratch, { recursive: true, force: true });
  console.log(`${traces.length} traces, ${different} with differences`);
  return different === 0 && traces.length > 0 ? 0 : 1;
}

/**
 * @param {string} root a folder that is made anew
 * @param {string} checkout
 * @param {string} trace
 */
async function runTrace(root, checkout, trace) {
  fs.rmSync(root, { recursive: true, force: true });
  fs.mkdirSync(root, { recursive: true });
  const name = trace.endsWith('.uscope') ? TRACE : basename(trace);
  const map = trace.endsWith('.vcd') ? trace.replace('.vcd', '.yaml') : '';
  fs.cpSync(trace, join(root, name));
  if (fs.existsSync(map)) fs.cpSync(map, join(root, 'map.yaml'));
  const lines = commandLines(name, fs.statSync(trace).size, fs.existsSync(map) ? ['--map', 'map.yaml'] : []);
  fs.writeFileSync(join(root, 'lines.json'), JSON.stringify(lines));
  fs.mkdirSync(`${root}.tmp`, { recursive: true });
  const side = [fileURLToPath(import.meta.url), '--side', checkout];
  await promisify(execFile)(process.execPath, side, {
    cwd: root,
    env: { ...process.env, TMPDIR: `${root}.tmp` },
  });
}

const [first, checkout] = process.argv.slice(2);
if (first === '--side') await runSide(checkout, JSON.parse(fs.readFileSync('lines.json', 'utf8')));
else process.exitCode = await main();
