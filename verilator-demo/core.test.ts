import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { BUILDS_MS, limitOfFile } from '../test/support/limits.js';
import { lacks } from '../test/support/needs.js';
import { both, counters, expectSame, folder } from './lib/against-reference.js';
import {
  addi,
  div,
  EBREAK,
  ECALL,
  encode,
  jalr,
  lui,
  lw,
  mul,
  NOP,
  randomProgram,
  randomSource,
  sw,
} from './lib/assemble.js';
import { formatHex } from './lib/image.js';
import { RAM_BASE } from './lib/rv32im.js';
import { DEMO, makeUntraced, simulate, UNTRACED } from './lib/simulator.js';
import { Cause } from './lib/trap.js';

// The core is built with Verilator.
limitOfFile(BUILDS_MS);

const RAM_END = 0x8001_0000;
const HIGH = RAM_BASE >>> 12;
beforeAll(() => makeUntraced(), 180_000);

describe('the program of the demo', () => {
  it('prints and computes on the core what it does on the host', () => {
    const run = simulate([], folder);
    expect(run.stderr).toBe('');
    expect(run.status).toBe(0);
    expect(run.report.result).toBe(run.report.expected);
    expect(Number(run.report.counters.cycles)).toBeGreaterThanOrEqual(200_000);
  });

  it('fails with status 1 when the checksum is wrong', () => {
    const words = [lui(1, 0x10000), addi(2, 0, 1), sw(2, 1, 4), ECALL, NOP, NOP, NOP, NOP];
    const { run } = both(words);
    expect(run.status).toBe(1);
    expect(run.report.result).toBe(1);
    expect(run.stderr).toContain('wrong checksum: core 00000001');
  });

  it('fails with status 1 when the program does not end', () => {
    const image = join(folder, 'loop.hex');
    writeFileSync(image, formatHex([encode.jal(0, 0), NOP, NOP]));
    const run = simulate([`+firmware=${image}`, '+quiet', '+max-cycles=500'], folder);
    expect(run.status).toBe(1);
    expect(run.report.halted).toBe(false);
    expect(run.report.counters.cycles).toBe('500');
    expect(run.stderr).toContain('did not end');
  });
});

describe('the checked-in image', () => {
  const hex = readFileSync(join(DEMO, 'firmware/firmware.hex'), 'utf8');
  const version = /^\/\/ compiler: (.+)$/m.exec(hex)?.[1];

  it('was made from the sources next to it', () => {
    const makefile = readFileSync(join(DEMO, 'firmware/Makefile'), 'utf8');
    const sources = /^SOURCES := (.+)$/m.exec(makefile)![1]!.split(' ');
    const inputs = [...sources, 'platform.h', 'workload.h', 'link.ld', 'Makefile'];
    const hash = createHash('sha256');
    for (const name of inputs) hash.update(readFileSync(join(DEMO, 'firmware', name)));
    expect(/^\/\/ sources: (.+)$/m.exec(hex)?.[1]).toBe(hash.digest('hex'));
  });

  it.skipIf(lacks(`the RISC-V compiler ${version}`, compilerVersion() === version))(
    'is what its compiler makes of them',
    () => {
      const build = `BUILD=${join(folder, 'firmware')}`;
      execFileSync('make', ['-C', join(DEMO, 'firmware'), build, 'check'], { stdio: 'pipe' });
    },
  );
});

describe('the pipeline', () => {
  it.each(Array.from({ length: 60 }, (_, seed) => seed))(
    'agrees with the reference on random program %i',
    (seed) => {
      expectSame(both(randomProgram(seed + 1, 40 + 12 * seed)));
    },
  );

  it('forwards from the memory and the writeback stage, the younger first', () => {
    const words = [
      addi(1, 0, 1),
      addi(1, 0, 2),
      addi(1, 0, 3),
      encode.r(0, 1, 1, 0, 2),
      encode.r(0, 1, 2, 0, 3),
      ECALL,
    ];
    const { run } = both([...words, NOP, NOP, NOP, NOP]);
    expect(run.report.registers.slice(1, 4)).toEqual([3, 6, 9]);
    expect(run.report.counters.stalls_load_use).toBe('0');
  });

  it('waits one cycle for a load, no cycle when another instruction is between', () => {
    const near = [lui(8, HIGH), lw(1, 8, 0), addi(2, 1, 0)];
    const far = [lui(8, HIGH), lw(1, 8, 0), NOP, addi(2, 1, 0)];
    expect(counters(near)).toMatchObject({ stalls_load_use: 1 });
    expect(counters(far)).toMatchObject({ stalls_load_use: 0 });
  });

  it('keeps forwarded operands while execute waits', () => {
    // The division waits in execute while both its producers leave the pipeline.
    const words = [addi(1, 0, 100), addi(2, 0, 7), div(3, 1, 2), mul(4, 3, 2), encode.r(1, 2, 1, 6, 5)];
    const { run } = both([...words, ECALL, NOP, NOP, NOP, NOP]);
    expect(run.report.registers.slice(3, 6)).toEqual([14, 98, 2]);
  });
});

