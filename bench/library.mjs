// @ts-check
/** The writer as a library: a model in TypeScript that calls `TraceWriter` itself, without daemon and client. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSchema } from 'uscope/schema';
import { TraceWriter } from 'uscope/writer';
import { mainThreadSeconds, median, repeat, spread } from './statistics.mjs';
import { createWorkload } from './workload.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */
/** @typedef {import('./workload.mjs').Sink} Sink */

const CYCLES = { std: 500_000, ooo: 200_000 };
const CHECKPOINT_INTERVAL_PS = 10_000_000n;
const STAGE_TRANSITION = 0;
const FLUSH = 3;

/**
 * @param {Options} options
 * @param {string} directory
 * @returns {Promise<Row[]>}
 */
export async function benchLibrary({ workload, cycles, compression, runs }, directory) {
  const path = join(directory, 'library.uscope');
  const { schema, dut } = parseSchema(readFileSync(new URL('workload.yaml', import.meta.url), 'utf8'));
  const method = compression === 'small' ? { small: true } : { compression };
  const options = { path, schema, dut, checkpointIntervalPs: CHECKPOINT_INTERVAL_PS, ...method };
  const size = cycles ?? CYCLES[workload];
  const results = await repeat(runs + 1, () => writeOnce(options, workload, size));
  const warm = results.slice(1); // the first one compiles
  const floor = await repeat(runs, async () => modelAlone(workload, size));
  const alone = median(floor.map((run) => (1e9 * run.seconds) / run.items));
  return [
    {
      name: 'model in TypeScript, first cycle to complete file',
      ...spread(warm.map((run) => run.items / 1e6 / run.seconds)),
      unit: 'M items/s',
    },
    {
      name: 'processor time of the main thread per item',
      ...spread(warm.map((run) => (1e9 * run.mainThread) / run.items)),
      unit: 'ns',
      bound: alone,
      limit: `${alone.toFixed(1)} ns: the model alone, its calls doing nothing`,
    },
    { name: 'size of the file', value: Number(warm[0].bytes) / warm[0].items, unit: 'B/item' },
  ];
}

/**
 * @param {import('uscope/writer').WriterOptions} options
 * @param {'std' | 'ooo'} name
 * @param {number} cycles
 */
async function writeOnce(options, name, cycles) {
  const writer = await TraceWriter.create(options);
  const sink = sinkOf(writer);
  const model = createWorkload(name);
  const start = performance.now();
  const threadStart = mainThreadSeconds();
  let items = 0;
  for (let i = 0; i < cycles; i++) {
    items += model.step(sink);
    if (sink.isFull()) await writer.ready();
  }
  const stats = await writer.close();
  const mainThread = mainThreadSeconds() - threadStart;
  const seconds = (performance.now() - start) / 1000;
  if (stats.items !== BigInt(items)) throw new Error(`${items} items were made, the file has ${stats.items}`);
  return { seconds, mainThread, items, bytes: stats.bytes };
}

/**
 * The calls of a model that does not allocate: fields of an event are the same array each time.
 * @param {TraceWriter} writer
 * @returns {Sink & {isFull: () => boolean}}
 */
function sinkOf(writer) {
  const fields = [0, 0];
  let full = false;
  const event = (/** @type {number} */ type, /** @type {number} */ id, /** @type {number} */ value) => {
    fields[0] = id;
    fields[1] = value;
    writer.event(type, fields);
  };
  return {
    begin: (timePs) => writer.beginCycle(timePs),
    end: () => {
      full = !writer.endCycle();
    },
    set: (storage, slot, field, value) => writer.slotSet(storage, slot, field, value),
    clear: (storage, slot) => writer.slotClear(storage, slot),
    add: (storage, slot, field, delta) => writer.slotAdd(storage, slot, field, delta),
    prop: (storage, property, value) => writer.propSet(storage, property, value),
    stage: (id, stage) => event(STAGE_TRANSITION, id, stage),
    flush: (id, reason) => event(FLUSH, id, reason),
    isFull: () => full,
  };
}

/** @param {'std' | 'ooo'} name @param {number} cycles */
function modelAlone(name, cycles) {
  const ignore = () => {};
  const sink = {
    ...{ begin: ignore, end: ignore, set: ignore, clear: ignore },
    ...{ add: ignore, prop: ignore, stage: ignore, flush: ignore },
  };
  const model = createWorkload(name);
  const start = performance.now();
  let items = 0;
  for (let i = 0; i < cycles; i++) items += model.step(sink);
  return { seconds: (performance.now() - start) / 1000, items };
}
