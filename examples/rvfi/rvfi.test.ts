import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Trace } from '../../sdk/src/reader/index.js';
import { openTraceFile } from '../../sdk/src/reader/node.js';
import { BUILDS_MS, limitOfFile } from '../../test/support/limits.js';
import { lacks } from '../../test/support/needs.js';
import { type Retired, type RetiredStream, readRetired } from '../../test/support/retired-stream.js';
import { parseHex } from '../../verilator-demo/lib/image.js';
import { Machine } from '../../verilator-demo/lib/rv32im.js';
import { Cause } from '../../verilator-demo/lib/trap.js';

// The design is built with Verilator.
limitOfFile(BUILDS_MS);

const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = join(HERE, '../..');
const TRACE = join(HERE, 'out/core0.uscope');
const PERIOD = 1000;
const hasVerilator = spawnSync('verilator', ['--version']).status === 0;
const hasCompiler = spawnSync('riscv64-unknown-elf-gcc', ['--version']).status === 0;

let trace: Trace;
let stream: RetiredStream;

function make(target: string): string {
  const run = spawnSync('make', ['--no-print-directory', '-C', HERE, target], {
    encoding: 'utf8',
    timeout: BUILDS_MS,
  });
  if (run.status !== 0) throw new Error(`make ${target} failed:\n${run.stdout}\n${run.stderr}`);
  return run.stdout;
}

function uscope(...args: string[]) {
  const options = { encoding: 'utf8', maxBuffer: 64 << 20 } as const;
  return spawnSync(process.execPath, [join(ROOT, 'sdk/bin/uscope.js'), ...args], options);
}

/** What the instruction set says: one line per instruction, in words that are made of the trace, too. */
function reference(): { lines: string[]; machine: Machine } {
  const machine = new Machine(parseHex(readFileSync(join(HERE, 'program.hex'), 'utf8')));
  const lines: string[] = [];
  const timing = { decode: 0, execute: 0, memory: 0 };
  while (!machine.stop && lines.length < 100_000) {
    const { pc } = machine;
    const done = machine.step(timing);
    if ('inst' in done) {
      const register = done.rd ? ` x${done.rd}=${hex(done.value)}` : '';
      const store = done.store ? ` [${hex(done.store.addr)}]=${masked(done.store)}` : '';
      lines.push(`${hex(pc)} ${hex(done.inst)}${register}${store}`);
    } else {
      // A failed fetch shows the instruction 0: the interface does not distinguish the two.
      const cause = done.cause === Cause.FETCH_FAULT ? Cause.ILLEGAL : done.cause;
      lines.push(`${hex(pc)} trap ${cause} ${hex(done.tval)} -> ${hex(done.target)}`);
    }
  }
  return { lines, machine };
}

const hex = (value: number | bigint): string => BigInt.asUintN(32, BigInt(value)).toString(16);

function masked({ strobe, data }: { strobe: number; data: number }): string {
  const bytes = [0, 1, 2, 3].filter((byte) => (strobe >> byte) & 1);
  return bytes.map((byte) => `${byte}:${((data >>> (8 * byte)) & 255).toString(16)}`).join(',');
}

function lineOf({ fields, facts }: Retired): string {
  const fact = (name: string) => facts.find(({ event }) => event === name)?.fields;
  const trap = fact('trap');
  const pc = hex(fields.pc!);
  if (trap) return `${pc} trap ${trap.cause} ${hex(trap.tval!)} -> ${hex(trap.target!)}`;
  const written = fact('reg_write');
  const store = fact('mem_write');
  const register = written ? ` x${written.index}=${hex(written.value!)}` : '';
  // The console is a device: no store into memory for the reference.
  const isMemory = store !== undefined && store.addr! >= 0x8000_0000n;
  const bytes = isMemory ? masked({ strobe: Number(store.mask), data: Number(store.data) }) : '';
  return `${pc} ${hex(fields.inst_bits!)}${register}${isMemory ? ` [${hex(store.addr!)}]=${bytes}` : ''}`;
}

