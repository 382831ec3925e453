import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTraceFile } from '../sdk/src/reader/node.js';
import { parseSchema } from '../sdk/src/schema/index.js';
import { TraceWriter } from '../sdk/src/writer/index.js';
import { type AuditResult, auditTrace, compareWithReport, type Instruction } from './lib/audit.mjs';
import { DEMO } from './lib/simulator.js';

const { schema, dut } = parseSchema(readFileSync(join(DEMO, 'schema.yaml'), 'utf8'), { file: 'schema.yaml' });
const STAGES = ['fetch', 'decode', 'execute', 'memory', 'writeback'];

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'uscope-audit-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Call = (w: TraceWriter) => void;
/** Calls of each cycle; the cycle's number is its time in ns. */
type Script = Call[][];

const birth =
  (id: number, pc: number): Call =>
  (w) => {
    w.slotSet('core0/entities', id, 'entity_id', id);
    w.slotSet('core0/entities', id, 'pc', pc);
    w.slotSet('core0/entities', id, 'inst_bits', 0x13);
  };
const note =
  (id: number): Call =>
  (w) =>
    w.event('core0/annotate', { entity_id: id, text: 'nop' });
const enter =
  (id: number, stage: number): Call =>
  (w) =>
    w.event('core0/stage_transition', { entity_id: id, stage: STAGES[stage]! });
const latch =
  (slot: number, id: number): Call =>
  (w) =>
    w.slotSet('core0/pipeline_regs', slot, 'entity_id', id);
const empty =
  (slot: number): Call =>
  (w) =>
    w.slotClear('core0/pipeline_regs', slot);
const end =
  (id: number): Call =>
  (w) =>
    w.slotClear('core0/entities', id);
const flush =
  (id: number): Call =>
  (w) =>
    w.event('core0/flush', { entity_id: id, reason: 'mispredict' });
const depend =
  (src: number, dst: number): Call =>
  (w) =>
    w.event('core0/dependency', { src_id: src, dst_id: dst, dep_type: 'raw' });
const write =
  (rd: number, value: number): Call =>
  (w) =>
    w.slotSet('core0/regs', rd, 'value', value);
const store =
  (slot: number, id: number, tail = slot + 1): Call =>
  (w) => {
    w.slotSet('core0/store_buffer', slot, 'entity_id', id);
    w.slotSet('core0/store_buffer', slot, 'addr', 0x8000_0100);
    w.slotSet('core0/store_buffer', slot, 'data', 0x55);
    w.slotSet('core0/store_buffer', slot, 'strobe', 1);
    w.propSet('core0/store_buffer', 'tail', tail);
  };
const drain =
  (slot: number): Call =>
  (w) => {
    w.slotClear('core0/store_buffer', slot);
    w.propSet('core0/store_buffer', 'head', slot + 1);
  };
const stall =
  (reason: string): Call =>
  (w) =>
    w.event('core0/stall', { reason });
const trap =
  (id: number): Call =>
  (w) =>
    w.event('core0/trap', { entity_id: id, cause: 0x8000_0007, tval: 0, target: 0x8000_0040 });
const add =
  (counter: string): Call =>
  (w) =>
    w.slotAdd(`core0/${counter}`, 0, 'count', 1);

/** Entity 0 retires and writes x5; entity 1, which depends on it, is squashed in decode. */
function soundScript(): Script {
  return [
    [birth(0, 0x8000_0000), note(0), enter(0, 0), add('fetched_insns')],
    [birth(1, 0x8000_0004), note(1), enter(0, 1), latch(0, 0), enter(1, 0), add('fetched_insns')],
    [enter(0, 2), latch(1, 0), enter(1, 1), latch(0, 1), depend(0, 1)],
    [flush(1), end(1), add('squashed_insns'), enter(0, 3), latch(2, 0), empty(1), empty(0)],
    [enter(0, 4), latch(3, 0), empty(2)],
    [write(5, 77), end(0), add('committed_insns'), empty(3)],
  ];
}

async function audit(script: Script): Promise<{ result: AuditResult; instructions: Instruction[] }> {
  const path = join(folder, 'core0.uscope');
  const writer = await TraceWriter.create({ path, schema, dut });
  script.forEach((calls, cycle) => {
    writer.beginCycle(1000 * cycle);
    for (const call of calls) call(writer);
    writer.endCycle();
  });
  await writer.close();
  const trace = await openTraceFile(path);
  const instructions: Instruction[] = [];
  const result = await auditTrace(trace, (instruction) => instructions.push(instruction));
  await trace.close();
  return { result, instructions };
}

describe('the audit of a sound trace', () => {
  it('finds nothing wrong and describes each instruction', async () => {
    const { result, instructions } = await audit(soundScript());
    expect(result.problems).toEqual([]);
    expect(result).toMatchObject({ frames: 6, born: 2, retired: 1, squashed: 1, dependencies: 1 });
    expect(result.counters).toMatchObject({
      fetched_insns: 2n,
      committed_insns: 1n,
      squashed_insns: 1n,
      cycles: 0n,
    });
    expect(result.registers[5]).toBe(77);
    expect(instructions).toMatchObject([
      { serial: 1, pc: 0x8000_0004, isRetired: false, flushed: 0, enteredAt: [1000, 2000], endedAt: 3000 },
      { serial: 0, pc: 0x8000_0000, isRetired: true, write: { rd: 5, value: 77 }, endedAt: 5000 },
    ]);
  });
});

