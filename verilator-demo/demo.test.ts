/** The whole path: core -> tracer -> DPI -> client -> daemon -> file -> reader, on the demo's program. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  commitRecordSize,
  decodeCommitRecord,
  decodeHeader,
  decodeSegmentHeader,
  SEGMENT_HEADER_SIZE,
  SessionStatus,
} from '../sdk/src/format/index.js';
import type { Trace } from '../sdk/src/reader/index.js';
import { openSource, openTraceFile } from '../sdk/src/reader/node.js';
import { verifyTrace } from '../sdk/src/tools/verify/index.js';
import { BUILDS_MS, limitOfFile } from '../test/support/limits.js';
import { addi, lui, NOP } from './lib/assemble.js';
import { type AuditResult, auditTrace, compareWithReport, type Instruction } from './lib/audit.mjs';
import { formatHex, parseHex } from './lib/image.js';
import { destinationOf, isCsr, isMulDiv, sourcesOf } from './lib/instruction.js';
import { readListing } from './lib/listing.js';
import { Replay } from './lib/replay.js';
import { RAM_BASE } from './lib/rv32im.js';
import { BUILD, DEMO, makeTraced, type Report, TRACED } from './lib/simulator.js';
import { type StfStep, stfOf } from './lib/stf-stream.js';
import { timedProgram } from './lib/timed-program.js';
import { Cause } from './lib/trap.js';

// The core is built with Verilator; its whole program is traced and replayed.
limitOfFile(BUILDS_MS);

const ROOT = dirname(DEMO.replace(/\/$/, ''));
const CYCLE = 1000;
/** Numbers of stages and of flush reasons in schema.yaml. */
const [FETCH, DECODE, EXECUTE, MEMORY, WRITEBACK] = [0, 1, 2, 3, 4] as const;
const [MISPREDICT, EXCEPTION] = [0, 1] as const;

/** 10 µs, the daemon's default. */
const CHECKPOINT_CYCLES = 10_000;

let out = '';
let demo: { status: number | null; stdout: string; stderr: string };
let report: Report;
let trace: Trace;
let audit: AuditResult;
const instructions: Instruction[] = [];
/** Those of them that retired, in order. */
let retired: Instruction[] = [];

beforeAll(async () => {
  makeTraced();
  if (!existsSync(join(ROOT, 'sdk/dist/cli/main.js'))) {
    spawnSync('npm', ['run', 'build', '-w', 'sdk'], { cwd: ROOT, stdio: 'inherit' });
  }
  out = mkdtempSync(join(tmpdir(), 'uscope-demo-'));
  demo = spawnSync(process.execPath, [join(DEMO, 'demo.mjs'), ...BUILD, '--out', out], {
    encoding: 'utf8',
    timeout: BUILDS_MS,
  });
  if (demo.status !== 0)
    throw new Error(`the demo failed with status ${demo.status}:\n${demo.stdout}\n${demo.stderr}`);
  report = JSON.parse(readFileSync(join(out, 'report.json'), 'utf8')) as Report;
  trace = await openTraceFile(join(out, 'core0.uscope'));
  audit = await auditTrace(trace, (instruction) => instructions.push(instruction));
  retired = instructions.filter((instruction) => instruction.isRetired);
});

afterAll(async () => {
  await trace?.close();
  rmSync(out, { recursive: true, force: true });
});

