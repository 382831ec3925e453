/** Traces that have one fault each: the doctor names it, and nothing in a sound one. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runUscope } from '../../../../test/support/run-cli.js';
import { openTraceFile } from '../../reader/node.js';
import { parseSchema } from '../../schema/index.js';
import { TraceWriter } from '../../writer/index.js';
import { type DoctorReport, examineTrace } from './index.js';

const SCHEMA = `
uscope: 1
dut: {cpu.isa: RV32I, cpu.pipeline_stages: "fetch,execute,retire"}
clocks: {clk: 1 ns}
enums:
  pipeline_stage: [fetch, execute, retire]
  flush_reason: [mispredict, exception]
  stall_reason: [cache, full]
scopes:
  core0:
    protocol: cpu
    clock: clk
    storages:
      entities: {slots: 16, kind: sparse, fields: {entity_id: u32, pc: u64, inst_bits: u32}}
      rob: {slots: 8, kind: buffer, fields: {entity_id: u32}}
      cycles: counter
      committed_insns: counter
      squashed_insns: counter
      loads: counter
      stalls_cache: counter
      stalls_full: counter
      slots_retiring: counter
      slots_frontend: counter
    events:
      stage_transition: {entity_id: u32, stage: pipeline_stage}
      flush: {entity_id: u32, reason: flush_reason}
      stall: {reason: stall_reason}
      mem_read: {entity_id: u32, addr: u64, mask: u8, data: u64}
      mem_write: {entity_id: u32, addr: u64, mask: u8, data: u64}
`;
const [ADDI, LW, SW, BNE] = [0x0010_0093, 0x0000_2083, 0x0010_2023, 0x0000_1063] as const;
const PROGRAM = [ADDI, LW, ADDI, SW, ADDI, ADDI, BNE];

/** What a tracer does wrong. */
interface Faults {
  /** Cycles from one frame to the next, and ps added to every other one. */
  readonly stride?: number;
  readonly shift?: number;
  readonly readOf?: number;
  readonly writeOf?: number;
  readonly never?: number;
  readonly forget?: number;
  readonly strange?: number;
  readonly twice?: number;
  readonly stale?: boolean;
  readonly odd?: boolean;
  readonly skip?: number;
  readonly uncounted?: string;
}

const CYCLES = 6000;
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'uscope-doctor-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** One instruction in each fourth cycle: born, executed, retired; every seventh is squashed. */
async function record(name: string, faults: Faults = {}): Promise<string> {
  const path = join(folder, `${name}.uscope`);
  const trace = await TraceWriter.create({ path, ...parseSchema(SCHEMA) });
  const { stride = 1, shift = 0 } = faults;
  let pc = 0x8000_0000;
  let at = 0;
  let id = 0;
  let previous: number | null = null;
  const add = (counter: string): void => {
    if (faults.uncounted !== counter) trace.slotAdd(`core0/${counter}`, 0, 'count', 1);
  };
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    trace.beginCycle(BigInt(1000 * stride * cycle + (cycle % 2) * shift));
    for (let i = 0; i < stride; i++) add('cycles');
    if (faults.odd && cycle === 7) add('slots_frontend');
    for (let i = 0; i < 2 * stride; i++) add(i % 2 ? 'slots_retiring' : 'slots_frontend');
    const number = Math.floor(cycle / 4);
    const squashes = number % 7 === 5;
    const bits = squashes ? ADDI : PROGRAM[at % PROGRAM.length]!;
    const phase = cycle % 4;
    if (phase === 0) {
      if (faults.skip === number) pc += 8;
      trace.slotSet('core0/entities', id, 'entity_id', id);
      trace.slotSet('core0/entities', id, 'pc', pc);
      trace.slotSet('core0/entities', id, 'inst_bits', bits);
      trace.event('core0/stage_transition', { entity_id: id, stage: 'fetch' });
      // With this fault only the first instructions use the upper half, and leave it taken.
      const slot = faults.stale && cycle > 40 ? id % 4 : id % 8;
      trace.slotSet('core0/rob', slot, 'entity_id', id);
    } else if (phase === 1) {
      trace.event('core0/stage_transition', {
        entity_id: faults.strange === number ? 15 - id : id,
        stage: 'execute',
      });
      const access = { entity_id: id, addr: 0, mask: 15, data: 0 };
      if (bits === LW || faults.readOf === bits) trace.event('core0/mem_read', access);
      if (bits === SW || faults.writeOf === bits) trace.event('core0/mem_write', access);
      if (number % 3 === 0) {
        trace.event('core0/stall', { reason: 'cache' });
        add('stalls_cache');
      }
    } else if (phase === 2) {
      if (squashes) trace.event('core0/flush', { entity_id: id, reason: 'mispredict' });
    } else {
      const isKept = faults.never === number || faults.forget === number;
      if (!isKept) trace.slotClear('core0/entities', id);
      if (!isKept) add(squashes ? 'squashed_insns' : 'committed_insns');
      if (!isKept && bits === LW) add('loads');
      if (!faults.stale) trace.slotClear('core0/rob', id % 8);
      else if (cycle > 40) trace.slotClear('core0/rob', id % 4);
      if (faults.twice === number) trace.slotClear('core0/entities', (id + 1) % 16);
      if (!squashes) {
        pc += 4;
        at++;
      }
      // An id whose instruction never ends is passed over, or given out again.
      if (faults.never === number) previous = id;
      id = (id + 1) % 16;
      if (id === previous) id = (id + 1) % 16;
    }
    trace.endCycle();
  }
  await trace.close();
  return path;
}

