// @ts-check
/** Files of other formats that the benchmarks convert: a pipeline as Kanata and as gem5's O3PipeView, retired instructions as logs of Spike and QEMU, structs as flux, bus transactions as FTR. */

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

/** A loop of four instructions: code, disassembly, the register that it writes. */
const LOOP = /** @type {const} */ ([
  ['00150513', 'addi    a0, a0, 1', 10],
  ['00a12023', 'sw      a0, 0(sp)', 0],
  ['00a12603', 'lw      a2, 0(sp)', 12],
  ['00000013', 'nop', 0],
]);
const hex = (/** @type {number} */ value, /** @type {number} */ digits) =>
  value.toString(16).padStart(digits, '0');

/**
 * As Spike prints it with `-l --log-commits`, of 64 bits.
 * @param {string} path
 * @param {number} instructions
 */
export function makeSpike(path, instructions) {
  writeText(path, (out) => {
    for (let i = 0; i < instructions; i++) {
      const [code, text, register] = LOOP[i % LOOP.length];
      const where = `0x${hex(0x8000_0000 + 4 * (i % 4096), 16)} (0x${code})`;
      const address = ` mem 0x${hex(0x8000_1000 + 8 * (i % 512), 16)}`;
      const write = register === 0 ? '' : ` x${register} 0x${hex(randomOf(i), 16)}`;
      const memory = i % 4 === 1 ? `${address} 0x${hex(randomOf(i), 8)}` : i % 4 === 2 ? address : '';
      out(`core   0: ${where} ${text}\ncore   0: 3 ${where}${write}${memory}\n`);
    }
  });
}

const NAMES =
  'zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6'.split(
    ' ',
  );
const CSRS =
  'mhartid mstatus mip mie mideleg medeleg mtvec stvec mepc sepc mcause scause mtval stval mscratch sscratch satp'.split(
    ' ',
  );
const BLOCKS = 1024;

/**
 * As QEMU prints it with `-singlestep -d in_asm,exec,nochain`, of 32 bits, and with `cpu` the registers too: a kilobyte for each instruction.
 * @param {string} path
 * @param {number} instructions
 * @param {boolean} hasRegisters
 */
export function makeQemu(path, instructions, hasRegisters) {
  const pc = (/** @type {number} */ i) => hex(0x8000_0000 + 4 * (i % BLOCKS), 8);
  writeText(path, (out) => {
    for (let i = 0; i < BLOCKS; i++) {
      const [code, text] = LOOP[i % LOOP.length];
      out(`----------------\nIN: \nPriv: 3; Virt: 0\n0x${pc(i)}:  ${code}          ${text}\n\n`);
      if (i < instructions) out(traceOf(i));
    }
    for (let i = BLOCKS; i < instructions; i++) out(traceOf(i));
  });

  /** @param {number} i */
  function traceOf(i) {
    const trace = `Trace 0: 0x${hex(0x7f5c_2c00_0000 + 256 * (i % BLOCKS), 12)} [00000000/${pc(i)}/00101003/ff000201] \n`;
    if (!hasRegisters) return trace;
    const csrs = CSRS.map((name) => ` ${name.padEnd(8)} 00000000\n`).join('');
    const registers = NAMES.map(
      (name, x) => ` ${`x${x}/${name}`.padEnd(8)} ${hex(randomOf(i + x), 8)}${x % 4 === 3 ? '\n' : ''}`,
    ).join('');
    return `${trace} V      =   0\n pc       ${pc(i)}\n${csrs}${registers}`;
  }
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
