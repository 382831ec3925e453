/** The out-of-order core: its trace against its own counters and structures, and in lockstep with the reference machine. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Trace } from '../sdk/src/reader/index.js';
import { openSource, openTraceFile } from '../sdk/src/reader/node.js';
import { analyzePerformance } from '../sdk/src/semantics/cpu/analysis/analyze.js';
import { verifyTrace } from '../sdk/src/tools/verify/index.js';
import { cases, TRIES_ALL } from '../test/support/effort.js';
import { BUILDS_MS, limitOfFile } from '../test/support/limits.js';
import { both, expectSame } from './lib/against-reference.js';
import { addi, ECALL, encode, jalr, li, lui, lw, NOP, randomProgram, sw } from './lib/assemble.js';
import { formatHex, parseHex } from './lib/image.js';
import { auditO3, compareO3, type O3AuditResult, type O3Instruction, Stage } from './lib/o3-audit.mjs';
import { o3Program } from './lib/o3-program.js';
import { outOfOrderTiming, Replay } from './lib/replay.js';
import { RAM_BASE } from './lib/rv32im.js';
import { DEMO, makeO3, type Report, TESTS } from './lib/simulator.js';
import { Cause } from './lib/trap.js';

// The core is built with Verilator; when every case is tried, also without its tracer.
limitOfFile(BUILDS_MS);

const ROOT = dirname(DEMO.replace(/\/$/, ''));
const CYCLE = 1000;
const TRACED = `obj_dir_o3_${TESTS}`;
const UNTRACED = TRIES_ALL ? `obj_dir_o3_notrace_${TESTS}` : TRACED;
const WIDTH = 2;
const ROB_ENTRIES = 48;
const HIGH = RAM_BASE >>> 12;
const out = mkdtempSync(join(tmpdir(), 'uscope-o3-'));
afterAll(() => rmSync(out, { recursive: true, force: true }));

/** Runs a program on the traced core. */
function uscopeRun(folder: string, ...args: string[]): void {
  const schema = join(DEMO, 'o3.yaml');
  const command = ['run', '--schema', schema, '--out', folder, '--', join(DEMO, TRACED, 'Vtop'), ...args];
  const run = spawnSync(process.execPath, [join(ROOT, 'sdk/bin/uscope.js'), ...command], {
    encoding: 'utf8',
    timeout: BUILDS_MS,
  });
  if (run.error) throw run.error;
}

interface Traced {
  readonly trace: Trace;
  readonly report: Report;
  readonly audit: O3AuditResult;
  readonly replay: Replay<O3Instruction>;
  readonly instructions: readonly O3Instruction[];
}

/** Runs, audits and replays. */
async function traced(name: string, image: readonly number[], ...args: string[]): Promise<Traced> {
  const folder = join(out, name);
  const reportFile = join(out, `${name}.json`);
  uscopeRun(folder, `+report=${reportFile}`, '+quiet', ...args);
  const trace = await openTraceFile(join(folder, 'core0.uscope'));
  const report = JSON.parse(readFileSync(reportFile, 'utf8')) as Report;
  const replay = new Replay<O3Instruction>(image, CYCLE, null, outOfOrderTiming);
  const instructions: O3Instruction[] = [];
  const audit = await auditO3(trace, (instruction) => {
    instructions.push(instruction);
    replay.follow(instruction);
  });
  return { trace, report, audit, replay, instructions };
}

beforeAll(() => {
  makeO3();
  if (TRIES_ALL) makeO3('TRACE=0');
  if (!existsSync(join(ROOT, 'sdk/dist/cli/main.js')))
    spawnSync('npm', ['run', 'build', '-w', 'sdk'], { cwd: ROOT, stdio: 'inherit' });
}, 600_000);