describe('the audit also gathers', () => {
  it('stores with their instructions', async () => {
    const script = soundScript();
    script[4]!.push(store(0, 0));
    script[5]!.push(drain(0));
    const { result, instructions } = await audit(script);
    expect(result.problems).toEqual([]);
    expect(instructions.map((instruction) => instruction.store)).toMatchObject([
      null,
      { addr: 0x8000_0100, data: 0x55, strobe: 1 },
    ]);
  });

  it('stalls and flushes by reason, and traps with their instructions', async () => {
    const script = soundScript();
    script[1]!.push(stall('mul_div'));
    script[2]!.push(stall('mul_div'), stall('icache_miss'));
    script[3]!.unshift(trap(1));
    const { result, instructions } = await audit(script);
    expect(result.problems).toEqual([]);
    expect(result.stalls).toMatchObject({ mul_div: 2, icache_miss: 1, load_use: 0 });
    expect(result.flushes).toEqual({ mispredict: 1, exception: 0, interrupt: 0, pipeline_clear: 0 });
    expect(instructions[0]!.trap).toEqual({ cause: 0x8000_0007n, tval: 0n, target: 0x8000_0040n });
    expect(result.traps).toHaveLength(1);
  });
});

describe('the audit of a trace that breaks a rule says which', () => {
  const cases: [string, RegExp, (script: Script) => void][] = [
    ['no end', /entity 0 never ends/, (s) => s[5]!.splice(1, 1)],
    ['end without birth', /entity 9 ends without having lived/, (s) => s[2]!.push(end(9))],
    ['second birth', /entity 0 is born while it lives/, (s) => s[3]!.push(birth(0, 4))],
    ['a stage left out', /entity 0 enters stage 4 after stage 2/, (s) => s[3]!.splice(3, 2)],
    ['a stage twice', /entity 0 enters stage 3 after stage 3/, (s) => s[4]!.unshift(enter(0, 3))],
    ['two stages in a cycle', /stages 3 and 4 in one cycle/, (s) => s[3]!.splice(4, 0, enter(0, 4))],
    ['retirement from decode', /entity 1 retires from stage 1/, (s) => s[3]!.shift()],
    ['flush after the end', /an item names entity 1, which does not live/, (s) => s[3]!.push(s[3]!.shift()!)],
    ['flush twice', /entity 1 is flushed twice/, (s) => s[3]!.unshift(flush(1))],
    ['no annotation', /entity 1 has no pc, instruction or annotation/, (s) => s[1]!.splice(1, 1)],
    ['an annotation too many', /entity 1 is annotated twice/, (s) => s[1]!.push(note(1))],
    [
      'a dependency on a younger one',
      /entity 0 depends on 1, which is not older/,
      (s) => s[2]!.push(depend(1, 0)),
    ],
    [
      'a register written by nobody',
      /a register was written, but no instruction retired/,
      (s) => s[2]!.push(write(1, 1)),
    ],
    ['a pipeline register not emptied', /pipeline register 3 is not emptied/, (s) => s[5]!.pop()],
    [
      'a wrong pipeline register',
      /pipeline register 3 holds entity 0, which is not in stage 4/,
      (s) => s[3]!.push(latch(3, 0)),
    ],
    [
      'an end in the cycle of arrival',
      /entity 1 ends in the cycle in which it enters stage 1/,
      (s) => {
        s[2]!.push(...s[3]!.splice(0, 3));
      },
    ],
    [
      'a store into a slot that is taken',
      /slot 0 of the store buffer, which is taken/,
      (s) => {
        s[3]!.push(store(0, 0));
        s[4]!.push(store(0, 0));
      },
    ],
    [
      'a store that overtakes',
      /leaves slot 1 of the store buffer, the head is 0/,
      (s) => {
        s[2]!.push(store(0, 0));
        s[3]!.push(store(1, 0));
        s[4]!.push(drain(1));
      },
    ],
    ['a tail that stays behind', /tail moves to 0 from slot 0/, (s) => s[3]!.push(store(0, 0, 0))],
    ['a store of nobody', /an item names entity 7, which does not live/, (s) => s[3]!.push(store(0, 7))],
    [
      'a store that outlives its number',
      /entity 0 is born while a store of its predecessor waits/,
      (s) => {
        s[4]!.push(store(0, 0));
        s.push([birth(0, 4), note(0), enter(0, 0)]);
      },
    ],
    ['a trap twice', /entity 0 traps twice/, (s) => s[3]!.push(trap(0), trap(0))],
    [
      'a counter that is set',
      /unexpected operation on storage/,
      (s) => {
        s[2]!.push((w) => w.slotSet('core0/cycles', 0, 'count', 1));
      },
    ],
  ];
  it.each(cases)('%s', async (_what, problem, spoil) => {
    const script = soundScript();
    spoil(script);
    const { result } = await audit(script);
    expect(result.problems.join('\n')).toMatch(problem);
  });
});

describe('comparing a trace with the report of the core', () => {
  const report = {
    counters: { fetched_insns: '2', committed_insns: '1', squashed_insns: '1', stalls_load_use: '0' },
  };
  const registers = Array.from({ length: 32 }, (_, index) => (index === 5 ? 77 : 0));

  it('finds no difference where there is none', async () => {
    const { result } = await audit(soundScript());
    expect(compareWithReport(result, { ...report, registers })).toEqual([]);
  });

  it('names a counter that differs by one, a counter that is missing and a register that differs', async () => {
    const { result } = await audit(soundScript());
    const counters = { ...report.counters, committed_insns: '2', unheard_of: '0' };
    const differences = compareWithReport(result, {
      counters,
      registers: registers.map((value) => value + 1),
    });
    expect(differences).toContain('counter committed_insns: trace 1, core 2');
    expect(differences).toContain('instructions retired: trace 1, core 2');
    expect(differences).toContain('counter unheard_of: trace none, core 0');
    expect(differences).toContain('register x5: trace 77, core 78');
  });
});
