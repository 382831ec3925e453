// @ts-check
/** FTR: every transaction of a file once with its attributes, compared with unpacking the same file alone. The file is made by our own writer. */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FtrFile, FtrModel, MemoryOutput, TransactionCursor } from 'uscope/formats/ftr';
import { memorySource } from 'uscope/reader';
import { makeFtr } from './foreign-files.mjs';
import { mainThreadSeconds, median, repeat, secondsSince } from './statistics.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

const TRANSACTIONS = 2_000_000;

/**
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchFtr({ cycles, runs }, directory) {
  const count = cycles ?? TRANSACTIONS;
  const started = mainThreadSeconds();
  const bytes = await workload(count);
  const writing = secondsSince(started);
  const scans = (await repeat(runs + 1, () => scan(bytes, count))).slice(1); // the first one compiles
  const unpacked = median((await repeat(runs + 1, () => unpack(bytes))).slice(1));
  const rate = (/** @type {number} */ seconds) => count / 1e6 / seconds;
  const scanned = median(scans);
  return [
    {
      name: 'FTR scan with attributes, LZ4, per processor time of one core',
      value: rate(scanned),
      unit: 'M transactions/s',
      target: { atLeast: 1 },
      limit: `${rate(unpacked).toFixed(1)} M transactions/s: unpacking alone, ${(scanned / unpacked).toFixed(1)} times as fast`,
    },
    {
      name: 'more memory for a file four times as long',
      value: (await memoryGrowth(bytes, count, directory)) / 1024 / 1024,
      unit: 'MiB',
      target: { atMost: 32 },
    },
    { name: 'FTR written', value: rate(writing), unit: 'M transactions/s' },
    { name: 'size of the file', value: bytes.length / count, unit: 'B/transaction' },
  ];
}

/** @param {number} count */
async function workload(count) {
  const output = new MemoryOutput();
  await makeFtr(output, count);
  return output.bytes;
}

/** @param {Uint8Array} bytes */
async function walk(bytes) {
  const file = await FtrFile.open(memorySource(bytes));
  const model = new FtrModel();
  let transactions = 0;
  let sum = 0;
  for await (const chunk of file.chunks()) {
    if (model.take(chunk)) continue;
    const cursor = new TransactionCursor(chunk);
    while (cursor.next()) {
      transactions++;
      sum = (sum + cursor.startLo + cursor.endLo) | 0;
      for (let i = 0; i < cursor.count; i++) sum = (sum + cursor.names[i] + cursor.los[i]) | 0;
    }
  }
  return { transactions, sum };
}

/**
 * @param {Uint8Array} bytes
 * @param {number} expected
 */
async function scan(bytes, expected) {
  const start = mainThreadSeconds();
  const { transactions, sum } = await walk(bytes);
  const seconds = secondsSince(start);
  if (transactions !== expected || sum === 0)
    throw new Error(`${transactions} of ${expected} transactions were read`);
  return seconds;
}

/** @param {Uint8Array} bytes */
async function unpack(bytes) {
  const start = mainThreadSeconds();
  const file = await FtrFile.open(memorySource(bytes));
  for await (const _ of file.chunks());
  return secondsSince(start);
}

/**
 * Most memory that reading a file takes in a separate process.
 * @param {string} path
 * @param {number} expected
 * @returns {Promise<number>}
 */
async function memoryOf(path, expected) {
  const child = fork(fileURLToPath(new URL('./ftr-memory.mjs', import.meta.url)), [path]);
  const [{ transactions, bytes }] = await once(child, 'message');
  if (transactions !== expected) throw new Error(`${transactions} of ${expected} transactions were read`);
  return bytes;
}

/**
 * The same recording once, and four times in a row.
 * @param {Uint8Array} bytes
 * @param {number} count
 * @param {string} directory
 */
async function memoryGrowth(bytes, count, directory) {
  const [single, often] = [join(directory, 'single.ftr'), join(directory, 'often.ftr')];
  const content = bytes.subarray(4, -1);
  writeFileSync(single, bytes);
  writeFileSync(often, Buffer.concat([bytes.subarray(0, -1), content, content, content, bytes.subarray(-1)]));
  return (await memoryOf(often, 4 * count)) - (await memoryOf(single, count));
}
