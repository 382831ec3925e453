// @ts-check
/** Blocks of instructions: how fast a trace becomes columns, how large they are, and objects for comparison. */
import { join } from 'node:path';
import { byteSize, findCore, instructionBlocks, instructions } from 'uscope/cpu';
import { openTraceFile } from 'uscope/reader/node';
import { withDaemon } from './daemon.mjs';
import { native } from './native.mjs';
import { mainThreadSeconds, repeat, secondsSince, spread } from './statistics.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

/** The std workload has entities that never end: only ooo has instructions as cores have them. */
const WORKLOAD = 'ooo';
const CYCLES = 1_000_000;
/** Of them as objects. */
const OBJECT_CYCLES = 200_000;
/** M instructions/s, bytes */
const TARGETS = { rate: 2.5, bytes: 30 };

/**
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchBlocks({ cycles, compression, runs }, directory) {
  const size = cycles ?? CYCLES;
  await withDaemon(directory, compression, (env) => native(['path', WORKLOAD, String(size)], env));
  const path = join(directory, 'path.uscope');
  const blocks = (await repeat(runs + 1, () => timed(path, columns))).slice(1); // the first one compiles
  const objects = (await repeat(runs + 1, () => timed(path, objectsOf))).slice(1);
  const rate = (/** @type {typeof blocks[0]} */ { count, seconds }) => count / 1e6 / seconds;
  return [
    {
      name: 'instructions as columns, with all stages, per processor time of one core',
      ...spread(blocks.map(rate)),
      unit: 'M instructions/s',
      target: { atLeast: TARGETS.rate },
    },
    {
      name: 'the same as objects',
      ...spread(objects.map(rate)),
      unit: 'M instructions/s',
    },
    {
      name: 'columns of an instruction, without its static instruction',
      value: (blocks[0].bytes - blocks[0].staticBytes) / blocks[0].count,
      unit: 'bytes',
      target: { atMost: TARGETS.bytes },
    },
    {
      name: 'columns of an instruction; in this trace nearly every one has another address and machine code',
      value: blocks[0].bytes / blocks[0].count,
      unit: 'bytes',
    },
  ];
}

/** @typedef {{ count: number, bytes: number, staticBytes: number }} Counted */
/** @typedef {import('uscope/reader').Trace} Trace */

/**
 * @param {string} path
 * @param {(trace: Trace) => Promise<Counted>} read
 */
async function timed(path, read) {
  const trace = await openTraceFile(path);
  const before = mainThreadSeconds();
  const counted = await read(trace);
  const seconds = secondsSince(before);
  await trace.close();
  return { ...counted, seconds };
}

/** @param {Trace} trace */
async function columns(trace) {
  const counted = { count: 0, bytes: 0, staticBytes: 0 };
  for await (const block of instructionBlocks(trace, findCore(trace))) {
    counted.count += block.count;
    counted.bytes += byteSize(block);
    for (const column of Object.values(block.staticTable)) counted.staticBytes += column.byteLength;
  }
  return counted;
}

/** @param {Trace} trace */
async function objectsOf(trace) {
  let count = 0;
  const range = { from: 0, to: OBJECT_CYCLES, unit: /** @type {const} */ ('cycles') };
  for await (const _ of instructions(trace, findCore(trace), range)) count++;
  return { count, bytes: 0, staticBytes: 0 };
}
