import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MANY_CASES_MS } from '../../../../../test/support/limits.js';
import { lacks } from '../../../../../test/support/needs.js';
import { disassemble } from './disassemble.js';
import { ENCODINGS, type Encoding, PSEUDO, type Xlen } from './encodings.js';
import { instructionLength, xlenOfIsa } from './isa.js';
import { floatRegisterName, registerName } from './operands.js';

const BASE = 0x8000_0000n;
const OBJDUMP = 'riscv64-unknown-elf-objdump';
const hasObjdump = spawnSync(OBJDUMP, ['--version']).status === 0;

interface Vectors {
  readonly xlen: Xlen;
  readonly pc: string;
  /** Bits in hexadecimal, text with pseudo-instructions, text without. */
  readonly instructions: readonly (readonly [bits: string, pseudo: string, plain: string])[];
}

const vectors = [32, 64].map((xlen) => {
  const url = new URL(`../../../../../test/vectors/riscv/rv${xlen}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, 'utf8')) as Vectors;
});

describe('the table of instructions', () => {
  it.each(vectors)('rv$xlen: every entry has the text of the manual', ({ xlen, pc, instructions }) => {
    expect(instructions.length).toBeGreaterThan(300);
    for (const [hex, pseudo, plain] of instructions) {
      const bits = Number.parseInt(hex, 16);
      expect([hex, disassemble(bits, { xlen, pc: BigInt(pc) })]).toEqual([hex, pseudo]);
      expect([hex, disassemble(bits, { xlen, pc: BigInt(pc), pseudo: false })]).toEqual([hex, plain]);
    }
  });

  it.each(vectors)('rv$xlen: has every instruction there is', ({ xlen, instructions }) => {
    const names = new Set(instructions.flatMap(([, pseudo, plain]) => [pseudo, plain]).map(mnemonic));
    const missing = [...ENCODINGS, ...PSEUDO].filter(
      (row) => (row.xlen === 0 || row.xlen === xlen) && !names.has(row.name),
    );
    expect(missing.map((row) => row.name)).toEqual([]);
  });
});

describe('disassemble', () => {
  it('shows targets as addresses, or as distances without a pc', () => {
    expect(disassemble(0xfe0618e3, { xlen: 64, pc: 0x8000_0010n })).toBe('bnez a2,0x80000000');
    expect(disassemble(0xfe0618e3, { xlen: 64 })).toBe('bnez a2,.-16');
    expect(disassemble(0x0080006f, { xlen: 32 })).toBe('j .+8');
    expect(disassemble(0xffdff06f, { xlen: 32, pc: 0n })).toBe('j 0xfffffffc');
  });

  it('shows what is not an instruction as data', () => {
    expect(disassemble(0xffff_ffff, { xlen: 64 })).toBe('.word 0xffffffff');
    expect(disassemble(0x0000_000b, { xlen: 64 })).toBe('.word 0x0000000b');
    expect(disassemble(0xabcd_8000, { xlen: 64 })).toBe('.half 0x8000');
    // A double word is loaded on RV64 only; shifts by 32 and more exist there only.
    expect(disassemble(0x0005_3503, { xlen: 32 })).toBe('.word 0x00053503');
    expect(disassemble(0x0205_1513, { xlen: 32 })).toBe('.word 0x02051513');
    expect(disassemble(0x0205_1513, { xlen: 64 })).toBe('slli a0,a0,0x20');
  });

  it('takes a compressed instruction from the lower half, under its own name or the one it represents', () => {
    expect(disassemble(0xdead_4505, { xlen: 64 })).toBe('li a0,1');
    expect(disassemble(0x4505, { xlen: 64, pseudo: false })).toBe('c.li a0,1');
    expect(disassemble(0x2001, { xlen: 32, pc: BASE })).toBe('jal 0x80000000');
    expect(disassemble(0x2505, { xlen: 64 })).toBe('addiw a0,a0,1');
  });

  it('has a text for every 32-bit and 16-bit value', { timeout: MANY_CASES_MS }, () => {
    const without: number[] = [];
    for (let bits = 0; bits < 2 ** 16; bits++) {
      const texts = [
        disassemble(bits * 0x1_0001, { xlen: 32 }),
        disassemble(bits * 0x1_0001, { xlen: 64, pseudo: false }),
      ];
      if (!texts.every((text) => /^[a-z.]/.test(text))) without.push(bits);
    }
    expect(without).toEqual([]);
  });

  it('knows lengths, registers and the word size of an ISA string', () => {
    expect([0x4505, 0x13, 0x1f, 0x5f].map(instructionLength)).toEqual([2, 4, 0, 0]);
    expect([registerName(0), registerName(31), floatRegisterName(10)]).toEqual(['zero', 't6', 'fa0']);
    expect(['RV32I', 'rv64gc_zba', ' RV32E', 'x86', 'RV128I', undefined].map(xlenOfIsa)).toEqual([
      32,
      64,
      32,
      null,
      null,
      null,
    ]);
  });
});

describe.skipIf(lacks('riscv64-unknown-elf-objdump', hasObjdump))('compared with GNU objdump', () => {
  let directory = '';
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'uscope-riscv-'));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it.each([32, 64] as const)('rv%i: every instruction with random operands', (xlen) => {
    const random = xorshift(0x1234_5678 + xlen);
    const words = [...ENCODINGS, ...PSEUDO]
      .filter((row) => row.xlen === 0 || row.xlen === xlen)
      .flatMap((row) => samples(row, random, 24));
    compare(words, xlen, 4);
  });

  it.each([32, 64] as const)('rv%i: random words', (xlen) => {
    const random = xorshift(0x9abc_def0 + xlen);
    const words = Array.from({ length: 40_000 }, () => (random() | 3) >>> 0);
    // What other extensions define is theirs; what they do not define must be data here too.
    compare(
      words.filter((bits) => instructionLength(bits) === 4),
      xlen,
      4,
    );
  });

  it.each([32, 64] as const)('rv%i: every 16-bit value', (xlen) => {
    const halves = Array.from({ length: 2 ** 16 }, (_, bits) => bits);
    compare(
      halves.filter((bits) => (bits & 3) !== 3),
      xlen,
      2,
    );
  });

  it('agrees on the checked-in table', () => {
    for (const { xlen, instructions } of vectors) {
      const bits = instructions.map(([hex]) => Number.parseInt(hex, 16));
      compare(bits, xlen, 4);
    }
  });

  /** Every text, with and without pseudo-instructions, at addresses 4 bytes apart. */
  function compare(values: readonly number[], xlen: Xlen, size: 2 | 4): void {
    for (const pseudo of [false, true]) {
      const theirs = objdump(values, xlen, pseudo, size);
      const different = values.flatMap((bits, index) => {
        const ours = disassemble(bits, { xlen, pseudo, pc: BASE + BigInt(index * 4) });
        const other = theirs.get(index * 4) ?? 'nothing';
        return ours === other || isKnownDifference(bits, ours, other, xlen) ? [] : [{ bits, ours, other }];
      });
      expect(different.slice(0, 10)).toEqual([]);
      expect(theirs.size).toBeGreaterThanOrEqual(values.length);
    }
  }

  function objdump(
    values: readonly number[],
    xlen: Xlen,
    pseudo: boolean,
    size: 2 | 4,
  ): ReadonlyMap<number, string> {
    const image = Buffer.alloc(values.length * 4);
    for (const [index, bits] of values.entries()) {
      // A 16-bit value is followed by a c.nop, so that every one starts at a multiple of four.
      const isHalf = size === 2 || (bits & 3) !== 3;
      image.writeUInt32LE(isHalf ? ((bits & 0xffff) | 0x1_0000) >>> 0 : bits, index * 4);
    }
    const path = join(directory, 'image.bin');
    writeFileSync(path, image);
    const options = ['-D', '-z', '-b', 'binary', '-m', `riscv:rv${xlen}`, `--adjust-vma=${BASE}`];
    if (!pseudo) options.push('-M', 'no-aliases');
    const text = execFileSync(OBJDUMP, [...options, path], { encoding: 'utf8', maxBuffer: 2 ** 28 });
    const lines = new Map<number, string>();
    for (const line of text.split('\n')) {
      const match = /^\s*([0-9a-f]+):\s+[0-9a-f ]+\t(.*)$/.exec(line);
      if (match) lines.set(Number(BigInt(`0x${match[1]}`) - BASE), normalize(match[2]!, pseudo));
    }
    return lines;
  }
});

const mnemonic = (text: string): string => text.split(' ')[0]!;

/** Objdump's text in our spelling: binutils before 2.42 print aliases of immediate forms without their "i". */
function normalize(text: string, pseudo: boolean): string {
  const plain = text
    .replace(/\s+#.*$/, '')
    .replace(/\s+/, ' ')
    .trim()
    .replace(/^\.4byte 0x(.*)/, (_, digits: string) => `.word 0x${digits.padStart(8, '0')}`)
    .replace(/^\.2byte 0x(.*)/, (_, digits: string) => `.half 0x${digits.padStart(4, '0')}`);
  if (!pseudo) return plain;
  return plain
    .replace(/^(add|and|or|xor|sll|srl|sra)(w?) (\w+,\w+,(?:-?\d+|0x[0-9a-f]+))$/, '$1i$2 $3')
    .replace(/^(csrr[wsc]|csr[wsc]) (.*,\d+)$/, '$1i $2');
}

/** Where objdump knows more, or says it in another way; everything else must be equal to the letter. */
function isKnownDifference(bits: number, ours: string, theirs: string, xlen: Xlen): boolean {
  const name = mnemonic(ours);
  // Registers of extensions not covered here have names there.
  if (/^csr/.test(name) && /\b0x[0-9a-f]+\b/.test(ours)) {
    const [before = '', after = ''] = ours.split(/0x[0-9a-f]+/);
    return theirs.startsWith(before) && theirs.endsWith(after);
  }
  // Reserved rounding modes: no instruction here, "unknown" there. Sets of nothing likewise.
  if (/unknown/.test(theirs)) return /^(\.word|fence|pause)/.test(ours);
  // RV32 has no shifts by 32 and more.
  if (xlen === 32 && /^s[lr][la]i .*,0x[23]/.test(theirs)) return /^\.(word|half)/.test(ours);
  // Conversions without rounding, fields that a fence ignores: the manual has readers ignore what is there.
  if (/^(fcvt\.d\.[sw]u?|fence(\.i|\.tso)?)$/.test(name)) return theirs.startsWith('.word');
  if (/^fs(rm|flags)i$/.test(name)) return theirs.startsWith(`${name} zero,`);
  return (bits & 3) !== 3 && isCompressedDifference(bits & 0xffff, ours, theirs, xlen);
}

/** Encodings that change nothing ("hints") have separate names there; one reserved value is accepted there. */
function isCompressedDifference(bits: number, ours: string, theirs: string, xlen: Xlen): boolean {
  const [quadrant, funct3, rd] = [bits & 3, bits >> 13, (bits >> 7) & 31];
  const shamt = ((bits >> 7) & 32) | ((bits >> 2) & 31);
  const isShift =
    (quadrant === 2 && funct3 === 0) || (quadrant === 1 && funct3 === 4 && (bits & 0x0800) === 0);
  if (isShift) return shamt === 0 || rd === 0 || (xlen === 32 && shamt >= 32 && ours.startsWith('.half'));
  if (bits === 0x6101) return ours === '.half 0x6101';
  if (quadrant === 1 && funct3 === 0) return rd === 0 || shamt === 0;
  if (bits === 0x0001) return theirs.startsWith('c.addi');
  return rd === 0 && /^c\.(li|lui|mv|add) zero,/.test(theirs);
}

/** The encoding with everything that its mask leaves open filled at random. */
function samples(row: Encoding, random: () => number, count: number): number[] {
  return Array.from({ length: count }, () => {
    const bits = ((random() & ~row.mask) | row.match) >>> 0;
    return row.sameSources ? ((bits & ~0x1f0_0000) | (((bits >>> 15) & 31) << 20)) >>> 0 : bits;
  });
}

function xorshift(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  };
}
