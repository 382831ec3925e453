import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runUscope } from '../../../../../test/support/run-cli.js';
import { logicalFields } from '../../../format/wide-fields.js';
import type { Trace } from '../../../reader/index.js';
import { openTraceFile } from '../../../reader/node.js';
import { parseSchema } from '../../../schema/index.js';
import { createSegmentIndexer } from '../../../trace-index/recording/segment-indexer.js';
import { TraceWriter } from '../../../writer/index.js';
import { createCpuSummarizer } from '../../../writer/summary/cpu-summarizer.js';
import { readRules } from './rules.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-redact-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const SCHEMA = `
uscope: 1
dut: {uscope.run_id: 0123abcd, dut_name: falcon_core, cpu.protocol_version: "0.1", cpu.pipeline_stages: "fetch,falcon_stage", core0/owner: falcon team, vault/mode: hidden_mode}
clocks: {clk: 1000 ps, vault_clk: 500 ps}
enums:
  pipeline_stage: [fetch, falcon_stage]
  vault_state: [vault_idle, vault_open]
scopes:
  core0:
    protocol: cpu
    clock: clk
    storages:
      entities: {slots: 4, kind: sparse, fields: {entity_id: u32, pc: u64, inst_bits: u32}}
      falcon_regs: {slots: 4, kind: dense, fields: {value: u64, label: string}}
      line: {slots: 1, kind: dense, fields: {falcon_data: {bits: 96}}, properties: {level: u32}}
      committed_insns: counter
    events:
      stage_transition: {entity_id: u32, stage: pipeline_stage}
      annotate: {entity_id: u32, text: string}
      jump: {target: u64, note: string}
  vault:
    clock: vault_clk
    storages:
      keys: {slots: 2, kind: dense, fields: {key: u64, name: string}}
    events:
      opened: {state: vault_state, who: string}
    scopes:
      inner: {clock: vault_clk, events: {inner_event: {n: u32}}}
`;
const SECRET = 0x5ec4_e700_dead_beefn;
const KEY = 0x1122_3344_5566_7788n;
const WIDE = 0xabcd_ef01_2345_6789n;

async function writeTrace(path: string): Promise<void> {
  const options = { summarizer: createCpuSummarizer, index: createSegmentIndexer };
  const trace = await TraceWriter.create({
    ...{ path, ...parseSchema(SCHEMA), checkpointIntervalPs: 8000n, runId: new Uint8Array(16).fill(0x5a) },
    ...options,
  });
  for (let cycle = 0; cycle < 40; cycle++) {
    trace.beginCycle(cycle * 1000);
    const id = cycle % 4;
    // The first string belongs to what is dropped.
    if (cycle === 0) trace.event('vault/opened', { state: 'vault_open', who: 'vault_user' });
    trace.slotSet('vault/keys', 1, 'key', KEY + BigInt(cycle));
    trace.slotSet('vault/keys', 1, 'name', `vault_key ${cycle}`);
    trace.event('vault/inner/inner_event', { n: cycle });
    trace.slotSet('core0/entities', id, 'entity_id', id);
    const pc = (cycle % 2 ? 0x7700_1000n : 0x8000_0000n) + BigInt(4 * cycle);
    trace.slotSet('core0/entities', id, 'pc', pc);
    trace.event('core0/stage_transition', { entity_id: id, stage: 'falcon_stage' });
    trace.event('core0/annotate', { entity_id: id, text: `${pc.toString(16)}: falcon_op${cycle % 3} r1` });
    trace.event('core0/jump', { target: 0x7700_1234n, note: `to 0x77001234 private${cycle % 2}` });
    trace.slotSet('core0/falcon_regs', id, 'value', cycle % 3 ? SECRET : 0n);
    trace.slotSet('core0/falcon_regs', id, 'label', 'private label');
    trace.slotSet('core0/line', 0, 'falcon_data.bits96.0', WIDE);
    trace.slotSet('core0/line', 0, 'falcon_data.bits96.1', 0xfaceb00cn);
    trace.propSet('core0/line', 'level', 0x0dd5_eed5);
    trace.slotAdd('core0/committed_insns', 0, 'count', 1);
    if (cycle % 4 === 3) trace.slotClear('core0/entities', id);
    trace.endCycle();
  }
  await trace.close();
}

const RULES = `
redact: 1
scopes: {vault: drop, core0: cpu}
texts:
  - {match: "falcon_?[a-z0-9]*"}
  - {match: "private", replace: "some"}
pcs:
  - {from: 0x77000000, until: 0x78000000, base: 0x1000}
values:
  core0/falcon_regs.value: scramble
  core0/falcon_regs.label: zero
  core0/line.falcon_data: scramble
  core0/line.level: zero
