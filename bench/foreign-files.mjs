// @ts-check
/** Files of other formats that the benchmarks convert: a pipeline as Kanata and as gem5's O3PipeView, structs as flux, bus transactions as FTR. */

import { closeSync, openSync, writeSync } from 'node:fs';
import { FluxTag, FluxType, FluxWriter, Format, MemberType } from 'uscope/formats/flux';
import { FtrType, FtrWriter } from 'uscope/formats/ftr';

const STAGES = ['F', 'D', 'X', 'M', 'W'];
const TICKS_PER_CYCLE = 500;
const PIECE = 1 << 20;
const FTR_STREAMS = 4;
const FLUX_SIGNALS = 8;
const encoder = new TextEncoder();

/** @param {number} i */
const randomOf = (i) => Math.imul(i ^ (i >>> 7), 0x9e37_79b1) >>> 8;

/** An instruction is in stage `s` from this cycle on: one begins in each cycle, and every eighth waits three cycles in X. @param {number} i @param {number} s */
const cycleOf = (i, s) => i + s + (s > 2 && i % 8 === 3 ? 3 : 0);

/** @param {number} i */
const textOf = (i) => `addi x${(i % 31) + 1},x${((i >> 3) % 31) + 1},${randomOf(i) % 2048}`;

/** @param {number} i */
const pcOf = (i) => (0x8000_0000 + 4 * (i % 4096)).toString(16);

/**
 * @param {string} path
 * @param {(out: (text: string) => void) => void} fill
 */
function writeText(path, fill) {
  const file = openSync(path, 'w');
  let text = '';
  fill((more) => {
    text += more;
    if (text.length < PIECE) return;
    writeSync(file, text);
    text = '';
  });
  writeSync(file, text);
  closeSync(file);
}

/**
 * Five stages for each instruction, a dependency for each third one.
 * @param {string} path
 * @param {number} instructions
 */
export function makeKanata(path, instructions) {
  const last = cycleOf(instructions - 1, STAGES.length) + 3;
  writeText(path, (out) => {
    out('Kanata\t0004\nC=\t0\n');
    for (let cycle = 0; cycle <= last; cycle++) {
      if (cycle > 0) out('C\t1\n');
      // Those which may be in flight: one begins per cycle, the oldest is 8 cycles old.
      for (let i = Math.max(0, cycle - 8); i <= cycle && i < instructions; i++) {
        if (i === cycle) out(`I\t${i}\t${i}\t0\nL\t${i}\t0\t${pcOf(i)}: ${textOf(i)}\n`);
        for (let s = 0; s < STAGES.length; s++)
          if (cycleOf(i, s) === cycle) out(`S\t${i}\t0\t${STAGES[s]}\n`);
        if (i % 3 === 0 && i > 0 && cycleOf(i, 2) === cycle) out(`W\t${i}\t${i - 1}\t0\n`);
        if (cycleOf(i, STAGES.length) === cycle) out(`R\t${i}\t${i}\t0\n`);
      }
    }
  });
}

/**
 * As gem5 prints it: all lines of an instruction when it retires.
 * @param {string} path
 * @param {number} instructions
 */
export function makeGem5(path, instructions) {
  const stages = ['decode', 'rename', 'dispatch', 'issue', 'complete'];
  writeText(path, (out) => {
    for (let i = 0; i < instructions; i++) {
      const tick = (/** @type {number} */ s) => TICKS_PER_CYCLE * (1 + cycleOf(i, s));
      out(`O3PipeView:fetch:${tick(0)}:0x${pcOf(i)}:0:${i + 1}:  ${textOf(i)}\n`);
      for (const [s, stage] of stages.entries()) out(`O3PipeView:${stage}:${tick(s + 1)}\n`);
      out(`O3PipeView:retire:${tick(stages.length + 1)}:store:0\n`);
    }
  });
}

/**
 * Struct values with an enumeration, an integer, a float and a string.
 * @param {import('uscope/formats/flux').FluxOutput} output
 * @param {number} values
 */
export async function makeFlux(output, values) {
  const file = new FluxWriter(output);
  const trace = file.trace({ traceId: 0, name: 'bench' });
  for (let id = 1; id <= FLUX_SIGNALS; id++) {
    const type = FluxType.STRUCT;
    trace.entry({ tag: FluxTag.SIGD, id, parent: 0, name: `s${id}`, description: '', type, descriptor: '' });
  }
  trace.open(0, 'ns', 0n);
  const text = encoder.encode('fetch');
  const bytes = Uint8Array.from([
    ...[0, MemberType.GLOBAL_ENUM, 1, 1],
    ...[1, MemberType.INTEGER, 4, 0, 0, 0, 0],
    ...[2, MemberType.FLOAT, 8, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f],
    ...[3, MemberType.TEXT, text.length, ...text],
  ]);
  for (let i = 0; i < values; i++) {
    const random = randomOf(i);
    bytes[3] = random & 7;
    for (let byte = 0; byte < 3; byte++) bytes[7 + byte] = random >> (8 * byte);
    bytes[14] = random;
    trace.sample((i % FLUX_SIGNALS) + 1, i >> 1, Format.PLAIN, 0, bytes);
    if (file.isFull) await file.flush();
  }
  trace.close(0, BigInt(values));
  await file.close();
}

/**
 * Bus transactions of a few streams with two or three attributes each.
 * @param {import('uscope/formats/ftr').FtrOutput} output
 * @param {number} count
 */
export async function makeFtr(output, count) {
  const writer = new FtrWriter(output);
  for (let stream = 0; stream < FTR_STREAMS; stream++) {
    writer.stream(BigInt(stream + 1), `bus${stream}`, 'transactor');
    writer.generator(BigInt(stream + 11), 'read', BigInt(stream + 1));
  }
  for (let i = 0; i < count; i++) {
    const random = randomOf(i);
    const stream = i % FTR_STREAMS;
    const start = BigInt(i * 1000);
    /** @type {import('uscope/formats/ftr').FtrAttribute[]} */
    const attributes = [
      { phase: 0, name: 'addr', type: FtrType.UNSIGNED, value: BigInt(random) },
      { phase: 1, name: 'kind', type: FtrType.STRING, value: random % 3 ? 'single' : 'burst' },
    ];
    if (i % 2)
      attributes.push({
        phase: 2,
        name: 'latency',
        type: FtrType.FLOATING_POINT_NUMBER,
        value: (random % 64) / 4,
      });
    writer.transaction({
      id: BigInt(i + 1),
      stream: BigInt(stream + 1),
      generator: BigInt(stream + 11),
      start,
      end: start + BigInt(random % 5000),
      attributes,
    });
    if (writer.isFull) await writer.flush();
  }
  await writer.close();
}
