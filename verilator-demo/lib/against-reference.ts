/** Runs programs on the core (without a trace) and on the reference machine. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { ECALL, NOP } from './assemble.js';
import { formatHex } from './image.js';
import { Machine } from './rv32im.js';
import { type Run, simulate } from './simulator.js';

/** A folder for one test file, removed when its tests are done. */
export const folder = mkdtempSync(join(tmpdir(), 'uscope-core-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a program of instruction words on the core and on the reference. */
export function both(words: readonly number[], build?: string): { run: Run; machine: Machine } {
  const image = join(folder, 'program.hex');
  writeFileSync(image, formatHex(words));
  const machine = new Machine(words);
  machine.run(1_000_000);
  return { run: simulate([`+firmware=${image}`, '+quiet', '+max-cycles=100000'], folder, build), machine };
}

export function expectSame({ run, machine }: { run: Run; machine: Machine }): void {
  const { report } = run;
  expect(report.halted).toBe(true);
  const { cause, tval, pc } = report;
  expect({ cause, tval, pc, target: 0 }).toEqual(machine.stop);
  expect(report.registers).toEqual([...machine.registers]);
  for (const [name, count] of Object.entries(machine.counts)) {
    expect([name, report.counters[name]]).toEqual([name, String(count)]);
  }
}

/** Counter of a program that ends with ECALL, the words after it filled up. */
export function counters(words: readonly number[]): Record<string, number> {
  const { run, machine } = both([...words, ECALL, NOP, NOP, NOP, NOP, NOP]);
  expectSame({ run, machine });
  return Object.fromEntries(
    Object.entries(run.report.counters).map(([name, value]) => [name, Number(value)]),
  );
}