describe('the demo', () => {
  it('prints what the core counted and what to try next', () => {
    const grouped = Number(report.counters.committed_insns).toLocaleString('en-US');
    expect(demo.stdout).toContain(`instructions  ${grouped} retired`);
    const stalls = Number(report.counters.stalls_mul_div).toLocaleString('en-US');
    expect(demo.stdout).toMatch(new RegExp(`mul div +${stalls} +[0-9.]+ % +#+\n`));
    expect(demo.stdout).toContain("equal the core's own");
    expect(demo.stdout).toMatch(/uscope\.js info .*core0\.uscope/);
  });

  it('leaves a finalized file that nothing is missing from', () => {
    expect(trace.isComplete).toBe(true);
    expect(trace.session).toMatchObject({ status: SessionStatus.CLOSED, lost: 0n, rejected: 0n });
    expect(trace.warnings).toEqual([]);
    expect(trace.totalTimePs).toBe(BigInt(report.counters.cycles!) * BigInt(CYCLE));
  });

  it('takes the register file from the RTL at checkpoints, and that is what replay finds', async () => {
    const path = join(out, 'core0.uscope');
    const regs = trace.names.storage('core0/regs').storageId;
    const segments = snapshotsOfSegments(path);
    const numCheckpoints = Math.floor(Number(report.counters.cycles) / CHECKPOINT_CYCLES);
    const onGrid = Array.from({ length: numCheckpoints }, (_, i) => (i + 1) * CHECKPOINT_CYCLES);
    // Frames that wait for a second are committed: a simulator that is held up makes more segments, which have none.
    const withSnapshots = segments.filter(({ snapshots }) => snapshots.length > 0);
    expect(withSnapshots).toEqual(onGrid.map((startCycle) => ({ startCycle, snapshots: [regs] })));
    expect(segments[0]).toEqual({ startCycle: 0, snapshots: [] });
    const source = await openSource(path);
    try {
      // A snapshot that differs from replay would be reported as VERIFY_SNAPSHOT, any other storage as VERIFY_CHECKPOINT.
      const { ok, findings } = await verifyTrace(source);
      expect({ ok, findings }).toEqual({ ok: true, findings: [] });
    } finally {
      await source.close?.();
    }
  });

  it('describes itself by the names viewers look for', () => {
    expect(trace.dutProperty('cpu.pipeline_stages')).toBe('fetch,decode,execute,memory,writeback');
    expect(trace.dutProperty('cpu.isa')).toBe('RV32IMA_Zicsr');
    const scope = trace.schema.scopes.find((candidate) => candidate.name === 'core0')!;
    expect(scope.protocol).toBe('cpu');
    expect(trace.schema.clocks[scope.clockId]).toMatchObject({ name: 'core_clk', periodPs: CYCLE });
    expect(trace.names.storage('core0/entities').fields[0]!.name).toBe('entity_id');
  });
});