describe('atomic operations', () => {
  const amo = (funct5: number, rd: number, rs1: number, rs2: number): number =>
    ((funct5 << 27) | (rs2 << 20) | (rs1 << 15) | (2 << 12) | (rd << 7) | 0x2f) >>> 0;
  const [ADD, SWAP, LR, SC, XOR, OR, AND, MIN, MAX, MINU, MAXU] = [
    0, 1, 2, 3, 4, 8, 12, 16, 20, 24, 28,
  ] as const;
  const ALL = [ADD, SWAP, LR, SC, XOR, OR, AND, MIN, MAX, MINU, MAXU];

  it.each(Array.from({ length: 12 }, (_, seed) => seed))(
    'agree with the reference among loads, stores and branches, random program %i',
    (seed) => {
      // Every few instructions of a random program one on a word of its data area, whose address is in x12.
      const random = randomSource(900 + seed);
      const setUp = [lui(12, HIGH + 4), addi(12, 12, 4 * random(4))];
      const words = randomProgram(900 + seed, 200, setUp).map((word) => {
        const opcode = word & 0x7f;
        if ((opcode !== 0x13 && opcode !== 0x33) || random(3) > 0 || ((word >>> 7) & 31) > 5) return word;
        const operation = ALL[random(ALL.length)]!;
        return amo(operation, random(6), 12, operation === LR ? 0 : random(6));
      });
      const outcome = both(words);
      expectSame(outcome);
      expect(Number(outcome.run.report.counters.atomics)).toBeGreaterThan(3);
    },
  );

  it('take a cycle to read and one to write, and wait for stores before them', () => {
    expect(counters([lui(8, HIGH + 4), amo(ADD, 1, 8, 2)])).toMatchObject({
      atomics: 1,
      stalls_atomic: 1,
      loads: 0,
    });
    const behind = counters([lui(8, HIGH + 4), sw(1, 8, 0), amo(ADD, 1, 8, 2)]);
    expect(behind.stalls_store_drain).toBeGreaterThan(5);
  });

  it('store on condition only what has been reserved and not been written since', () => {
    const sequence = (...between: number[]): number[] => [
      lui(8, HIGH + 4),
      addi(2, 0, 7),
      amo(LR, 1, 8, 0),
      ...between,
      amo(SC, 3, 8, 2),
      amo(SC, 4, 8, 2),
      lw(5, 8, 0),
      ECALL,
      NOP,
      NOP,
      NOP,
    ];
    const registers = (...between: number[]): readonly number[] => {
      const outcome = both(sequence(...between));
      expectSame(outcome);
      return outcome.run.report.registers.slice(3, 6);
    };
    expect(registers()).toEqual([0, 1, 7]);
    expect(registers(sw(0, 8, 4))).toEqual([0, 1, 7]);
    expect(registers(sw(0, 8, 0))).toEqual([1, 1, 0]);
  });

  it.each([
    ['an AMO at an odd address', Cause.STORE_MISALIGNED, amo(ADD, 2, 9, 1), HIGH],
    ['an LR at an odd address', Cause.LOAD_MISALIGNED, amo(LR, 2, 9, 0), HIGH],
    ['an AMO where nothing is', Cause.STORE_FAULT, amo(SWAP, 2, 10, 1), HIGH],
    ['an LR of a device', Cause.LOAD_FAULT, amo(LR, 2, 10, 0), 0x10000],
    ['an operation that is none', Cause.ILLEGAL, amo(5, 2, 9, 1), HIGH],
    ['an LR with an operand', Cause.ILLEGAL, amo(LR, 2, 9, 1), HIGH],
    ['an AMO on doublewords', Cause.ILLEGAL, amo(ADD, 2, 9, 1) | 0x1000, HIGH],
  ])('%s is an exception', (_what, cause, word, page) => {
    const words = [lui(9, HIGH), addi(9, 9, 2), lui(10, page === HIGH ? 0 : page), word, NOP, NOP, NOP, NOP];
    const outcome = both(words);
    expectSame(outcome);
    expect(outcome.run.report.cause).toBe(cause);
    expect(outcome.run.report.counters.atomics).toBe('0');
  });
});

