import { beforeAll, describe, expect, it } from 'vitest';
import { BUILDS_MS, limitOfFile } from '../test/support/limits.js';
import { both, expectSame } from './lib/against-reference.js';
import {
  addi,
  Csr,
  csrrc,
  csrrs,
  csrrw,
  EBREAK,
  ECALL,
  encode,
  jalr,
  li,
  lw,
  MRET,
  NOP,
  sw,
  WFI,
} from './lib/assemble.js';
import { RAM_BASE } from './lib/rv32im.js';
import { makeUntraced } from './lib/simulator.js';
import { interruptsOff, restartTimer, startTimer, timedProgram } from './lib/timed-program.js';
import { Cause } from './lib/trap.js';

// The core is built with Verilator.
limitOfFile(BUILDS_MS);

beforeAll(() => makeUntraced(), 180_000);

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
  it.each([17, 40, 63, 101, 250])(
    'interrupts random programs every %i cycles without a trace in their registers',
    (period) => {
      for (let seed = 1; seed <= 6; seed++) {
        const { report } = both(timedProgram(1000 * period + seed, 250, period)).run;
        const undisturbed = both(timedProgram(1000 * period + seed, 250, period, false));
        expect(report.cause).toBe(Cause.ECALL);
        expect(Number(report.counters.interrupts)).toBe(report.registers[30]);
        expect(Number(report.counters.interrupts)).toBeGreaterThan(0);
        expect(report.registers.slice(0, 12)).toEqual([...undisturbed.machine.registers.slice(0, 12)]);
      }
    },
  );

  it('wakes a sleeping core, once per interrupt, and takes it after the wfi', () => {
    const handler = [addi(30, 30, 1), csrrs(24, Csr.MEPC, 0), ...restartTimer, MRET];
    const sleep = [WFI, addi(1, 1, 1), WFI, addi(1, 1, 1)];
    const words = [...startTimer(200), ...sleep, interruptsOff, ...END];
    const { report } = both(withHandler(handler, words)).run;
    expect(report).toMatchObject({ halted: true, cause: Cause.ECALL });
    expect([report.registers[1], report.registers[30], report.counters.interrupts]).toEqual([2, 2, '2']);
    expect(report.registers[24]).toBe(RAM_BASE + 4 * (words.indexOf(WFI) + 3 + 3));
    expect(Number(report.counters.stalls_wait_for_interrupt)).toBeGreaterThan(200);
  });

  it('does not interrupt as long as interrupts are off, and interrupts at once when they are on', () => {
    const handler = [csrrs(24, Csr.MEPC, 0), csrrs(23, Csr.MCAUSE, 0), csrrw(0, Csr.MIE, 0), MRET];
    const wait = Array.from({ length: 60 }, () => NOP);
    const words = [
      ...startTimer(60),
      interruptsOff,
      ...wait,
      csrrs(0, Csr.MSTATUS, 25),
      addi(1, 0, 1),
      ...END,
    ];
    const { report } = both(withHandler(handler, words)).run;
    expect(report.counters.interrupts).toBe('1');
    expect(report.registers[24]).toBe(RAM_BASE + 4 * (3 + words.indexOf(addi(1, 0, 1))));
    expect(report.registers[23]).toBe(Cause.TIMER);
  });

  it('goes through a table of handlers in vectored mode', () => {
    const slots = Array.from({ length: 7 }, () => EBREAK);
    const handler = [...slots, encode.jal(0, 4), addi(30, 30, 1), csrrw(0, Csr.MIE, 0), MRET];
    const vectored = [addi(31, 31, 1), csrrw(0, Csr.MTVEC, 31)];
    const words = [...vectored, ...startTimer(100), WFI, interruptsOff, ...END];
    const { report } = both(withHandler(handler, words)).run;
    expect([report.cause, report.registers[30]]).toEqual([Cause.ECALL, 1]);
  });
});
