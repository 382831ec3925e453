// @ts-check
/** flux: values written, plain and in LZ4 blocks, compared with copying the same number of bytes; and read again. */

import { FluxFile, FluxTag, FluxType, FluxWriter } from 'uscope/formats/flux';
import { memorySource } from 'uscope/reader';
import { mainThreadSeconds, median, repeat, secondsSince } from './statistics.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

const SAMPLES = 4_000_000;

/**
 * @param {Options} options
 * @returns {Promise<Row[]>}
 */
export async function benchFlux({ cycles, runs }) {
  const samples = cycles ?? SAMPLES;
  const bytes = await written(samples);
  const plain = (await repeat(runs + 1, () => write(samples, 'none'))).slice(1); // the first one compiles
  const packed = (await repeat(runs + 1, () => write(samples, 'lz4'))).slice(1);
  const copies = await repeat(runs, async () => copy(bytes));
  const scans = (await repeat(runs + 1, () => scan(bytes, samples))).slice(1);
  const ns = (/** @type {number} */ seconds) => (seconds / samples) * 1e9;
  const [one, copied] = [median(plain), median(copies)];
  return [
    {
      name: 'flux written, per value, per processor time of one core',
      value: ns(one),
      unit: 'ns',
      target: { atMost: 70 },
      limit: `${ns(copied).toFixed(2)} ns: copying as many bytes, ${(one / copied).toFixed(0)} times as fast`,
    },
    { name: 'in blocks of LZ4', value: ns(median(packed)), unit: 'ns' },
    { name: 'flux read', value: samples / 1e6 / median(scans), unit: 'M values/s' },
    { name: 'size of the file', value: bytes.length / samples, unit: 'B/value' },
  ];
}

/** Does nothing with what it is given: the writer alone is measured. */
const nowhere = { write: async () => undefined };

/**
 * Integers, floats, events and short texts of eight signals, ten time units apart.
 * @param {FluxWriter} file
 * @param {number} samples
 */
async function fill(file, samples) {
  const trace = file.trace({ traceId: 0, name: 'bench' });
  const types = [FluxType.INTEGER, FluxType.FLOAT, FluxType.EVENT, FluxType.TEXT];
  for (let id = 1; id <= 8; id++) {
    const type = types[id & 3];
    const tag = FluxTag.SIGD;
    trace.entry({ tag, id, parent: 0, name: `s${id}`, description: '', type, descriptor: '' });
  }
  trace.open(0, 'ps', 0n);
  for (let i = 0; i < samples; i++) {
    const time = (i >> 1) * 10;
    const id = (i & 7) + 1;
    switch (id & 3) {
      case 0:
        trace.integer(id, time, Math.imul(i, 0x9e37_79b1));
        break;
      case 1:
        trace.float64(id, time, i / 7);
        break;
      case 2:
        trace.event(id, time, i & 0xff);
        break;
      default:
        trace.text(id, time, 'fetch');
    }
    if (file.isFull) await file.flush();
  }
  await file.close();
}

/**
 * @param {number} samples
 * @param {'none' | 'lz4'} compress
 */
async function write(samples, compress) {
  const start = mainThreadSeconds();
  await fill(new FluxWriter(nowhere, { compress }), samples);
  return secondsSince(start);
}

/** @param {number} samples */
async function written(samples) {
  /** @type {Uint8Array[]} */
  const pieces = [];
  const output = {
    /** @param {Uint8Array} bytes */
    async write(bytes) {
      pieces.push(bytes.slice());
    },
  };
  await fill(new FluxWriter(output), samples);
  return new Uint8Array(Buffer.concat(pieces));
}

/** @param {Uint8Array} bytes */
function copy(bytes) {
  const target = new Uint8Array(bytes.length).fill(1);
  // Shorter than the clock of threads ticks.
  const start = performance.now();
  for (let run = 0; run < 10; run++) target.set(bytes);
  return (performance.now() - start) / 1e4;
}

/**
 * @param {Uint8Array} bytes
 * @param {number} expected
 */
async function scan(bytes, expected) {
  const start = mainThreadSeconds();
  const stream = await new FluxFile(memorySource(bytes)).stream();
  const { cursor } = stream;
  let samples = 0;
  let sum = 0;
  while (await stream.more()) {
    while (stream.next()) {
      if (cursor.tag !== FluxTag.SAMPLE) continue;
      samples++;
      sum = (sum + cursor.valueSize + (cursor.group?.lo ?? 0)) | 0;
    }
  }
  const seconds = secondsSince(start);
  if (samples !== expected || sum === 0) throw new Error(`${samples} of ${expected} values were read`);
  return seconds;
}