describe('the trace', () => {
  it('has a frame for every cycle and one for the last edge', () => {
    expect(audit.frames).toBe(Number(report.counters.cycles) + 1);
    expect(Number(report.counters.cycles)).toBeGreaterThanOrEqual(200_000);
  });

  it("breaks no rule of an instruction's life", () => {
    expect(audit.problems).toEqual([]);
  });

  it('counts what the core counts, and ends with the registers of the core', () => {
    expect(compareWithReport(audit, report)).toEqual([]);
    expect(Object.keys(audit.counters).sort()).toEqual(Object.keys(report.counters).sort());
  });

  it('ends every instruction fetched, retired or squashed', () => {
    expect(audit.born).toBe(audit.retired + audit.squashed);
    expect(audit.retired).toBe(Number(report.counters.committed_insns));
  });

  it('follows the reference machine step by step: instructions, registers, stores, traps, interrupts', () => {
    const replay = new Replay(parseHex(readFileSync(join(DEMO, 'firmware/firmware.hex'), 'utf8')), CYCLE);
    for (const instruction of instructions) replay.follow(instruction);
    const { machine, mismatch } = replay;
    const at = mismatch && instructions.find(({ serial }) => serial === mismatch.serial);
    expect({ mismatch, at }).toEqual({ mismatch: null, at: null });
    expect(replay.steps).toBe(retired.length + audit.traps.length);
    expect(machine.stop).toEqual({ pc: report.pc, cause: Cause.ECALL, tval: 0, target: 0 });
    expect([...machine.registers]).toEqual(report.registers);
    expect(machine.result).toBe(report.result);
    for (const [name, count] of Object.entries(machine.counts)) {
      expect([name, report.counters[name]]).toEqual([name, String(count)]);
    }
  });

  it('shows every kind of event that the core has counters for, but for what several cores need', () => {
    const none = Object.entries(report.counters).filter(([, value]) => value === '0');
    expect(none.map(([name]) => name)).toEqual(['atomics', 'stalls_atomic']);
    expect(audit.traps.filter(({ cause }) => cause === BigInt(Cause.TIMER)).length).toBeGreaterThan(50);
    const causes = new Set(audit.traps.map(({ cause }) => Number(cause)));
    expect([...causes].sort()).toEqual(
      [Cause.ILLEGAL, Cause.LOAD_MISALIGNED, Cause.ECALL, Cause.TIMER].sort(),
    );
  });

  it('lets an instruction stay in a stage exactly when it says that somebody stalls', () => {
    // Per cycle the oldest stage whose instruction is still there in the next one.
    const waiting = new Int8Array(audit.frames).fill(-1);
    for (const { enteredAt, endedAt } of instructions) {
      enteredAt.forEach((entered, stage) => {
        const left = enteredAt[stage + 1] ?? endedAt;
        for (let time = entered; time < left - CYCLE; time += CYCLE) {
          waiting[time / CYCLE] = Math.max(waiting[time / CYCLE]!, stage);
        }
      });
    }
    const cycles = (stage: number): number => waiting.filter((value) => value === stage).length;
    const events = (...reasons: string[]): number =>
      reasons.reduce((sum, reason) => sum + audit.stalls[reason]!, 0);
    expect(cycles(WRITEBACK)).toBe(0);
    expect(cycles(MEMORY)).toBe(events('dcache_miss', 'store_buffer_full', 'store_drain'));
    expect(cycles(EXECUTE)).toBe(events('mul_div'));
    expect(cycles(DECODE)).toBe(events('load_use', 'serialize', 'wait_for_interrupt'));
    expect(cycles(FETCH)).toBe(events('icache_miss'));
  });

  it('keeps multiplications and divisions in execute for as long as the units take', () => {
    const cyclesIn = (stage: number, { enteredAt }: Instruction): number =>
      (enteredAt[stage + 1]! - enteredAt[stage]!) / CYCLE;
    const took = (isDivision: boolean): Set<number> =>
      new Set(
        retired
          .filter(({ inst_bits }) => isMulDiv(inst_bits) && ((inst_bits >>> 14) & 1) === Number(isDivision))
          .map((instruction) => cyclesIn(EXECUTE, instruction)),
      );
    expect(Math.min(...took(false))).toBe(3);
    expect(Math.min(...took(true))).toBe(18);
  });

  it('executes a CSR instruction alone', () => {
    const csrs = retired.flatMap((csr, index) =>
      isCsr(csr.inst_bits) ? [{ csr, before: retired[index - 1] }] : [],
    );
    const crowded = csrs.filter(({ csr, before }) => before && before.endedAt > csr.enteredAt[EXECUTE]!);
    expect(csrs.length).toBeGreaterThan(100);
    expect(crowded).toEqual([]);
  });

  it('squashes after a wrong prediction before execute, and everything when a trap is taken', () => {
    const squashed = instructions.filter((instruction) => !instruction.isRetired);
    const late = squashed.filter(({ flushed, enteredAt }) => flushed === MISPREDICT && enteredAt.length > 2);
    expect(late).toEqual([]);
    const last = squashed.filter(({ endedAt }) => endedAt === Number(trace.totalTimePs));
    expect(last.every(({ flushed }) => flushed === EXCEPTION)).toBe(true);
    expect(last.length).toBeGreaterThanOrEqual(2);
    expect(audit.traps.at(-1)).toMatchObject({ cause: BigInt(Cause.ECALL), tval: 0n, target: 0n });
  });

  it('names as dependencies exactly the values handed on in flight', () => {
    const writer: (Instruction | undefined)[] = [];
    const wrong: unknown[] = [];
    for (const instruction of retired) {
      const readAt = instruction.enteredAt[EXECUTE]! - CYCLE;
      const needed = sourcesOf(instruction.inst_bits)
        .map((register) => writer[register])
        .filter((producer) => producer !== undefined && producer.endedAt > readAt)
        .map((producer) => producer!.serial);
      const expected = [...new Set(needed)].sort();
      const actual = [...instruction.producers].sort();
      if (String(expected) !== String(actual)) wrong.push({ instruction, expected });
      const rd = destinationOf(instruction.inst_bits);
      if (rd) writer[rd] = instruction;
    }
    expect(wrong.slice(0, 3)).toEqual([]);
    expect(audit.dependencies).toBeGreaterThan(retired.length / 4);
  });

  it('annotates every instruction with its pc and the disassembly that objdump gives', async () => {
    const listing = readListing('firmware/firmware.lst');
    const texts = new Map(
      instructions.map(({ pc, inst_bits, text }) => [`${pc} ${inst_bits}`, { pc, inst_bits, text }]),
    );
    await trace.strings.load([...texts.values()].map(({ text }) => text));
    let compared = 0;
    for (const { pc, inst_bits, text } of texts.values()) {
      const address = pc.toString(16).padStart(8, '0');
      const actual = trace.strings.peek(text)!;
      expect(actual.startsWith(`${address}: `)).toBe(true);
      const known = listing.get(address);
      if (!known || known.word !== inst_bits) continue;
      expect(actual).toBe(`${address}: ${known.text}`);
      compared++;
    }
    expect(compared).toBeGreaterThan(500);
  });
});

