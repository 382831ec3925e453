/** The small programs of the farm. Their data comes from a seed; `isSlow` makes the version with a fault in its loop. */
import { addi, div, encode, FENCE, jalr, li, lw, mul, NOP, randomSource, sw } from '../lib/assemble.js';
import { RAM_BASE } from '../lib/rv32im.js';
import { Assembly, Branch, DATA, type Program } from './assembly.js';

export type MakeProgram = (seed: number, isSlow: boolean) => Program;

const BASE = 8;
const add = (rd: number, rs1: number, rs2: number): number => encode.r(0, rs2, rs1, 0, rd);
const slli = (rd: number, rs1: number, by: number): number => encode.i(0x13, 1, rd, rs1, by);
const srli = (rd: number, rs1: number, by: number): number => encode.i(0x13, 5, rd, rs1, by);
const andi = (rd: number, rs1: number, value: number): number => encode.i(0x13, 7, rd, rs1, value);
const lbu = (rd: number, rs1: number, offset: number): number => encode.i(0x03, 4, rd, rs1, offset);

const begin = (): Assembly => new Assembly().add(li(BASE, RAM_BASE + DATA));

const randomWords = (seed: number, count: number, below: number): number[] => {
  const random = randomSource(seed);
  return Array.from({ length: count }, () => random(below));
};

/** Insertion sort of 48 words. Slow: the loop loads the value that it moves once more. */
const sort: MakeProgram = (seed, isSlow) => {
  const a = begin().add(addi(5, 0, 1));
  a.label('next').add(slli(6, 5, 2), add(6, 6, BASE), lw(7, 6, 0));
  a.label('loop')
    .branch(Branch.EQ, 6, BASE, 'place')
    .add(lw(9, 6, -4));
  if (isSlow) a.add(lw(10, 6, -4), add(11, 10, 0));
  a.branch(Branch.LTU, 9, 7, 'place')
    .add(sw(9, 6, 0), addi(6, 6, -4))
    .jump(0, 'loop');
  a.label('end')
    .label('place')
    .add(sw(7, 6, 0), addi(5, 5, 1), addi(12, 0, 48));
  a.branch(Branch.NE, 5, 12, 'next');
  return a.finish(randomWords(seed, 48, 1 << 20));
};

/** 160 binary searches in 64 words. Slow: the middle is found by a division. */
const search: MakeProgram = (seed, isSlow) => {
  const a = begin().add(addi(5, 0, 160), addi(20, 0, 2), addi(21, BASE, 256));
  a.label('next').add(lw(7, 21, 0), addi(21, 21, 4), addi(10, 0, 0), addi(11, 0, 64));
  a.label('loop')
    .branch(Branch.GEU, 10, 11, 'done')
    .add(add(12, 10, 11));
  a.add(isSlow ? div(12, 12, 20) : srli(12, 12, 1), slli(13, 12, 2), add(13, 13, BASE), lw(14, 13, 0));
  a.branch(Branch.LTU, 14, 7, 'upper')
    .add(add(11, 12, 0))
    .jump(0, 'loop');
  a.label('upper')
    .add(addi(10, 12, 1))
    .jump(0, 'loop');
  a.label('end')
    .label('done')
    .add(addi(5, 5, -1))
    .branch(Branch.NE, 5, 0, 'next');
  const table = Array.from({ length: 64 }, (_, index) => index * 1000);
  return a.finish([...table, ...randomWords(seed, 160, 64_000)]);
};

