// @ts-check
/**
 * What the compiled pass costs by itself, for each of its parts: the segments of a recorded trace go through it on one thread. Instructions,
 * where valgrind is installed, are the same on a loaded machine.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openTraceFile } from 'uscope/reader/node';
import { buildIndexPass, native } from './native.mjs';

/** @typedef {{instructions: number | null, ns: number}} Cost for each item; null: valgrind is not installed */

const { indexPlan } = await import(new URL('../sdk/dist/trace-index/plan.js', import.meta.url).href);
const { encodePlan, crcOfWords } = await import(
  new URL('../sdk/dist/trace-index/plan-words.js', import.meta.url).href
);
const execute = promisify(execFile);
const PROGRAM = fileURLToPath(new URL('build/index_pass', import.meta.url));
/** callgrind is fifty times as slow. */
const MAX_COUNTED_ITEMS = 4_000_000;

/**
 * The index by time alone, and the whole of it.
 * @param {string} path of a trace
 * @param {string} directory
 * @param {number} runs
 * @returns {Promise<{items: number, time: Cost, whole: Cost}>}
 */
export async function costOfPass(path, directory, runs) {
  await buildIndexPass();
  const trace = await openTraceFile(path);
  const file = join(directory, 'segments');
  try {
    const whole = indexPlan(trace.schema, trace.dut);
    const words = encodePlan(
      trace.schema,
      whole.groups,
      whole.cores.map((/** @type {object} */ core) => ({ ...core, rows: null })),
    );
    const items = await record(trace, { words, crc: crcOfWords(words) }, file);
    const time = await costOf(file, items, runs);
    await record(trace, whole, file);
    return { items, time, whole: await costOf(file, items, runs) };
  } finally {
    await trace.close();
    rmSync(file, { force: true });
  }
}

/**
 * As pass/index_pass.c reads it; returns the number of items.
 * @param {import('uscope/reader').Trace} trace
 * @param {{words: Uint32Array, crc: number}} plan
 * @param {string} path
 */
export async function record(trace, { words, crc }, path) {
  const out = createWriteStream(path);
  out.write(bytesOf(Uint32Array.of(words.length, crc, ...words)));
  let items = 0;
  for (let index = 0; index < trace.segmentCount && items < MAX_COUNTED_ITEMS; index++) {
    const { header, checkpoint, deltas } = await trace.loadSegment(index);
    const start = header.timeStartPs;
    const halves = [Number(start & 0xffff_ffffn), Number(start >> 32n)];
    out.write(bytesOf(Uint32Array.of(...halves, checkpoint.length, deltas.length)));
    for (const bytes of [checkpoint, deltas]) {
      if (!out.write(padded(bytes))) await once(out, 'drain');
    }
    items += await itemsIn(trace, header);
  }
  out.end();
  await once(out, 'close');
  return items;
}

/**
 * @param {import('uscope/reader').Trace} trace
 * @param {{timeStartPs: bigint, timeEndPs: bigint}} segment
 */
async function itemsIn(trace, { timeStartPs, timeEndPs }) {
  let items = 0;
  const count = () => void items++;
  await trace.scan({ from: timeStartPs, to: timeEndPs }, { op: count, event: count });
  return items;
}

/** @param {Uint32Array} words */
const bytesOf = (words) => new Uint8Array(words.buffer);

/** @param {Uint8Array} bytes */
function padded(bytes) {
  const result = new Uint8Array((bytes.length + 7) & ~7);
  result.set(bytes);
  return result;
}

/**
 * @param {string} file
 * @param {number} items
 * @param {number} runs
 * @returns {Promise<Cost>}
 */
async function costOf(file, items, runs) {
  const { ns_median } = await native([file, String(runs)], {}, { program: 'index_pass' });
  const instructions = await count(file);
  return { ns: ns_median / items, instructions: instructions === null ? null : instructions / items };
}

/** Instructions of all segments; null without valgrind. @param {string} file */
async function count(file) {
  const args = ['--tool=callgrind', '--toggle-collect=index_segment', '--callgrind-out-file=/dev/null'];
  try {
    const { stderr } = await execute('valgrind', [...args, PROGRAM, file, '1']);
    const [, digits] = /Collected : (\d+)/.exec(stderr) ?? [];
    return digits === undefined ? null : Number(digits);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
