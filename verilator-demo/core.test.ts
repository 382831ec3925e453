import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  addi,
  Csr,
  csrrc,
  csrrs,
  csrrw,
  div,
  EBREAK,
  ECALL,
  encode,
  FENCE,
  jalr,
  li,
  lui,
  lw,
  MRET,
  mul,
  NOP,
  randomProgram,
  sw,
  WFI,
} from './lib/assemble.js';
import { formatHex } from './lib/image.js';
import { Machine, RAM_BASE } from './lib/rv32im.js';
import { DEMO, make, type Run, simulate } from './lib/simulator.js';
import { Cause } from './lib/trap.js';

const RAM_END = 0x8001_0000;
const HIGH = RAM_BASE >>> 12;
let folder = '';

beforeAll(() => {
  make('TRACE=0');
  folder = mkdtempSync(join(tmpdir(), 'uscope-core-'));
}, 180_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a program of instruction words on the core and on the reference. */
function both(words: readonly number[]): { run: Run; machine: Machine } {
  const image = join(folder, 'program.hex');
  writeFileSync(image, formatHex(words));
  const machine = new Machine(words);
  machine.run(1_000_000);
  return { run: simulate([`+firmware=${image}`, '+quiet', '+max-cycles=100000'], folder), machine };
}

function expectSame({ run, machine }: { run: Run; machine: Machine }): void {
  const { report } = run;
  expect(report.halted).toBe(true);
  const { cause, tval, pc } = report;
  expect({ cause, tval, pc, target: 0 }).toEqual(machine.stop);
  expect(report.registers).toEqual([...machine.registers]);
  for (const [name, count] of Object.entries(machine.counts)) {
    expect([name, report.counters[name]]).toEqual([name, String(count)]);
  }
}

/** Counter of a program that ends with ECALL, the words behind it filled up. */
function counters(words: readonly number[]): Record<string, number> {
  const { run, machine } = both([...words, ECALL, NOP, NOP, NOP, NOP, NOP]);
  expectSame({ run, machine });
  return Object.fromEntries(
    Object.entries(run.report.counters).map(([name, value]) => [name, Number(value)]),
  );
}

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

  it('was made from the sources beside it', () => {
    const makefile = readFileSync(join(DEMO, 'firmware/Makefile'), 'utf8');
    const sources = /^SOURCES := (.+)$/m.exec(makefile)![1]!.split(' ');
    const inputs = [...sources, 'platform.h', 'workload.h', 'link.ld', 'Makefile'];
    const hash = createHash('sha256');
    for (const name of inputs) hash.update(readFileSync(join(DEMO, 'firmware', name)));
    expect(/^\/\/ sources: (.+)$/m.exec(hex)?.[1]).toBe(hash.digest('hex'));
  });

  it.skipIf(compilerVersion() !== version)('is what its compiler makes of them', () => {
    const build = `BUILD=${join(folder, 'firmware')}`;
    execFileSync('make', ['-C', join(DEMO, 'firmware'), build, 'check'], { stdio: 'pipe' });
  });
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

  it('waits one cycle for a load, no cycle when another instruction stands between', () => {
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

describe('the units and caches take the time that their parameters say', () => {
  it('multiplier and divider', () => {
    expect(counters([mul(1, 2, 3)])).toMatchObject({ stalls_mul_div: 2, muldivs: 1 });
    expect(counters([div(1, 2, 3)])).toMatchObject({ stalls_mul_div: 17, muldivs: 1 });
  });

  it('instruction cache: the first line of a program is missed, a loop in it is not', () => {
    const straight = counters([NOP]);
    expect(straight).toMatchObject({ icache_misses: 1, stalls_icache_miss: 12 });
    const loop = [addi(1, 0, 50), addi(1, 1, -1), encode.b(1, 1, 0, -4)];
    expect(counters(loop).icache_misses).toBe(straight.icache_misses);
  });

  it('data cache: one miss for eight words of a line', () => {
    const loads = Array.from({ length: 9 }, (_, index) => lw(1, 8, 4 * index));
    const found = counters([lui(8, HIGH + 4), ...loads]);
    expect(found).toMatchObject({ dcache_misses: 2, dcache_accesses: 9, stalls_dcache_miss: 24 });
  });

  it('data cache: two lines of one set stay, a third drives one out', () => {
    const stride = 16 * 32;
    const turns = (lines: number): number[] =>
      [0, 1].flatMap(() => Array.from({ length: lines }, (_, index) => lw(1, 8, stride * index)));
    expect(counters([lui(8, HIGH + 4), ...turns(2)]).dcache_misses).toBe(2);
    expect(counters([lui(8, HIGH + 4), ...turns(3)]).dcache_misses).toBe(6);
  });

  it('store buffer: four stores wait for a miss, the fifth stalls; a load takes its bytes from there', () => {
    const stores = (n: number): number[] => Array.from({ length: n }, (_, index) => sw(8, 8, 4 * index));
    // The stores begin a line of the instruction cache, so that nothing comes between them.
    const warm = [lui(8, HIGH + 4), ...Array.from({ length: 7 }, () => NOP)];
    expect(counters([...warm, ...stores(4)])).toMatchObject({ stalls_store_buffer_full: 0 });
    expect(counters([...warm, ...stores(5)]).stalls_store_buffer_full).toBeGreaterThan(0);
    const forwarded = counters([...warm, sw(8, 8, 0), lw(1, 8, 0)]);
    expect(forwarded).toMatchObject({ loads_forwarded: 1, stalls_dcache_miss: 0 });
  });

  it('store buffer: a load that it answers only in part takes the rest from memory', () => {
    const byte = encode.s(0, 9, 8, 1);
    const words = [lui(8, HIGH + 4), ...li(9, 0x1234_5678), sw(9, 8, 0), FENCE, byte, lw(1, 8, 0)];
    const { run, machine } = both([...words, ECALL, NOP, NOP, NOP, NOP]);
    expectSame({ run, machine });
    expect(run.report.registers[1]).toBe(0x1234_7878);
    expect(run.report.counters.loads_forwarded).toBe('0');
    expect(Number(run.report.counters.stalls_store_drain)).toBeGreaterThan(0);
  });
});

describe('prediction', () => {
  it('follows a jump without a flush', () => {
    const words = [encode.jal(1, 12), addi(2, 0, 1), addi(3, 0, 1)];
    expect(counters(words)).toMatchObject({ mispredicts: 0, flushes: 1, jumps: 1 });
  });

  it('learns a loop: wrong when it begins and when it ends', () => {
    const loop = [addi(1, 0, 50), addi(1, 1, -1), encode.b(1, 1, 0, -4)];
    expect(counters(loop)).toMatchObject({ branches: 50, branches_taken: 49, mispredicts: 2 });
  });

  it('squashes the two instructions behind a branch that goes elsewhere', () => {
    // The first lines of the program are in the cache when the branch comes the second time.
    const found = counters([encode.b(0, 0, 0, 12), addi(2, 0, 1), addi(3, 0, 1)]);
    expect(found.mispredicts).toBe(1);
    // Two behind the branch, then the ECALL and those behind it.
    expect(found.squashed_insns).toBeGreaterThanOrEqual(4);
    expect(found.squashed_insns).toBeLessThanOrEqual(7);
  });

  it('knows where calls return to, and no other jump through a register', () => {
    // Twice: call, return.
    const calls = [encode.jal(1, 12), encode.jal(1, 8), encode.jal(0, 8), jalr(0, 1, 0)];
    expect(counters(calls)).toMatchObject({ jumps: 5, mispredicts: 0 });
    const through = [encode.u(0x17, 7, 0), jalr(0, 7, 12), NOP];
    expect(counters(through)).toMatchObject({ jumps: 1, mispredicts: 1 });
  });
});

/** x31 holds the address of a handler placed at the end of memory's first page; words are put there at start. */
const HANDLER = 0x800;
const withHandler = (handler: readonly number[], words: readonly number[]): number[] => {
  const setUp = [...li(31, RAM_BASE + HANDLER), csrrw(0, Csr.MTVEC, 31)];
  const program = [...setUp, ...words];
  const gap = Array.from({ length: HANDLER / 4 - program.length }, () => NOP);
  return [...program, ...gap, ...handler, NOP, NOP, NOP, NOP];
};
const END = [csrrw(0, Csr.MTVEC, 0), ECALL];
/** Counts in x30, skips the instruction that raised the exception. */
const SKIP = [addi(30, 30, 1), csrrs(29, Csr.MEPC, 0), addi(29, 29, 4), csrrw(0, Csr.MEPC, 29), MRET];

describe('machine mode', () => {
  it('hands exceptions to the handler, precisely', () => {
    const faults = [
      0xffff_ffff,
      EBREAK,
      ECALL,
      lw(2, 31, 1),
      sw(2, 31, 2),
      lw(2, 0, 0),
      sw(2, 0, 0),
      jalr(5, 31, 2),
    ];
    const words = faults.flatMap((fault) => [addi(1, 1, 1), fault, addi(2, 2, 3)]);
    const outcome = both(withHandler(SKIP, [...words, ...END]));
    expectSame(outcome);
    expect(outcome.run.report.registers[30]).toBe(faults.length);
    expect(outcome.run.report.registers[1]).toBe(faults.length);
    expect(outcome.run.report.counters.exceptions).toBe(String(faults.length + 1));
  });

  it('says in mcause, mtval and mepc what happened', () => {
    const note = [csrrs(10, Csr.MCAUSE, 0), csrrs(11, Csr.MTVAL, 0), csrrs(12, Csr.MEPC, 0)];
    const { run, machine } = both(withHandler([...note, ...SKIP], [lw(2, 31, 3), ...END]));
    expectSame({ run, machine });
    const at = RAM_BASE + 4 * 3;
    expect(run.report.registers.slice(10, 13)).toEqual([Cause.LOAD_MISALIGNED, RAM_BASE + HANDLER + 3, at]);
  });

  it('reads and writes its registers, and knows which it has', () => {
    const values = [
      ...li(1, 0xffff_ffff),
      ...[Csr.MSTATUS, Csr.MIE, Csr.MTVEC, Csr.MSCRATCH, Csr.MEPC, Csr.MCAUSE, Csr.MTVAL].flatMap(
        (csr, index) => [csrrw(0, csr, 1), csrrs(2 + index, csr, 0)],
      ),
      csrrc(0, Csr.MSTATUS, 1),
      csrrs(9, Csr.MHARTID, 0),
      csrrs(10, Csr.MINSTRET, 0),
      csrrw(0, Csr.MTVEC, 0),
    ];
    expectSame(both([...values, ECALL, NOP, NOP, NOP, NOP]));
    const readOnly = both([addi(1, 0, 1), csrrw(2, Csr.MHARTID, 1), NOP, NOP, NOP, NOP]);
    expectSame(readOnly);
    expect(readOnly.run.report.cause).toBe(Cause.ILLEGAL);
  });

  it('counts cycles and instructions in mcycle and minstret', () => {
    const words = [
      csrrs(1, Csr.MCYCLE, 0),
      csrrs(2, Csr.MINSTRET, 0),
      csrrs(3, Csr.MINSTRET, 0),
      csrrs(4, Csr.MCYCLE, 0),
    ];
    const { report } = both([...words, ECALL, NOP, NOP, NOP, NOP]).run;
    expect(report.registers.slice(2, 4)).toEqual([1, 2]);
    expect(report.registers[4]! - report.registers[1]!).toBeGreaterThanOrEqual(6);
    expect(Number(report.counters.cycles)).toBeGreaterThan(report.registers[4]!);
  });
});

describe('the timer', () => {
  const COMPARE = [lui(28, 0x2004)];
  /** Sets mtimecmp, whose high word is all ones, to the present cycle and x27 more. */
  const restart = [csrrs(26, Csr.MCYCLE, 0), encode.r(0, 27, 26, 0, 26), sw(26, 28, 0)];
  const enable = [...li(25, 0x80), csrrs(0, Csr.MIE, 25), addi(25, 0, 8), csrrs(0, Csr.MSTATUS, 25)];
  const start = (period: number): number[] => [
    addi(27, 0, period),
    ...COMPARE,
    ...restart,
    sw(0, 28, 4),
    ...enable,
  ];

  /** A random program under a timer, or the same words without interrupts. */
  function timed(seed: number, period: number, isOn: boolean): number[] {
    const handler = [addi(30, 30, 1), ...restart, MRET];
    const setUp = [...li(31, RAM_BASE + 0x3000), csrrw(0, Csr.MTVEC, 31), ...start(period)];
    if (!isOn) setUp[setUp.length - 1] = NOP;
    const program = randomProgram(seed, 250, setUp);
    // The ECALL at the end finds no handler: interrupts have to be off before.
    program.splice(program.lastIndexOf(ECALL), 0, csrrc(0, Csr.MSTATUS, 25), csrrw(0, Csr.MTVEC, 0));
    const gap = Array.from({ length: 0x3000 / 4 - program.length }, () => NOP);
    return [...program, ...gap, ...handler, NOP, NOP, NOP, NOP];
  }

  it.each([17, 40, 63, 101, 250])(
    'interrupts random programs every %i cycles without a trace in their registers',
    (period) => {
      for (let seed = 1; seed <= 6; seed++) {
        const { report } = both(timed(1000 * period + seed, period, true)).run;
        const undisturbed = both(timed(1000 * period + seed, period, false));
        expect(report.cause).toBe(Cause.ECALL);
        expect(Number(report.counters.interrupts)).toBe(report.registers[30]);
        expect(Number(report.counters.interrupts)).toBeGreaterThan(0);
        expect(report.registers.slice(0, 12)).toEqual([...undisturbed.machine.registers.slice(0, 12)]);
      }
    },
  );

  it('wakes a sleeping core, once per interrupt, and takes it behind the wfi', () => {
    const handler = [addi(30, 30, 1), csrrs(24, Csr.MEPC, 0), ...restart, MRET];
    const sleep = [WFI, addi(1, 1, 1), WFI, addi(1, 1, 1)];
    const words = [...start(200), ...sleep, csrrc(0, Csr.MSTATUS, 25), ...END];
    const { report } = both(withHandler(handler, words)).run;
    expect(report).toMatchObject({ halted: true, cause: Cause.ECALL });
    expect([report.registers[1], report.registers[30], report.counters.interrupts]).toEqual([2, 2, '2']);
    expect(report.registers[24]).toBe(RAM_BASE + 4 * (words.indexOf(WFI) + 3 + 3));
    expect(Number(report.counters.stalls_wait_for_interrupt)).toBeGreaterThan(200);
  });

  it('does not interrupt as long as interrupts are off, and interrupts at once when they are on', () => {
    const handler = [csrrs(24, Csr.MEPC, 0), csrrs(23, Csr.MCAUSE, 0), csrrw(0, Csr.MIE, 0), MRET];
    const wait = Array.from({ length: 60 }, () => NOP);
    const off = csrrc(0, Csr.MSTATUS, 25);
    const words = [...start(60), off, ...wait, csrrs(0, Csr.MSTATUS, 25), addi(1, 0, 1), ...END];
    const { report } = both(withHandler(handler, words)).run;
    expect(report.counters.interrupts).toBe('1');
    expect(report.registers[24]).toBe(RAM_BASE + 4 * (3 + words.indexOf(addi(1, 0, 1))));
    expect(report.registers[23]).toBe(Cause.TIMER);
  });

  it('goes through a table of handlers in vectored mode', () => {
    const slots = Array.from({ length: 7 }, () => EBREAK);
    const handler = [...slots, encode.jal(0, 4), addi(30, 30, 1), csrrw(0, Csr.MIE, 0), MRET];
    const vectored = [addi(31, 31, 1), csrrw(0, Csr.MTVEC, 31)];
    const words = [...vectored, ...start(100), WFI, csrrc(0, Csr.MSTATUS, 25), ...END];
    const { report } = both(withHandler(handler, words)).run;
    expect([report.cause, report.registers[30]]).toEqual([Cause.ECALL, 1]);
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
    // The last word is zero, which is no instruction.
    expect(run.report).toMatchObject({ cause: Cause.ILLEGAL, pc: RAM_END - 4 });
  });

  it('an instruction behind one that stops the core has no effect, a store neither', () => {
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
      execFileSync(join(DEMO, 'obj_dir_notrace/Vtop'), args, { stdio: 'pipe' });
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