describe('exceptions stop a core that has no handler, precisely', () => {
  const before = addi(1, 0, 7);
  const after = [addi(1, 0, 99), sw(1, 8, 0), NOP, NOP, NOP];
  const program = (...words: number[]): number[] => [lui(8, HIGH), before, ...words, ...after];

  it.each([
    ['an unknown opcode', Cause.ILLEGAL, program(0xffff_ffff)],
    ['a CSR that is not there', Cause.ILLEGAL, program(0xc000_2573)],
    ['an operation with a wrong upper half', Cause.ILLEGAL, program(encode.r(2, 1, 1, 0, 2))],
    ['FENCE.I', Cause.ILLEGAL, program(0x0000_100f)],
    ['a shift with a wrong upper half', Cause.ILLEGAL, program(encode.i(0x13, 1, 2, 1, 0x401))],
    ['EBREAK', Cause.BREAKPOINT, program(EBREAK)],
    ['a load of a word from an odd address', Cause.LOAD_MISALIGNED, program(lw(2, 8, 2))],
    ['a load of a halfword from an odd address', Cause.LOAD_MISALIGNED, program(encode.i(0x03, 1, 2, 8, 1))],
    ['a load from where nothing is', Cause.LOAD_FAULT, program(lw(2, 0, 0))],
    ['a load from a device', Cause.LOAD_FAULT, program(lui(9, 0x10000), lw(2, 9, 0))],
    ['a store to an odd address', Cause.STORE_MISALIGNED, program(sw(1, 8, 1))],
    ['a store to where nothing is', Cause.STORE_FAULT, program(sw(1, 0, 0))],
    ['a jump to an odd address', Cause.FETCH_MISALIGNED, program(jalr(5, 8, 2))],
    ['a taken branch to an odd address', Cause.FETCH_MISALIGNED, program(encode.b(0, 0, 0, 6))],
    ['a jump out of memory', Cause.FETCH_FAULT, program(jalr(5, 0, 0))],
  ])('%s', (_what, cause, words) => {
    const outcome = both(words);
    expectSame(outcome);
    expect(outcome.run.report.cause).toBe(cause);
    expect(outcome.run.report.registers[1]).toBe(7);
    expect(outcome.run.status).toBe(1);
    expect(outcome.run.stderr).toContain(`mcause ${cause}`);
  });

  it('a branch not taken to an odd address is harmless', () => {
    const words = [encode.b(1, 0, 0, 6), addi(1, 0, 5), ECALL, NOP, NOP, NOP, NOP];
    expectSame(both(words));
  });

  it('running off the end of memory', () => {
    const words = [lui(8, (RAM_END >>> 12) & 0xfffff), jalr(0, 8, -4), NOP, NOP];
    const { run } = both(words);
    // The last word is zero, which is not an instruction.
    expect(run.report).toMatchObject({ cause: Cause.ILLEGAL, pc: RAM_END - 4 });
  });

  it('an instruction after one that stops the core has no effect, a store neither', () => {
    const words = [lui(8, 0x10000), addi(1, 0, 7), EBREAK, sw(1, 8, 4), addi(2, 0, 1), NOP, NOP, NOP];
    const { run, machine } = both(words);
    expectSame({ run, machine });
    expect(run.report.result).toBeNull();
    expect(run.report.counters.stores).toBe('0');
    expect(run.report.registers[2]).toBe(0);
  });
});

describe('arguments of the simulator', () => {
  const status = (...args: string[]): number => {
    try {
      execFileSync(join(DEMO, UNTRACED, 'Vtop'), args, { stdio: 'pipe' });
      return 0;
    } catch (error) {
      return (error as { status: number }).status;
    }
  };
  it.each([['+max-cycles=0'], ['+max-cycles=many'], ['+firmware=/nonexistent.hex'], ['+bogus'], ['plain']])(
    'refuses %s with status 2',
    (argument) => {
      expect(status(argument)).toBe(2);
    },
  );
});

function compilerVersion(): string | null {
  try {
    return execFileSync('riscv64-unknown-elf-gcc', ['-dumpversion'], { encoding: 'utf8' }).trim();
  } catch {
    return null;
  }
}