/** Product of two matrices of 7 by 7 words. Slow: a product is taken twice. */
const matrix: MakeProgram = (seed, isSlow) => {
  const a = begin().add(addi(5, 0, 0), addi(20, 0, 7));
  a.label('row').add(addi(6, 0, 0));
  a.label('column').add(addi(7, 0, 0), addi(15, 0, 0), mul(9, 5, 20), slli(9, 9, 2), add(9, 9, BASE));
  a.add(slli(10, 6, 2), add(10, 10, BASE), addi(10, 10, 196));
  a.label('loop').add(lw(11, 9, 0), lw(12, 10, 0), mul(13, 11, 12));
  if (isSlow) a.add(mul(13, 12, 11));
  a.add(add(15, 15, 13), addi(9, 9, 4), addi(10, 10, 28), addi(7, 7, 1)).branch(Branch.NE, 7, 20, 'loop');
  a.label('end')
    .add(addi(6, 6, 1))
    .branch(Branch.NE, 6, 20, 'column');
  a.add(addi(5, 5, 1)).branch(Branch.NE, 5, 20, 'row');
  return a.finish(randomWords(seed, 98, 1000));
};

/** Greatest common divisors of 40 pairs. Slow: each remainder is checked by a second division. */
const divide: MakeProgram = (seed, isSlow) => {
  const rem = (rd: number, rs1: number, rs2: number): number => encode.r(1, rs2, rs1, 7, rd);
  const a = begin().add(addi(5, 0, 40), add(9, BASE, 0));
  a.label('next').add(lw(6, 9, 0), lw(7, 9, 4), addi(9, 9, 8));
  a.label('loop').add(rem(10, 6, 7));
  if (isSlow) a.add(div(11, 6, 7));
  a.add(add(6, 7, 0), add(7, 10, 0)).branch(Branch.NE, 7, 0, 'loop');
  a.label('end')
    .add(addi(5, 5, -1))
    .branch(Branch.NE, 5, 0, 'next');
  return a.finish(randomWords(seed, 80, 1 << 16).map((word) => word + 1));
};

/** Sums every word of 3 KiB, twice. Slow: the loop writes each sum back, one line further on. */
const stream: MakeProgram = (seed, isSlow) => {
  const a = begin().add(addi(5, 0, 2));
  a.label('pass').add(add(9, BASE, 0), addi(6, 0, 768), addi(15, 0, 0));
  a.label('loop').add(lw(10, 9, 0), add(15, 15, 10));
  if (isSlow) a.add(lw(11, 9, 1024), add(15, 15, 11));
  a.add(addi(9, 9, 4), addi(6, 6, -1)).branch(Branch.NE, 6, 0, 'loop');
  a.label('end')
    .add(addi(5, 5, -1))
    .branch(Branch.NE, 5, 0, 'pass');
  return a.finish(randomWords(seed, 1024, 1 << 30));
};

/** Follows 1,500 pointers through 26 lines in a random order. Slow: each line is left by way of its last word. */
const chase: MakeProgram = (seed, isSlow) => {
  const a = begin().add(li(5, 1500), add(9, BASE, 0));
  a.label('loop').add(lw(9, 9, 0));
  if (isSlow) a.add(lw(10, 9, 28), add(9, 9, 10));
  a.add(addi(5, 5, -1)).branch(Branch.NE, 5, 0, 'loop');
  a.label('end');
  const random = randomSource(seed);
  const lines = Array.from({ length: 26 }, (_, index) => index);
  for (let i = lines.length - 1; i > 0; i--) {
    const other = random(i + 1);
    [lines[i], lines[other]] = [lines[other]!, lines[i]!];
  }
  const data = Array.from({ length: 26 * 8 }, () => 0);
  lines.forEach((line, index) => {
    data[line * 8] = RAM_BASE + DATA + 32 * lines[(index + 1) % lines.length]!;
  });
  return a.finish(data);
};

