import { beforeAll, describe, expect, it } from 'vitest';
import { BUILDS_MS, limitOfFile } from '../test/support/limits.js';
import { both, counters, expectSame, folder } from './lib/against-reference.js';
import {
  addi,
  div,
  ECALL,
  encode,
  FENCE,
  jalr,
  li,
  lui,
  lw,
  mul,
  NOP,
  randomProgram,
  sw,
} from './lib/assemble.js';
import { RAM_BASE } from './lib/rv32im.js';
import { FAST_BUILD, make, makeUntraced, simulate } from './lib/simulator.js';

// The core is built with Verilator.
limitOfFile(BUILDS_MS);

const HIGH = RAM_BASE >>> 12;

beforeAll(() => makeUntraced(), 180_000);

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

  it('store buffer: the youngest store of a byte wins', () => {
    // All three wait for the same line, which is missed.
    const words = [lui(8, HIGH + 4), ...li(9, 0x1234_5678), addi(10, 0, -1), addi(11, 0, 7), NOP, NOP, NOP];
    const waiting = [sw(9, 8, 0), encode.s(1, 10, 8, 2), encode.s(0, 11, 8, 3), lw(1, 8, 0)];
    const { run, machine } = both([...words, ...waiting, ECALL, NOP, NOP, NOP, NOP]);
    expectSame({ run, machine });
    expect(run.report.registers[1]).toBe(0x07ff_5678);
    expect(run.report.counters.loads_forwarded).toBe('1');
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

  it('squashes the two instructions after a branch that goes elsewhere', () => {
    // The first lines of the program are in the cache when the branch comes the second time.
    const found = counters([encode.b(0, 0, 0, 12), addi(2, 0, 1), addi(3, 0, 1)]);
    expect(found.mispredicts).toBe(1);
    // Two after the branch, then the ECALL and those after it.
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

  it('does not believe a call on a wrong path', () => {
    const called = [encode.b(0, 0, 0, 8), encode.jal(1, 8), jalr(0, 1, 0)];
    const words = [encode.jal(1, 12), encode.jal(0, 20), NOP, ...called];
    expect(counters(words)).toMatchObject({ jumps: 3, branches_taken: 1, mispredicts: 1 });
  });
});

describe('a core with other parameters', () => {
  const BUILD = 'obj_dir_notrace_small';
  beforeAll(() => {
    const units = '-GMulLatency=5 -GDivBitsPerCycle=1 -GBranchEntries=4 -GReturnDepth=2 -GStoreDepth=2';
    const caches =
      '-GICacheSets=4 -GICacheWays=1 -GDCacheSets=2 -GDCacheWays=4 -GLineBytes=8 -GMissPenalty=3';
    make('TRACE=0', ...FAST_BUILD, 'CONFIG=small', `PARAMS=${units} ${caches}`);
  });

  it('runs the program of the demo to the same result, in another time', () => {
    const small = simulate([], folder, BUILD);
    const large = simulate([], folder).report;
    expect(small.status).toBe(0);
    expect(small.report.result).toBe(large.result);
    const misses = (counters: Readonly<Record<string, string>>): number[] =>
      [counters.icache_misses, counters.dcache_misses, counters.mispredicts].map(Number);
    misses(small.report.counters).forEach((count, index) => {
      expect(count).toBeGreaterThan(misses(large.counters)[index]!);
    });
  });

  it('takes the time that they say', () => {
    const end = [ECALL, NOP, NOP, NOP, NOP, NOP];
    expect(both([mul(1, 2, 3), ...end], BUILD).run.report.counters.stalls_mul_div).toBe('4');
    expect(both([div(1, 2, 3), ...end], BUILD).run.report.counters.stalls_mul_div).toBe('33');
    expect(both([lui(8, HIGH + 4), lw(1, 8, 0), ...end], BUILD).run.report.counters.stalls_dcache_miss).toBe(
      '3',
    );
  });

  it.each(Array.from({ length: 20 }, (_, seed) => seed))(
    'agrees with the reference on random program %i',
    (seed) => {
      expectSame(both(randomProgram(500 + seed, 300), BUILD));
    },
  );
});