describe('the program of the demo on the out-of-order core', () => {
  let run: Traced;
  beforeAll(async () => {
    run = await traced('firmware', parseHex(readFileSync(join(DEMO, 'firmware/firmware.hex'), 'utf8')));
  }, 300_000);
  afterAll(() => run?.trace.close());

  it('computes what the host computes, with an IPC of 1 over the cycles that do not wait for an interrupt', () => {
    const { report } = run;
    expect(report.passed).toBe(true);
    const count = (name: string): number => Number(report.counters[name]);
    const awake = count('cycles') - count('stalls_wait_for_interrupt');
    expect(count('committed_insns') / awake).toBeGreaterThanOrEqual(1);
  });

  it('is in lockstep with the reference machine: instructions, registers, stores, traps, interrupts', () => {
    const { replay, audit, report } = run;
    expect(replay.mismatch).toBeNull();
    expect(replay.steps).toBe(audit.retired + audit.traps.length);
    expect(replay.machine.stop).toEqual({ pc: report.pc, cause: Cause.ECALL, tval: 0, target: 0 });
    for (const [name, count] of Object.entries(replay.machine.counts).filter(([name]) => name !== 'atomics'))
      expect([name, report.counters[name]]).toEqual([name, String(count)]);
  });

  it('breaks no rule of lives, stages and queues, and counts what the core counts', () => {
    expect(run.audit.problems).toEqual([]);
    expect(compareO3(run.audit, run.report)).toEqual([]);
    expect(run.audit.frames).toBe(Number(run.report.counters.cycles) + 1);
    expect(run.audit.free).toBe(48);
  });

  it("holds at every checkpoint what the core's own structures hold", async () => {
    const source = await openSource(join(out, 'firmware/core0.uscope'));
    try {
      const { ok, findings } = await verifyTrace(source);
      expect({ ok, findings }).toEqual({ ok: true, findings: [] });
    } finally {
      await source.close?.();
    }
  });

  it('fills every queue, and has misses in flight at the same time', () => {
    const { most } = run.audit;
    expect(most).toMatchObject({ rob: 48, int_queue: 16, load_queue: 16, store_queue: 16, fetch_buffer: 8 });
    expect(most.mshrs).toBeGreaterThanOrEqual(2);
    const none = Object.entries(run.audit.flushes).filter(([, count]) => count === 0);
    expect(none).toEqual([]);
  });

  it('has top-down slots that add up to 100 %, over the whole run and, but for what is in flight, over parts of it', async () => {
    const { trace, report } = run;
    const { cores } = await analyzePerformance(trace, { unit: 'cycles' });
    const { topDown, checks, instructions } = cores[0]!;
    const cycles = Number(report.counters.cycles);
    expect(topDown).toMatchObject({ width: WIDTH, slots: WIDTH * cycles, counted: WIDTH * cycles });
    expect(topDown!.classes.reduce((sum, { share }) => sum + share!, 0)).toBeCloseTo(1, 12);
    for (const { name, slots } of topDown!.classes)
      expect([name, `${slots}`]).toEqual([name, report.counters[`slots_${name}`]]);
    expect(topDown!.classes.find(({ name }) => name === 'retiring')!.slots).toBe(instructions.retired);
    // A flush that finds nothing to squash is one to the core, but no event.
    for (const { what, counted, value } of checks.filter((check) => !check.what.startsWith('flushes')))
      expect([what, BigInt(counted)]).toEqual([what, value]);
    for (const fromCycle of [10_000n, 100_000n, 150_000n]) {
      const range = { from: fromCycle, to: fromCycle + 5000n, unit: 'cycles' } as const;
      const part = (await analyzePerformance(trace, range)).cores[0]!.topDown!;
      expect(part.slots).toBe(WIDTH * 5000);
      expect(Math.abs(part.counted - part.slots)).toBeLessThanOrEqual(ROB_ENTRIES);
    }
  });

  it('executes out of order and retires in order', () => {
    const retired = run.instructions.filter(({ isRetired }) => isRetired);
    const overtaken = retired.filter(({ enteredAt }, i) => {
      const before = retired[i - 1]?.enteredAt[Stage.EXECUTE];
      const own = enteredAt[Stage.EXECUTE];
      return before != null && own != null && own < before;
    });
    expect(overtaken.length).toBeGreaterThan(retired.length / 20);
  });
});

