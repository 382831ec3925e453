// @ts-check
/** STF: every record of a file once, compared with unpacking the same file alone. The file is made by our own writer. */

import { canCompressZstd, MemoryOutput, StfFile, StfType, StfWriter } from 'uscope/formats/stf';
import { memorySource } from 'uscope/reader';
import { mainThreadSeconds, median, repeat, secondsSince } from './statistics.mjs';

/** @typedef {import('./options.mjs').Options} Options */
/** @typedef {import('./table.mjs').Row} Row */

const INSTRUCTIONS = 3_000_000;
const text = new TextEncoder().encode('bench');

/**
 * @param {Options} options
 * @returns {Promise<Row[]>}
 */
export async function benchStf({ cycles, runs }) {
  const started = mainThreadSeconds();
  const { bytes, records } = await workload(cycles ?? INSTRUCTIONS);
  const writing = secondsSince(started);
  const scans = (await repeat(runs + 1, () => scan(bytes, records))).slice(1); // the first one compiles
  const loads = (await repeat(runs + 1, () => unpack(bytes))).slice(1);
  const rate = (/** @type {number} */ seconds) => records / 1e6 / seconds;
  const [scanned, unpacked] = [median(scans), median(loads)];
  return [
    {
      name: `STF scan with addresses, ${canCompressZstd() ? 'zstf' : 'plain'}, per processor time of one core`,
      value: rate(scanned),
      unit: 'M records/s',
      target: { atLeast: 10 },
      limit: `${rate(unpacked).toFixed(0)} M records/s: unpacking alone, ${(scanned / unpacked).toFixed(1)} times as fast`,
    },
    { name: 'STF written', value: rate(writing), unit: 'M records/s' },
    { name: 'size of the file', value: bytes.length / records, unit: 'B/record' },
  ];
}

/**
 * Loops with jumps, a load or store in every fourth instruction, registers in every eighth.
 * @param {number} instructions
 */
async function workload(instructions) {
  const output = new MemoryOutput();
  const writer = new StfWriter(output, { container: canCompressZstd() ? 'zstf' : 'plain' });
  writer.record({ type: StfType.IDENTIFIER });
  writer.record({ type: StfType.VERSION, major: 1, minor: 6 });
  writer.record({ type: StfType.ISA, isa: 1 });
  writer.record({ type: StfType.INST_IEM, iem: 2 });
  writer.record({ type: StfType.TRACE_INFO, generator: 65, version: [0, 1, 0], text });
  writer.record({ type: StfType.TRACE_INFO_FEATURE, features: (1n << 5n) | (1n << 19n) });
  writer.record({ type: StfType.FORCE_PC, pc: 0x8000_0000n });
  writer.record({ type: StfType.END_HEADER });
  const access = Uint8Array.from([StfType.INST_MEM_ACCESS, 0, 0, 0, 0x80, 0, 0, 0, 0, 8, 0, 0, 0, 1]);
  const content = new Uint8Array(9).fill(StfType.INST_MEM_CONTENT, 0, 1);
  const register = Uint8Array.from([StfType.INST_REG, 5, 0, 0x31, 0, 0, 0, 0, 0, 0, 0, 0]);
  for (let i = 0; i < instructions; i++) {
    const random = Math.imul(i ^ (i >>> 7), 0x9e37_79b1) >>> 8;
    if (i % 9 === 8) writer.address(StfType.INST_PC_TARGET, (0x8000_0000 | (random & 0xfffe)) >>> 0, 0);
    if (i % 8 === 3) {
      register[4] = random;
      writer.copy(register, 0, register.length);
    }
    if (i % 4 === 1) {
      access[1] = random & 0xf8;
      access[2] = random >>> 8;
      content[1] = random;
      writer.copy(access, 0, access.length);
      writer.copy(content, 0, content.length);
    }
    writer.opcode(i % 9 === 8 ? 0xfe02_9de3 : i % 2 ? 0x4505 : 0x13 | (random << 20));
    if (writer.isFull) await writer.flush();
  }
  await writer.close();
  return { bytes: output.bytes, records: writer.records };
}

/**
 * @param {Uint8Array} bytes
 * @param {number} expected
 */
async function scan(bytes, expected) {
  const file = await StfFile.open(memorySource(bytes));
  const start = mainThreadSeconds();
  const stream = await file.stream();
  const { cursor } = stream;
  let records = 0;
  let sum = 0;
  while (await stream.more()) {
    while (stream.next()) {
      records++;
      if (cursor.isMarker) sum = (sum + cursor.pcLo + cursor.bits) | 0;
    }
  }
  const seconds = secondsSince(start);
  if (records !== expected || sum === 0) throw new Error(`${records} of ${expected} records were read`);
  return seconds;
}

/** @param {Uint8Array} bytes */
async function unpack(bytes) {
  const file = await StfFile.open(memorySource(bytes));
  const start = mainThreadSeconds();
  for await (const _ of file.payload());
  return secondsSince(start);
}
