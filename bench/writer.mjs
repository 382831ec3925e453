// @ts-check
/** The writer alone: the workload's records, made beforehand, pushed as the daemon pushes what it receives. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SessionStatus } from 'uscope/format';
import { parseSchema } from 'uscope/schema';
import { RecordWriter } from 'uscope/writer';
import { measureLz4 } from './lz4.mjs';
import { native } from './native.mjs';
import { mainThreadSeconds, median, repeat, spread } from './statistics.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

const CYCLES = { std: 500_000, ooo: 200_000 };
/** 256 KiB, as a data message may be. */
const BATCH_WORDS = 64 * 1024;
const CHECKPOINT_INTERVAL_PS = 10_000_000n;

/**
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchWriter({ workload, cycles, compression, runs }, directory) {
  const file = join(directory, 'records.bin');
  const { items } = await native(['records', workload, String(cycles ?? CYCLES[workload]), file]);
  const records = readWords(file);
  const { schema, dut } = parseSchema(readFileSync(new URL('workload.yaml', import.meta.url), 'utf8'));
  const path = join(directory, 'writer.uscope');
  const interval = CHECKPOINT_INTERVAL_PS;
  const method = compression === 'small' ? { small: true } : { compression };
  const write = async (/** @type {'native' | 'wasm' | 'typescript'} */ kernel) => {
    const writer = { path, schema, dut, checkpointIntervalPs: interval, kernel, ...method };
    const results = await repeat(runs + 1, () => writeOnce(writer, records, BigInt(items)));
    return results.slice(1); // the first one compiles
  };
  const plain = await write('typescript');
  const webAssembly = await write('wasm');
  const warm = await write('native');
  const mainThread = (/** @type {typeof warm} */ results) =>
    spread(results.map((run) => (1e9 * run.mainThread) / items));
  const inTypeScript = mainThread(plain);
  const inWebAssembly = mainThread(webAssembly);
  const lz4 = await measureLz4(path);
  return [
    {
      name: 'writer alone, first push to complete file',
      ...spread(warm.map((run) => items / 1e6 / run.seconds)),
      unit: 'M items/s',
      bound: items / 1e6 / lz4.seconds,
      limit: `${(items / 1e6 / lz4.seconds).toFixed(0)} M items/s: LZ4 of the same bytes alone, one thread`,
    },
    {
      name: 'processor time of the main thread per item',
      ...mainThread(warm),
      unit: 'ns',
      limit: `with the loop in WebAssembly ${inWebAssembly.value.toFixed(1)} ns, with the plain path in TypeScript ${inTypeScript.value.toFixed(1)} ns`,
      bound: inWebAssembly.value,
    },
    {
      name: 'of that, inside push',
      value: (1e9 * median(warm.map((run) => run.pushing))) / items,
      unit: 'ns',
    },
    { name: 'size of the file', value: Number(warm[0].stats.bytes) / items, unit: 'B/item' },
  ];
}

/**
 * @param {import('uscope/writer').WriterOptions} options
 * @param {Uint32Array} records
 * @param {bigint} items
 */
async function writeOnce(options, records, items) {
  const writer = await RecordWriter.create(options);
  const start = performance.now();
  const threadStart = mainThreadSeconds();
  let pushing = 0;
  for (let at = 0; at < records.length; at += BATCH_WORDS) {
    const pushStart = mainThreadSeconds();
    writer.push(records, at, Math.min(at + BATCH_WORDS, records.length));
    pushing += mainThreadSeconds() - pushStart;
    await writer.ready();
  }
  const stats = await writer.close({ status: SessionStatus.CLOSED });
  const mainThread = mainThreadSeconds() - threadStart;
  const seconds = (performance.now() - start) / 1000;
  if (stats.items !== items) throw new Error(`${items} items were pushed, the file has ${stats.items}`);
  return { seconds, mainThread, pushing, stats };
}

/** @param {string} file */
function readWords(file) {
  const bytes = readFileSync(file);
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
}