describe('the reader on this trace', () => {
  it('gives the final state without reading it all', async () => {
    const state = await trace.stateAt(trace.totalTimePs);
    report.registers.forEach((value, index) => {
      expect(state.slotField('core0/regs', index, 'value')).toBe(BigInt(value));
    });
    for (const [name, value] of Object.entries(report.counters)) {
      expect([name, state.slotField(`core0/${name}`, 0, 'count')]).toEqual([name, BigInt(value)]);
    }
    expect(state.occupancy('core0/entities')).toBe(0);
    expect(state.occupancy('core0/pipeline_regs')).toBe(0);
  });

  it('gives the state in the middle: as many instructions retired as had ended by then', async () => {
    for (const cycle of [0, 1, 4, 1000, 99_999, 123_456, 200_000]) {
      const time = cycle * CYCLE;
      const state = await trace.stateAt(time);
      const ended = retired.filter((instruction) => instruction.endedAt <= time);
      expect(state.slotField('core0/committed_insns', 0, 'count')).toBe(BigInt(ended.length));
      expect(state.slotField('core0/cycles', 0, 'count')).toBe(BigInt(cycle + 1));
      const alive = instructions.filter(({ bornAt, endedAt }) => bornAt <= time && time < endedAt);
      expect(state.occupancy('core0/entities')).toBe(alive.length);
      for (const { slot, pc } of alive)
        expect(state.slotField('core0/entities', slot, 'pc')).toBe(BigInt(pc));
    }
  });

  it('finds in the summary all instructions, and in every counter its total', async () => {
    const summary = (await trace.summary())!;
    expect(summary.totalInstructions).toBe(BigInt(audit.born));
    const finest = await trace.summaryData(0);
    expect(finest.density.reduce((sum, count) => sum + count, 0)).toBe(audit.born);
    expect(finest.counters.map(({ name }) => name).sort()).toEqual(Object.keys(report.counters).sort());
  });
});