describe('constrained-random programs, traced, in lockstep with the reference machine', () => {
  it.each(Array.from({ length: TRIES_ALL ? 20 : 1 }, (_, seed) => seed))(
    'of 10,000 instructions, seed %i',
    async (seed) => {
      const period = 150 + 97 * (seed % 5);
      const image = o3Program(4000 + seed, 10_000, period);
      const hex = join(out, 'random.hex');
      writeFileSync(hex, formatHex(image));
      const { trace, report, audit, replay } = await traced(`random-${seed}`, image, `+firmware=${hex}`);
      await trace.close();
      expect(replay.mismatch).toBeNull();
      expect(compareO3(audit, report)).toEqual([]);
      expect(replay.machine.stop?.cause).toBe(Cause.ECALL);
      expect([...replay.machine.registers]).toEqual(report.registers);
      expect(audit.retired).toBeGreaterThan(10_000);
      const { interrupts, exceptions } = report.counters;
      expect(Math.min(Number(interrupts), Number(exceptions))).toBeGreaterThan(10);
      expect(Math.min(audit.replays, audit.retries)).toBeGreaterThan(0);
    },
  );
});

describe('small programs end with the registers and counts of the reference machine', () => {
  it.each(Array.from({ length: cases(12) }, (_, seed) => seed))('random program %i', (seed) => {
    const { run, machine } = both(randomProgram(seed + 1, 40 + 60 * (seed % 12)), UNTRACED);
    machine.counts.atomics = 0;
    const { atomics, ...counts } = machine.counts;
    expectSame({ run, machine: Object.assign(Object.create(machine), { counts }) });
  });

  const program = (...words: number[]): number[] => [
    lui(8, HIGH),
    addi(1, 0, 7),
    ...words,
    addi(1, 0, 99),
    sw(1, 8, 0),
    NOP,
    NOP,
  ];
  it.each([
    ['an unknown opcode', Cause.ILLEGAL, program(0xffff_ffff)],
    ['an atomic operation, which it does not have', Cause.ILLEGAL, program(0x0084_202f)],
    ['a load of a word from an odd address', Cause.LOAD_MISALIGNED, program(lw(2, 8, 2))],
    ['a load from where nothing is', Cause.LOAD_FAULT, program(lw(2, 0, 0))],
    ['a store to an odd address', Cause.STORE_MISALIGNED, program(sw(1, 8, 1))],
    ['a store to where nothing is', Cause.STORE_FAULT, program(sw(1, 0, 0))],
    ['a jump to an odd address', Cause.FETCH_MISALIGNED, program(jalr(5, 8, 2))],
    ['a taken branch to an odd address', Cause.FETCH_MISALIGNED, program(encode.b(0, 0, 0, 6))],
    ['a jump out of memory', Cause.FETCH_FAULT, program(jalr(5, 0, 0))],
  ])('%s stops it, precisely', (_what, cause, words) => {
    const { run } = both(words, UNTRACED);
    expect(run.report).toMatchObject({ halted: true, cause });
    expect(run.report.registers[1]).toBe(7);
  });

  it('a load that went ahead of a store to its address is fetched again, and waits the next time', () => {
    // The store's address comes from a division. The loop does it eight times.
    const words = [
      ...li(8, RAM_BASE + 0x4000),
      addi(9, 0, 1),
      addi(6, 0, 8),
      addi(5, 5, 3),
      encode.r(1, 9, 8, 4, 7),
      sw(5, 7, 0),
      lw(4, 8, 0),
      encode.r(0, 4, 10, 0, 10),
      addi(6, 6, -1),
      encode.b(1, 6, 0, -24),
      ECALL,
      NOP,
      NOP,
      NOP,
      NOP,
    ];
    const { run, machine } = both(words, UNTRACED);
    expect(run.report.registers).toEqual([...machine.registers]);
    expect(run.report.counters.order_violations).toBe('1');
  });
});