describe.skipIf(lacks('Verilator', hasVerilator))('a core traced through its RISC-V Formal Interface', () => {
  beforeAll(async () => {
    expect(make('run')).toContain('sorted');
    trace = await openTraceFile(TRACE);
    stream = await readRetired(trace, 'core0');
  });
  afterAll(() => trace?.close());

  it('shows every instruction that the instruction set says, with what it did', () => {
    const { lines, machine } = reference();
    expect(machine.stop).not.toBeNull();
    expect(stream.retired.map(lineOf)).toEqual(lines);
    expect(lines.length).toBeGreaterThan(4000);
  });

  it('shows all kinds of exceptions, with cause and value as the instruction set has them', () => {
    const causes = stream.retired.flatMap(({ facts }) =>
      facts.filter(({ event }) => event === 'trap').map(({ fields }) => Number(fields.cause)),
    );
    expect(causes).toEqual([11, 3, 2, 2, 4, 4, 6, 6, 5, 7, 0, 2, 3]);
    expect(stream.retired.at(-1)!.facts.map(({ event }) => event)).toEqual([
      'stage_transition',
      'trap',
      'halt',
      'flush',
    ]);
  });

  it('lets instructions live for a cycle, retired or squashed', () => {
    expect(stream.retired.filter(({ time, end }) => end !== time + PERIOD)).toEqual([]);
    for (const { facts } of stream.retired) {
      const events = facts.map(({ event }) => event);
      expect(events.includes('flush')).toBe(events.includes('trap'));
    }
    expect(stream.retired.map(({ fields }) => Number(fields.order))).toEqual(
      stream.retired.map((_, index) => index),
    );
  });

  it('finds no rule of the interface broken', () => {
    expect(stream.others).toEqual([]);
  });

  it('ends with the registers of the instruction set and counters that add up', async () => {
    const { machine } = reference();
    const end = await trace.stateAt(trace.totalTimePs);
    const count = (name: string): number => Number(end.slotField(`core0/${name}`, 0, 'count'));
    const registers = machine.registers.map((_, index) =>
      Number(end.slotField('core0/regs', index, 'value')),
    );
    expect(registers).toEqual(machine.registers);
    const { committed_insns, branches, branches_taken, jumps, loads, stores } = machine.counts;
    const names = ['committed_insns', 'branches', 'branches_taken', 'jumps', 'loads', 'stores'];
    expect(names.map(count)).toEqual([committed_insns, branches, branches_taken, jumps, loads, stores]);
    expect([count('traps'), count('violations'), count('interrupts')]).toEqual([
      machine.counts.exceptions,
      0,
      0,
    ]);
    expect(count('cycles')).toBe(stream.frameTimes.length);
    expect(stream.frameTimes).toEqual(stream.frameTimes.map((_, cycle) => cycle * PERIOD));
  });

  it('is a trace that the tools understand', () => {
    const verified = JSON.parse(uscope('verify', TRACE, '--json').stdout);
    expect({ ok: verified.ok, findings: verified.findings }).toEqual({ ok: true, findings: [] });
    expect(uscope('stats', TRACE).stdout).toMatch(/checked against the counters of the core {2}2 of 2 agree/);
    expect(uscope('timeline', TRACE).stdout).toMatch(/80000004 addi sp,sp,\d+ +R\|/);
    expect(uscope('events', TRACE, '--event', 'halt').stdout).toMatch(/core0\/halt entity_id=\d+/);
    expect(uscope('dump', TRACE).stdout.split('\n').length).toBeGreaterThan(50_000);
  });

  it('adopts the module as the guide says', () => {
    const guide = readFileSync(join(ROOT, 'docs/tutorials/trace-a-core-you-did-not-write.md'), 'utf8');
    const bind = readFileSync(join(HERE, 'bind.sv'), 'utf8')
      .split('\n')
      .find((line) => line.startsWith('bind'))!;
    expect(guide).toContain(bind.replace('bind core', 'bind my_core'));
    for (const file of ['core.sv', 'tb.sv'])
      expect(readFileSync(join(HERE, file), 'utf8')).not.toMatch(/uscope/);
  });

  it.skipIf(lacks('a RISC-V compiler (gcc-riscv64-unknown-elf)', hasCompiler))(
    'runs the program of program.S',
    () => {
      expect(existsSync(join(HERE, 'program.S'))).toBe(true);
      make('check');
    },
  );
});