async function examine(path: string): Promise<DoctorReport> {
  const trace = await openTraceFile(path);
  try {
    return await examineTrace(trace);
  } finally {
    await trace.close();
  }
}

describe('uscope doctor', () => {
  it('finds nothing in a sound trace', async () => {
    const { findings, leftOut, cores } = await examine(await record('sound'));
    expect({ findings, leftOut, cores }).toEqual({ findings: [], leftOut: [], cores: ['core0'] });
  });

  const cases: readonly [string, Faults, string, RegExp][] = [
    ['frames between the edges', { shift: 300 }, 'clock', /not at multiples of the period of clk, 1000 ps/],
    ['a period too short', { stride: 2 }, 'clock', /2000 ps, the period is 1000 ps/],
    ['reads by other instructions', { readOf: ADDI }, 'loads', /mem_read .* is of class integer/],
    ['writes by other instructions', { writeOf: LW }, 'loads', /mem_write .* is of class load/],
    ['an instruction without end', { never: 3 }, 'stages', /1 instruction never left execute/],
    ['an id given out again', { forget: 3 }, 'ids', /1 id given to an instruction while another one has it/],
    ['an event of a stranger', { strange: 2 }, 'ids', /1 event about ids that no instruction has/],
    ['an instruction that ends twice', { twice: 9 }, 'ids', /1 slot of entities cleared that held no/],
    ['an instruction left out', { skip: 4 }, 'flow', /1 instruction retired at a pc that does not follow/],
    ['slots of buffers kept', { stale: true }, 'ids', /4 slots of rob never cleared/],
    ['slots in two classes', { odd: true }, 'counters', /add up to 12001, which is not a multiple of 6000/],
    ['cycles not counted', { uncounted: 'cycles' }, 'counters', /counter cycles is 0/],
    ['loads not counted', { uncounted: 'loads' }, 'loads', /counter loads is 0, but load instructions/],
    [
      'stalls not counted',
      { uncounted: 'stalls_cache' },
      'counters',
      /counter stalls_cache is 0, but events/,
    ],
    ['squashes not counted', { uncounted: 'squashed_insns' }, 'counters', /counter squashed_insns is 0/],
    ['commits not counted', { uncounted: 'committed_insns' }, 'counters', /counter committed_insns is 0/],
  ];
  it.each(cases)('names %s', async (name, faults, kind, detail) => {
    const { findings } = await examine(await record(name.replaceAll(' ', '-'), faults));
    const found = findings.filter((finding) => finding.kind === kind && detail.test(finding.detail));
    expect(
      found,
      JSON.stringify(findings, (_, v) => (typeof v === 'bigint' ? String(v) : v)),
    ).toHaveLength(1);
    expect(found[0]?.cause.length).toBeGreaterThan(20);
  });

  it('is not needed for a period that does not fit: info warns of it', async () => {
    const info = await runUscope(['info', await record('half-cycles', { stride: 2 })]);
    expect(info.status).toBe(0);
    expect(info.err).toMatch(/^uscope: warning: no two frames are closer than 2 cycles of clk/);
    const sound = await runUscope(['info', '--json', await record('whole-cycles', {})]);
    expect(JSON.parse(sound.out)).toMatchObject({ warnings: [] });
  });

  it('prints findings as text and as JSON, with the exit status 1', async () => {
    const path = await record('printed', { readOf: ADDI });
    const text = await runUscope(['doctor', path]);
    expect(text.status).toBe(1);
    expect(text.out).toMatch(/^loads +core0: .*mem_read/);
    expect(text.out).toContain('likely: the tracer takes the read mask');
    expect(text.out).toContain('1 finding\n');
    const json = await runUscope(['doctor', path, '--json']);
    expect(JSON.parse(json.out)).toMatchObject({
      ok: false,
      cores: ['core0'],
      findings: [{ kind: 'loads', core: 'core0' }],
    });
    const sound = await runUscope(['doctor', join(folder, 'sound.uscope')]);
    expect(sound).toMatchObject({ status: 0, out: expect.stringContaining('nothing implausible') });
  });
});

describe('a trace of the shipped schema of transactions', () => {
  it('is sound: its clock counts time, and frames are where something happens', async () => {
    const file = fileURLToPath(new URL('../../../../sv/uscope_tr.yaml', import.meta.url));
    const path = join(folder, 'tr.uscope');
    const writer = await TraceWriter.create({ path, ...parseSchema(readFileSync(file, 'utf8')) });
    for (const timePs of [1000, 5000, 9000]) {
      writer.beginCycle(timePs);
      writer.event('tr/begin', { tx: timePs, stream: 1, generator: 2, t: timePs });
      writer.endCycle();
    }
    await writer.close();
    expect((await runUscope(['doctor', path])).status).toBe(0);
    expect((await runUscope(['info', path])).err).toBe('');
  });
});
