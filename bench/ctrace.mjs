// @ts-check
/** .ctrace: every event of a file as text, compared with decompressing the same file alone. The file is made by our own writer. */
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { ArgType, CtraceFile, CtraceWriter, dumpText } from 'uscope/formats/ctrace';
import { mainThreadSeconds, median, repeat, secondsSince } from './statistics.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

const CYCLES = 250_000;
const EVENTS_PER_CYCLE = 8;
const { BOOL, STRING, UINT32, UINT64 } = ArgType;
/** Messages of a pipeline, four arguments each as a rule. */
const FORMATS = /** @type {const} */ ([
  ['I-Cache HIT: pc=0x{:x} cache_line={} instr_id={}', [UINT64, UINT32, UINT64]],
  ['Decode: instr_id={} pc=0x{:x} op_type={} dest_reg=r{} to={}', [UINT64, UINT64, UINT32, UINT32, STRING]],
  ['Dispatch to ALU{}: instr_id={} op_type={}', [UINT32, UINT64, UINT32]],
  ['Branch: pc=0x{:x} taken={} target=0x{:x}', [UINT64, BOOL, UINT64]],
  ['Commit: instr_id={} value=0x{:x} dest_reg=r{}', [UINT64, UINT64, UINT32]],
]);

/**
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchCtrace({ cycles, runs }, directory) {
  const path = join(directory, 'bench.ctrace');
  const started = mainThreadSeconds();
  const events = await write(path, cycles ?? CYCLES);
  const writing = secondsSince(started);
  const source = openFile(path);
  try {
    const dumps = await repeat(runs + 1, () => dump(source, events));
    const loads = (await repeat(runs + 1, () => load(source))).slice(1);
    const measured = dumps.slice(1); // the first one compiles
    const rate = (/** @type {number} */ seconds) => events / 1e6 / seconds;
    const dumped = median(measured.map(({ seconds }) => seconds));
    const loaded = median(loads);
    const bytes = await source.size();
    return [
      {
        name: '.ctrace dumped as text, per processor time of one core',
        value: rate(dumped),
        unit: 'M events/s',
        target: { atLeast: 1.4 },
        limit: `${rate(loaded).toFixed(1)} M events/s: decompressing alone, ${(dumped / loaded).toFixed(1)} times as fast`,
      },
      { name: 'size of the text', value: measured[0].bytes / events, unit: 'B/event' },
      {
        name: 'memory of the process after the last dump, against that after the first',
        value: (measured.at(-1)?.memory ?? 0) - measured[0].memory,
        unit: 'MiB',
        target: { atMost: 64 },
      },
      { name: '.ctrace written', value: rate(writing), unit: 'M events/s' },
      { name: 'size of the file', value: bytes / events, unit: 'B/event' },
    ];
  } finally {
    source.close();
  }
}

/**
 * @param {string} path
 * @param {number} cycles
 * @returns {Promise<number>} events
 */
async function write(path, cycles) {
  const file = openSync(path, 'w');
  const writer = new CtraceWriter(
    {
      write: async (bytes) => void writeSync(file, bytes),
      patch: async (offset, bytes) => void writeSync(file, bytes, 0, bytes.length, offset),
    },
    { schema: schema() },
  );
  for (let cycle = 0; cycle < cycles; cycle++) {
    for (let i = 0; i < EVENTS_PER_CYCLE; i++) {
      const which = (cycle + i * 3) % FORMATS.length;
      const values = FORMATS[which][1].map((type, at) => argument(type, cycle * EVENTS_PER_CYCLE + i * at));
      writer.event({ cycle: BigInt(cycle), formatId: which + 1, category: 1, source: (i % 9) + 1 }, values);
    }
    if (writer.isFull) await writer.flush();
  }
  await writer.close();
  closeSync(file);
  return writer.events;
}

/**
 * @param {number} type
 * @param {number} seed
 */
function argument(type, seed) {
  const random = Math.imul(seed ^ (seed >>> 7), 0x9e37_79b1) >>> 0;
  if (type === STRING) return `alu${random % 4}`;
  if (type === BOOL) return random % 3 === 0;
  return type === UINT64 ? BigInt(seed) : random % 32;
}

function schema() {
  const formats = FORMATS.map(([text, argTypes], i) => {
    return { id: i + 1, text, argTypes, file: 'pipeline.cpp', line: i, isLog: false, logLevel: 0 };
  });
  const units = [...Array(9).keys()].map((i) => ({ id: i + 1, name: `cpu.pipeline.unit${i}`, typeName: '' }));
  return { version: 1, formats, units, categories: [], simulationName: 'bench', configHash: 0n };
}

/**
 * @param {import('uscope/formats/ctrace').ByteSource} source
 * @param {number} expected
 */
async function dump(source, expected) {
  const file = await CtraceFile.open(source);
  let bytes = 0;
  const start = mainThreadSeconds();
  const { events } = await dumpText(file, {}, (piece) => {
    bytes += piece.length;
  });
  const seconds = secondsSince(start);
  if (events !== expected) throw new Error(`${events} of ${expected} events were printed`);
  return { seconds, bytes, memory: process.memoryUsage().rss / 2 ** 20 };
}

/** @param {import('uscope/formats/ctrace').ByteSource} source */
async function load(source) {
  const file = await CtraceFile.open(source);
  const start = mainThreadSeconds();
  for await (const block of file.blocks()) await file.load(block);
  return secondsSince(start);
}

/** @param {string} path */
function openFile(path) {
  const file = openSync(path, 'r');
  return {
    size: async () => fstatSync(file).size,
    read: async (/** @type {number} */ offset, /** @type {number} */ length) => {
      const bytes = new Uint8Array(length);
      return bytes.subarray(0, readSync(file, bytes, 0, length, offset));
    },
    close: () => closeSync(file),
  };
}