/** Counts bytes in four classes, with branches that mostly go one way. Slow: one branch depends on a random bit. */
const classify: MakeProgram = (seed, isSlow) => {
  const a = begin().add(addi(5, 0, 500), add(9, BASE, 0), addi(20, 0, 240), addi(21, 0, 20));
  a.label('loop').add(lbu(10, 9, 0));
  a.branch(Branch.LTU, 10, 20, 'low')
    .add(addi(15, 15, 1))
    .label('low');
  a.branch(Branch.GEU, 10, 21, 'high')
    .add(addi(16, 16, 1))
    .label('high');
  if (isSlow)
    a.add(andi(11, 10, 1))
      .branch(Branch.NE, 11, 0, 'odd')
      .add(addi(17, 17, 1))
      .label('odd');
  a.add(addi(9, 9, 1), addi(5, 5, -1)).branch(Branch.NE, 5, 0, 'loop');
  a.label('end');
  return a.finish(randomWords(seed, 128, 2 ** 31));
};

/** 150 nests of calls, three to six deep. Slow: each function saves a register that it does not use. */
const calls: MakeProgram = (seed, isSlow) => {
  const a = begin().add(addi(2, BASE, 2000), addi(5, 0, 150), add(9, BASE, 0));
  a.label('next')
    .add(lbu(10, 9, 0), addi(9, 9, 1))
    .jump(1, 'loop');
  a.add(addi(5, 5, -1))
    .branch(Branch.NE, 5, 0, 'next')
    .jump(0, 'stop');
  a.label('loop').add(addi(2, 2, -16), sw(1, 2, 0));
  if (isSlow) a.add(sw(9, 2, 4), lw(11, 2, 4), add(12, 11, 0));
  a.add(addi(10, 10, -1))
    .branch(Branch.EQ, 10, 0, 'leave')
    .jump(1, 'loop');
  a.label('leave').add(lw(1, 2, 0), addi(2, 2, 16), jalr(0, 1, 0));
  a.label('end').label('stop');
  const bytes = randomWords(seed, 160, 4).map((depth) => depth + 3);
  const words = Array.from(
    { length: 40 },
    (_, i) =>
      bytes[i * 4]! | (bytes[i * 4 + 1]! << 8) | (bytes[i * 4 + 2]! << 16) | (bytes[i * 4 + 3]! << 24),
  );
  return a.finish([...words, ...Array.from({ length: 600 }, () => 0)]);
};

/** Copies 16 words at a time to random places. Slow: it waits for its stores with a fence. */
const copy: MakeProgram = (seed, isSlow) => {
  const a = begin().add(addi(5, 0, 60), add(9, BASE, 0), addi(20, BASE, 512));
  a.label('next').add(lw(10, 9, 0), addi(9, 9, 4), add(10, 10, 20), addi(6, 0, 16), add(11, BASE, 0));
  a.label('loop').add(lw(12, 11, 0), sw(12, 10, 0));
  if (isSlow) a.add(FENCE);
  a.add(addi(11, 11, 4), addi(10, 10, 4), addi(6, 6, -1)).branch(Branch.NE, 6, 0, 'loop');
  a.label('end')
    .add(addi(5, 5, -1))
    .branch(Branch.NE, 5, 0, 'next');
  const places = randomWords(seed, 60, 256).map((place) => place * 4);
  return a.finish([...places, ...Array.from({ length: 68 + 400 }, () => 0)]);
};

/** A long loop without a branch, 12 times, after a search of random length. Slow: its length does not fit the instruction cache. */
const straight: MakeProgram = (seed, isSlow) => {
  const a = begin().add(addi(5, 0, 12), lw(7, BASE, 0));
  a.label('wait')
    .add(addi(7, 7, -1))
    .branch(Branch.NE, 7, 0, 'wait');
  a.label('loop');
  for (let i = 0; i < (isSlow ? 640 : 400); i++) a.add(addi(9 + (i % 8), 9 + (i % 8), 1));
  a.add(addi(5, 5, -1))
    .branch(Branch.EQ, 5, 0, 'end')
    .jump(0, 'loop');
  a.label('end').add(NOP);
  return a.finish(randomWords(seed, 1, 200).map((word) => word + 1));
};

export const PROGRAMS: Readonly<Record<string, MakeProgram>> = {
  sort,
  search,
  matrix,
  divide,
  stream,
  chase,
  classify,
  calls,
  copy,
  straight,
};
