/** What peers may cost follows from what this process can get. */
import { describe, expect, it } from 'vitest';
import { memoryBound, memoryOfProcess, ownMemory, type ProcessMemory } from './machine-memory.js';

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

/** Of Linux, with these numbers. */
const procOf =
  (data: string, usedKb = 0) =>
  (name: string): string =>
    name === 'limits'
      ? `Limit                     Soft Limit           Hard Limit           Units     \nMax data size             ${data}            unlimited            bytes     \nMax address space         unlimited            unlimited            bytes     \n`
      : `Name:\tnode\nVmSize:\t 1253352 kB\nVmData:\t ${usedKb} kB\nVmRSS:\t   62960 kB\n`;

const withLimit = (bytes: number, used: number): ProcessMemory => ({
  machine: 64 * GiB,
  limits: [{ name: 'a limit', bytes, used }],
});

it('the least of what bounds a process is what it may have', () => {
  expect(memoryOfProcess(ownMemory(procOf('1000000')))).toBe(1_000_000);
  expect(memoryOfProcess(ownMemory(procOf('unlimited')))).toBeGreaterThan(1_000_000);
  expect(memoryOfProcess(ownMemory(() => ''))).toBeGreaterThan(1_000_000);
});

it('limits and what is used of them are read from the system', () => {
  const { limits } = ownMemory(procOf('3000000', 2));
  expect(limits.filter(({ name }) => name.includes('ulimit'))).toEqual([
    { name: 'the limit of its data (ulimit -d)', bytes: 3_000_000, used: 2048 },
  ]);
});

describe('what peers may cost', () => {
  it('is what was asked for, where the process can get it', () => {
    expect(memoryBound(GiB, { machine: 2 * GiB, limits: [] })).toEqual({ bytes: GiB, limit: null });
    expect(memoryBound(GiB, withLimit(3 * GiB, 100 * MiB))).toEqual({ bytes: GiB, limit: null });
  });

  it('is what a limit leaves next to the program, and a reserve for its threads', () => {
    expect(memoryBound(20 * GiB, withLimit(3 * GiB, 100 * MiB))).toEqual({
      bytes: 3 * GiB - 356 * MiB,
      limit: 'a limit',
    });
  });

  it('is half of what a small limit leaves, and nothing where nothing is left', () => {
    expect(memoryBound(20 * GiB, withLimit(300 * MiB, 100 * MiB)).bytes).toBe(100 * MiB);
    expect(memoryBound(20 * GiB, withLimit(MiB, 100 * MiB)).bytes).toBe(0);
  });

  it('is half of what there is, or of a limit, when nothing was asked for; never more than a limit leaves', () => {
    expect(memoryBound(undefined, { machine: 2 * GiB, limits: [] }).bytes).toBe(GiB);
    expect(memoryBound(undefined, withLimit(8 * GiB, 100 * MiB)).bytes).toBe(4 * GiB);
    expect(memoryBound(undefined, withLimit(400 * MiB, 300 * MiB)).bytes).toBe(50 * MiB);
  });
});