describe('the STF made of the trace', () => {
  /** What the reference machine executes, traps included; what an interrupt was taken instead of is not executed. */
  function executed(): Omit<StfStep, 'store'>[] {
    const replay = new Replay(parseHex(readFileSync(join(DEMO, 'firmware/firmware.hex'), 'utf8')), CYCLE);
    const steps: { pc: number; bits: number; events: bigint[] }[] = [];
    for (const instruction of instructions) {
      const { pc } = replay.machine;
      replay.follow(instruction);
      const { trap, isRetired, inst_bits: bits } = instruction;
      // STF numbers interrupts as RV64 does, and they belong to the instruction before.
      if (trap?.cause === BigInt(Cause.TIMER)) steps.at(-1)?.events.push((1n << 63n) | 7n);
      else if (isRetired || trap) steps.push({ pc, bits, events: trap ? [trap.cause] : [] });
    }
    return steps;
  }

  it('is what the reference machine executes, with its traps, and with the stores of the trace', async () => {
    const actual = await stfOf(trace);
    const expected = executed();
    const differs = expected.findIndex(({ pc, bits, events }, index) => {
      const step = actual[index];
      return step?.pc !== pc || step.bits !== bits || String(step.events) !== String(events);
    });
    expect({ differs, expected: expected[differs], actual: actual[differs] }).toEqual({ differs: -1 });
    expect(actual.length).toBe(expected.length);
    const stored = retired.flatMap(({ store }) => (store ? [storeOf(store)] : []));
    const inStf = actual.flatMap(({ store }) => (store ? [store] : []));
    const odd = stored.findIndex(
      ({ address, size, content }, index) =>
        inStf[index]?.address !== address || inStf[index].size !== size || inStf[index].content !== content,
    );
    expect({ odd, expected: stored[odd], actual: inStf[odd] }).toEqual({ odd: -1 });
    expect(inStf.length).toBe(stored.length);
    expect(stored.length).toBeGreaterThan(10_000);
  });

  /** The bytes that a word in the store buffer and its lanes represent. */
  function storeOf({ addr, data, strobe }: NonNullable<Instruction['store']>): StfStep['store'] & object {
    const lane = 31 - Math.clz32(strobe & -strobe);
    const size = strobe.toString(2).replaceAll('0', '').length;
    return { address: addr + lane, size, content: ((data >>> (8 * lane)) & (2 ** (8 * size) - 1)) >>> 0 };
  }
});

describe('the reference machine', () => {
  /** Follows the run with one instruction changed on the way. */
  function spoil(
    pick: (instruction: Instruction) => boolean,
    change: Partial<Instruction>,
  ): string | undefined {
    const replay = new Replay(parseHex(readFileSync(join(DEMO, 'firmware/firmware.hex'), 'utf8')), CYCLE);
    const at = instructions.findIndex((instruction, index) => index > 1000 && pick(instruction));
    const part = instructions.slice(0, at + 200);
    part[at] = { ...part[at]!, ...change };
    for (const instruction of part) replay.follow(instruction);
    return replay.mismatch?.what;
  }
  const isRetired = (instruction: Instruction): boolean => instruction.isRetired;

  it('sees what does not belong to the run', () => {
    const timer = (instruction: Instruction): boolean => instruction.trap?.cause === BigInt(Cause.TIMER);
    expect(spoil(isRetired, {})).toBeUndefined();
    expect(spoil(isRetired, { pc: 0x8000_0000 })).toBe('pc');
    expect(spoil(isRetired, { inst_bits: 0x13 })).toBe('instruction word');
    expect(spoil(({ write }) => write !== null, { write: null })).toBe('register written');
    expect(spoil(({ write }) => write?.value === 1, { write: { rd: 10, value: 2 } })).toMatch(/written$/);
    expect(spoil(({ store }) => store !== null, { store: null })).toBe('store address');
    expect(spoil(isRetired, { isRetired: false })).toBe('pc');
    expect(spoil(timer, { trap: null, isRetired: true })).toBe('interrupted');
    expect(spoil(isRetired, { trap: { cause: BigInt(Cause.TIMER), tval: 0n, target: 0n } })).toBe(
      'interrupted',
    );
  });

  it('sees an interrupt that comes a cycle too early', () => {
    const before = instructions.findIndex(({ trap }) => trap?.cause === BigInt(Cause.TIMER));
    const early = instructions[before]!;
    const enteredAt = early.enteredAt.map((time) => time - CYCLE);
    expect(spoil((instruction) => instruction === early, { enteredAt })).toBe('interrupted');
  });
});

describe('random programs under a fast timer', () => {
  it.each([23, 61, 140])(
    'traced with an interrupt every %i cycles follow the reference machine',
    async (period) => {
      const image = timedProgram(7000 + period, 400, period);
      const hex = join(out, 'timed.hex');
      writeFileSync(hex, formatHex(image));
      const folder = join(out, `timed-${period}`);
      const reportFile = join(out, 'timed.json');
      uscopeRun(folder, [`+firmware=${hex}`, '+quiet', `+report=${reportFile}`]);
      const timed = await openTraceFile(join(folder, 'core0.uscope'));
      const replay = new Replay(image, CYCLE);
      const found = await auditTrace(timed, (instruction) => replay.follow(instruction));
      await timed.close();
      expect(compareWithReport(found, JSON.parse(readFileSync(reportFile, 'utf8')) as Report)).toEqual([]);
      expect(replay.mismatch).toBeNull();
      expect(replay.machine.stop?.cause).toBe(Cause.ECALL);
      expect(replay.machine.counts.interrupts).toBeGreaterThan(5);
    },
  );
});

