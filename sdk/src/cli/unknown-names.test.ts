/** What a command line names and the trace does not have is an error; an answer without results is for what it has. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { runUscope } from '../../../test/support/run-cli.js';
import { parseSchema } from '../schema/index.js';
import { TraceWriter } from '../writer/index.js';

limitOfFile(MANY_CASES_MS);

const SCHEMA = `
uscope: 1
dut: {cpu.isa: RV32I, cpu.pipeline_stages: "fetch,execute,retire"}
clocks: {clk: 1 ns}
enums:
  pipeline_stage: [fetch, execute, retire]
  flush_reason: [mispredict, exception]
  stall_reason: [icache, full]
scopes:
  core0:
    protocol: cpu
    clock: clk
    storages:
      entities: {slots: 16, kind: sparse, fields: {entity_id: u32, pc: u64, inst_bits: u32}}
      rob: {slots: 8, kind: buffer, fields: {entity_id: u32}, properties: {head: u8}}
      cycles: counter
    events:
      stage_transition: {entity_id: u32, stage: pipeline_stage}
      flush: {entity_id: u32, reason: flush_reason}
      stall: {reason: stall_reason}
  top:
    events:
      mark: {flag: bool, number: u32, label: string}
`;
const GEM5 = fileURLToPath(new URL('../../../test/vectors/gem5/window.out', import.meta.url));

let directory = '';
let trace = '';
const at = (name: string): string => join(directory, name);

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-names-'));
  trace = at('names.uscope');
  const { schema, dut } = parseSchema(SCHEMA);
  const writer = await TraceWriter.create({ path: trace, schema, dut });
  for (let i = 0; i < 10; i++) {
    writer.beginCycle(i * 1000);
    writer.slotSet('core0/entities', i, 'entity_id', i);
    writer.slotSet('core0/entities', i, 'pc', 4 * i);
    writer.slotSet('core0/entities', i, 'inst_bits', 0x13);
    writer.event('core0/stage_transition', { entity_id: i, stage: 'fetch' });
    writer.event('core0/stall', { reason: 'full' });
    writer.event('core0/flush', { entity_id: i, reason: 'exception' });
    writer.slotAdd('core0/cycles', 0, 0, 1);
    writer.event('top/mark', { flag: true, number: i, label: 'a' });
    writer.endCycle();
  }
  await writer.close();
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** What is named, how, and what the message offers instead. `FILE` becomes the trace. */
const UNKNOWN: readonly (readonly [what: string, args: readonly string[], offers: string])[] = [
  ['an event', ['events', 'FILE', '--event', 'flsh'], 'near it: core0/flush'],
  ['a field', ['events', 'FILE', '--where', 'raeson=full'], '"raeson"'],
  ['a label', ['events', 'FILE', '--where', 'reason=mispredct'], 'near it: mispredict'],
  ['a label of another enum', ['events', 'FILE', '--event', 'flush', '--where', 'reason=full'], 'mispredict'],
  ['a truth', ['events', 'FILE', '--where', 'flag=maybe'], 'true or false'],
  ['a number', ['events', 'FILE', '--where', 'number=abc'], 'is a number'],
  ['an event', ['tail', 'FILE', '--event', 'flsh'], 'near it: core0/flush'],
  ['a label', ['tail', 'FILE', '--where', 'reason=mispredct'], 'near it: mispredict'],
  ['an event', ['find', 'FILE', 'event:flsh'], 'near it: core0/flush'],
  ['a field', ['find', 'FILE', 'event:flush raeson=full'], '"raeson"'],
  ['a label', ['find', 'FILE', 'event:flush reason=full'], 'mispredict'],
  ['a truth', ['find', 'FILE', 'event:mark flag=maybe'], 'true or false'],
  ['a cause of stalls', ['find', 'FILE', 'stall:dcache'], 'near it: icache'],
  ['a cause of flushes', ['find', 'FILE', 'flush:mis_predict'], 'near it: mispredict'],
  ['a cause next to a text', ['find', 'FILE', 'stall:dcache addi'], 'near it: icache'],
  ['a core', ['find', 'FILE', 'addi', '--core', 'core1'], 'near it: core0'],
  ['a clock', ['find', 'FILE', 'addi', '--cycles', 'clc:0:5'], 'near it: clk'],
  ['a storage', ['state', 'FILE', '--at', '0', '--storage', 'rub'], 'near it: core0/rob'],
  ['a clock', ['state', 'FILE', '--cycle', 'clc:1'], 'near it: clk'],
  ['a storage', ['history', 'FILE', 'rub'], 'near it: core0/rob'],
  ['a field', ['history', 'FILE', 'rob.entity'], 'near it: entity_id'],
  ['a field of a slot', ['history', 'FILE', 'rob[0].entity'], 'near it: entity_id'],
  ['a core', ['timeline', 'FILE', '--core', 'core1'], 'near it: core0'],
  ['a clock', ['timeline', 'FILE', '--cycles', 'clc:1:2'], 'near it: clk'],
  ['a counter', ['counters', 'FILE', '--counter', 'cycle'], 'near it: core0/cycles'],
  ['a core', ['counters', 'FILE', '--core', 'core1'], 'near it: core0'],
  ['a buffer', ['buffers', 'FILE', '--buffer', 'rub'], 'near it: core0/rob'],
  ['a core', ['buffers', 'FILE', '--core', 'core1'], 'near it: core0'],
  ['a core', ['stats', 'FILE', '--core', 'core1'], 'near it: core0'],
  ['a storage or event', ['dump', 'FILE', '--without', 'rub'], 'near it: core0/rob'],
  ['a scope', ['diff', 'FILE', 'FILE', '--core', 'core1'], 'near it: core0'],
  ['a core', ['diff', 'FILE', 'FILE', '--by', 'retired', '--core', 'core1'], 'near it: core0'],
  ['a core', ['convert', 'FILE', '-o', 'OUT.pftrace', '--opt', 'core=core1'], 'near it: core0'],
  ['a core', ['convert', 'FILE', '-o', 'OUT.kanata', '--opt', 'core=core1'], 'near it: core0'],
  ['an event of another format', ['events', GEM5, '--event', 'fech'], 'near it: fetch'],
  ['a field of another format', ['events', GEM5, '--where', 'sequ=1'], 'near it: seq'],
];

describe('what does not exist is an error', () => {
  it.each(UNKNOWN)('%s: %j', async (_what, args, offers) => {
    const words = args.map((word) => word.replace(/^FILE$/, trace).replace(/^OUT/, at('out')));
    const { status, out, err } = await runUscope(words);
    expect([status, out]).toEqual([2, '']);
    expect(err).toContain('READER_NAME');
    expect(err).toContain(offers);
  });
});

describe('what exists and has no results is an answer', () => {
  it.each([
    [['events', 'FILE', '--event', 'flush', '--where', 'reason=mispredict']],
    [['events', 'FILE', '--where', 'label=zzz']],
    [['events', 'FILE', '--where', 'number=99']],
    // A value without a label may be in the trace.
    [['events', 'FILE', '--where', 'reason=7']],
    [['find', 'FILE', 'stall:icache']],
    [['find', 'FILE', 'flush:mispredict addi']],
    [['find', 'FILE', 'no such text']],
    [['history', 'FILE', 'rob.head']],
    [['events', GEM5, '--event', 'fetch', '--where', 'seq=999999']],
  ])('%j', async (args) => {
    const words = args.map((word) => word.replace(/^FILE$/, trace));
    expect(await runUscope(words)).toEqual({
      status: 0,
      out: '',
      err: expect.not.stringContaining('READER'),
    });
  });
});