`;
const GONE = ['0123abcd', 'falcon', 'private', 'vault', 'hidden_mode', 'inner_event', '77001'];

/** All that a reader sees: names, properties, strings, values. */
async function everything(trace: Trace): Promise<{ texts: string[]; values: bigint[] }> {
  const texts = [JSON.stringify([trace.schema, trace.dut])];
  const values: bigint[] = [];
  for (let index = 0; index < (await trace.strings.count()); index++)
    texts.push((await trace.strings.get(index)) ?? '');
  await trace.scan({}, { op: ({ value }) => void values.push(BigInt(value)) });
  for await (const event of trace.events())
    for (const { name } of event.def.fields) values.push(BigInt(event.field(name) ?? 0));
  for (let segment = 0; segment < trace.segmentCount; segment++) {
    const { cells } = (await trace.stateBefore(segment)).raw;
    for (let at = 0; at < cells.length; at += 2)
      values.push((BigInt(cells[at + 1]) << 32n) | BigInt(cells[at]));
  }
  return { texts, values };
}

async function redacted(rules: string, more: readonly string[] = []) {
  const [input, output, file] = ['in', 'out', 'rules'].map((name) => join(directory, `${name}.uscope`));
  await writeTrace(input);
  writeFileSync(file, rules);
  const result = await runUscope(['slice', input, '--redact', file, '-o', output, '--force', ...more]);
  return { ...result, input, output };
}

describe('slice --redact', () => {
  it.each([[], ['--from', '17ns']])(
    'leaves nothing of what the rules name, in any byte (%s)',
    async (...more) => {
      // With a key, since one scrambled number of 32 bits in 256 looks like one of the addresses.
      const keyed = `${RULES}\nkey: a key\n`;
      const { status, err, output, input } = await redacted(keyed, ['--compression', 'none', ...more]);
      expect(err).toMatch(/redacted: \d+ texts were changed, and \d+ values/);
      expect(status).toBe(0);
      const verified = await runUscope(['verify', output]);
      expect([verified.status, verified.err]).toEqual([0, '']);
      const [before, after] = [input, output].map((path) => readFileSync(path));
      const leBytes = (value: bigint, size: number): Buffer => {
        const bytes = Buffer.alloc(8);
        bytes.writeBigUInt64LE(value);
        return bytes.subarray(0, size);
      };
      for (const word of GONE) expect(after.includes(word)).toBe(false);
      for (const word of ['falcon', 'vault', 'hidden_mode']) expect(before.includes(word)).toBe(true);
      for (const [value, size] of [
        [SECRET, 8],
        [WIDE, 8],
        [0xfaceb00cn, 4],
        [0x0dd5_eed5n, 4],
        [0x7700_1234n, 4],
      ] as const)
        expect(after.includes(leBytes(value, size))).toBe(false);
      expect(after.includes(Buffer.alloc(16, 0x5a))).toBe(false);
      const trace = await openTraceFile(output);
      const { texts, values } = await everything(trace);
      for (const word of GONE) expect(texts.join('\n')).not.toContain(word);
      for (const value of values) {
        expect([SECRET, WIDE, 0xfaceb00cn, 0x0dd5_eed5n]).not.toContain(value);
        expect(value >= KEY && value < KEY + 40n).toBe(false);
        expect(value >= 0x7700_0000n && value < 0x7800_0000n).toBe(false);
      }
      await trace.close();
    },
  );

  it('replaces the same by the same, and keeps the rest', async () => {
    const { output } = await redacted(RULES);
    const trace = await openTraceFile(output);
    const { schema } = trace;
    expect(schema.scopes.map(({ name }) => name)).toEqual([schema.scopes[0].name, 'cpu']);
    expect(schema.clocks.map(({ name }) => name)).toEqual(['clk']);
    expect(schema.enums).toHaveLength(1);
    const stage = schema.enums[0].values[1].name;
    expect(trace.dutProperty('cpu.pipeline_stages')).toBe(`fetch,${stage}`);
    expect(trace.dutProperty('cpu/owner')).toMatch(/^r_[0-9a-f]{12} team$/);
    expect(trace.dut.some(([key]) => key.startsWith('vault'))).toBe(false);
    const { texts, values } = await everything(trace);
    expect(texts).toContain('to 0x00002234 some0');
    expect(texts.some((text) => /^00002004: r_[0-9a-f]{12} r1$/.test(text))).toBe(true);
    // Three operations are three words, wherever they occur.
    expect(new Set(texts.slice(1).flatMap((text) => /: (r_\w+) r1/.exec(text)?.[1] ?? [])).size).toBe(3);
    expect(values).toContain(0x8000_0000n);
    expect(values).toContain(0x2004n);
    const line = schema.storages.find(({ name }) => name === 'line')!;
    const [wide] = logicalFields(line.fields);
    expect([wide.bits, wide.name.startsWith('r_')]).toEqual([96, true]);
    const state = await trace.stateAt(39_000n);
    const registers = schema.storages.find(({ storageId }) => storageId === 1)!;
    const found = [0, 1, 2, 3].map((slot) => state.raw.value(registers.storageId, slot, 0));
    // Cycles 36 and 39 are multiples of three; the others hold one secret.
    expect([found[0], found[3], found[1] === found[2], found[1] !== 0n]).toEqual([0n, 0n, true, true]);
    await trace.close();
  });

  it('with a key gives the same in every trace, without another one each time', async () => {
    const nameOf = async (rules: string): Promise<string> => {
      const { output } = await redacted(rules);
      const trace = await openTraceFile(output);
      await trace.close();
      return trace.dutProperty('dut_name') ?? '';
    };
    const keyed = `${RULES}\nkey: correct horse\n`;
    const names = [await nameOf(keyed), await nameOf(keyed), await nameOf(RULES), await nameOf(RULES)];
    expect([names[0] === names[1], new Set(names).size]).toEqual([true, 3]);
  });

  it.each([
    [
      'redact: 1\nscopes: {vaults: drop}',
      /READER_NAME: no scope "vaults"; there are core0, vault, vault\/inner .*rules\.uscope, line 2/,
    ],
    ['redact: 1\nvalues: {core0/regs.value: zero}', /READER_NAME: no field "core0\/regs.value".*line 2/],
    ['redact: 1\nvalues: {core0/jump.note: scramble}', /SCHEMA_TYPE.*cannot be scrambled/s],
    ['redact: 1\nvalues: {core0/committed_insns.count: scramble}', /SCHEMA_TYPE.*counts \(ADD\)/s],
    ['redact: 1\ntexts: [{match: falcon, replace: "a b"}]', /SCHEMA_NAME.*"a b_stage"/],
    ['redact: 1\ntexts: [{match: "falcon_regs|line", replace: same}]', /SCHEMA_DUPLICATE/],
  ])('%j does not fit the trace', async (rules, message) => {
    const { status, err } = await redacted(rules);
    expect(status).toBe(err.includes('READER_NAME') ? 2 : 1);
    expect(err).toMatch(message);
  });

  it('a field that counts can become zero', async () => {
    const { output } = await redacted('redact: 1\nvalues: {core0/committed_insns.count: zero}');
    const trace = await openTraceFile(output);
    expect((await trace.stateAt(39_000n)).slotField('core0/committed_insns', 0, 'count')).toBe(0n);
    await trace.close();
  });

  it('rules that cannot be read', async () => {
    const input = join(directory, 'in.uscope');
    await writeTrace(input);
    const { status, err } = await runUscope([
      'slice',
      input,
      '--redact',
      join(directory, 'none'),
      '-o',
      `${input}.2`,
    ]);
    expect([status, err]).toEqual([1, expect.stringContaining('READER_OPEN')]);
  });
});

describe('rules', () => {
  it.each([
    ['', 'SCHEMA_TYPE'],
    ['redact: 2', 'SCHEMA_MISSING'],
    ['redact: 1\nscope: {}', 'SCHEMA_KEY'],
    ['redact: 1\nscopes: [a]', 'SCHEMA_TYPE'],
    ['redact: 1\nscopes: {a: "b c"}', 'SCHEMA_NAME'],
    ['redact: 1\ntexts: {match: a}', 'SCHEMA_TYPE'],
    ['redact: 1\ntexts: [{replace: a}]', 'SCHEMA_MISSING'],
    ['redact: 1\ntexts: [{match: "("}]', 'SCHEMA_TYPE'],
    ['redact: 1\ntexts: [{match: "a*"}]', 'SCHEMA_RANGE'],
    ['redact: 1\npcs: [{from: 1}]', 'SCHEMA_MISSING'],
    ['redact: 1\npcs: [{from: 2, until: 2}]', 'SCHEMA_RANGE'],
    ['redact: 1\npcs: [{from: 0x1g, until: 2}]', 'SCHEMA_TYPE'],
    ['redact: 1\npcs: [{from: 1, until: 0x10000000000000001}]', 'SCHEMA_TYPE'],
    ['redact: 1\npcs: [{from: 1, until: 9, base: 0xffffffffffffffff}]', 'SCHEMA_RANGE'],
    ['redact: 1\nvalues: {a: hide}', 'SCHEMA_TYPE'],
    ['redact: [', 'SCHEMA_SYNTAX'],
  ])('%j: %s', (text, code) => {
    expect(() => readRules(text, 'rules.yaml')).toThrow(
      expect.objectContaining({ code, place: expect.objectContaining({ file: 'rules.yaml' }) }),
    );
  });

  it('may be JSON', () => {
    const rules = readRules('{"redact": 1, "pcs": [{"from": "0x10", "until": 32}]}', 'rules.json');
    expect(rules.pcs).toEqual([{ from: 16n, until: 32n, base: null }]);
  });
});