describe('a program that goes wrong', () => {
  it('is traced to its last cycle, with the exception that ended it', async () => {
    const image = join(out, 'wrong.hex');
    writeFileSync(
      image,
      formatHex([lui(8, RAM_BASE >>> 12), addi(1, 0, 7), 0xffff_ffff, addi(1, 0, 99), NOP, NOP, NOP]),
    );
    const folder = join(out, 'wrong');
    const reportFile = join(out, 'wrong.json');
    const run = uscopeRun(folder, [`+firmware=${image}`, '+quiet', `+report=${reportFile}`]);
    expect(run.status).toBe(1);
    const wrong = await openTraceFile(join(folder, 'core0.uscope'));
    const found = await auditTrace(wrong);
    await wrong.close();
    expect(wrong.isComplete).toBe(true);
    expect(compareWithReport(found, JSON.parse(readFileSync(reportFile, 'utf8')) as Report)).toEqual([]);
    expect(found.traps).toMatchObject([
      { cause: BigInt(Cause.ILLEGAL), tval: 0xffff_ffffn, entity: { pc: RAM_BASE + 8 } },
    ]);
    expect(found).toMatchObject({ retired: 2 });
  });
});

describe('tracing', () => {
  const simulator = join(DEMO, TRACED, 'Vtop');

  it('is off with +notrace, without a daemon', () => {
    const run = spawnSync(simulator, ['+notrace', '+quiet'], { encoding: 'utf8', timeout: BUILDS_MS });
    expect(run.status).toBe(0);
    expect(run.stdout).toContain(`passed: ${report.counters.cycles} cycles`);
  });

  it('is never off silently: without a daemon the simulation stops', () => {
    const env = {
      ...process.env,
      USCOPE_ENDPOINT: `ipc://${join(out, 'nobody.sock')}`,
      USCOPE_OPEN_TIMEOUT_MS: '300',
    };
    const run = spawnSync(simulator, ['+quiet'], { encoding: 'utf8', timeout: BUILDS_MS, env });
    expect(run.status).not.toBe(0);
    expect(run.stdout).not.toContain('passed');
    expect(run.stderr).toContain('BRIDGE_NO_DAEMON');
  });
});

function uscopeRun(folder: string, args: readonly string[]): { status: number | null } {
  const cli = join(ROOT, 'sdk/bin/uscope.js');
  const run = [
    'run',
    '--schema',
    join(DEMO, 'schema.yaml'),
    '--out',
    folder,
    '--',
    join(DEMO, TRACED, 'Vtop'),
    ...args,
  ];
  return spawnSync(process.execPath, [cli, ...run], { encoding: 'utf8', timeout: BUILDS_MS });
}

interface SegmentSnapshots {
  /** Where the segment starts. */
  readonly startCycle: number;
  /** Storages whose slots in its checkpoint came from the simulator. */
  readonly snapshots: readonly number[];
}

function snapshotsOfSegments(path: string): SegmentSnapshots[] {
  const bytes = new Uint8Array(readFileSync(path));
  const found: SegmentSnapshots[] = [];
  for (let at = Number(decodeHeader(bytes.subarray(0, 48)).tailOffset); at !== 0; ) {
    const header = decodeSegmentHeader(bytes.subarray(at), at);
    const end = at + SEGMENT_HEADER_SIZE + header.checkpointSize + header.deltasCompressedSize;
    const recordAt = Math.ceil(end / 8) * 8;
    const record = bytes.subarray(recordAt, recordAt + commitRecordSize(bytes.subarray(recordAt)));
    const { snapshots = [] } = decodeCommitRecord(record, recordAt);
    found.unshift({ startCycle: Number(header.timeStartPs) / CYCLE, snapshots });
    at = Number(header.prevSegmentOffset);
  }
  return found;
}
