/** A trace of a model as FTR: scopes, storages and events as streams, generators and transactions. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contextOf, MemoryFiles } from '../../../../test/support/foreign.js';
import { contentOf } from '../../../../test/support/ftr-fixtures.js';
import { memorySource } from '../../reader/index.js';
import { openTraceFile } from '../../reader/node.js';
import { SchemaBuilder } from '../../schema/index.js';
import { TraceWriter } from '../../writer/index.js';
import { FORMAT } from './format.js';
import { FtrType } from './index.js';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-ftr-trace-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function model(path: string): Promise<void> {
  const builder = new SchemaBuilder()
    .dut('dut_name', 'model')
    .clock('clk', 1000)
    .enum('pipeline_stage', ['fetch', 'execute'])
    .enum('dep_type', ['raw', 'war', 'waw', 'structural']);
  const core = builder.scope('core0', { protocol: 'cpu', clock: 'clk' });
  core
    .storage('entities', {
      slots: 4,
      kind: 'sparse',
      fields: { entity_id: 'u32', pc: 'u64', name: 'string' },
    })
    .storage('regs', { slots: 2, kind: 'dense', fields: { value: 'i32' }, properties: { limit: 'u8' } })
    .counter('committed_insns')
    .event('stage_transition', { entity_id: 'u32', stage: 'pipeline_stage' })
    .event('dependency', { src_id: 'u32', dst_id: 'u32', dep_type: 'dep_type' });
  builder.scope('bus').event('grant', { ok: 'bool', text: 'string' });
  const trace = await TraceWriter.create({ path, ...builder.build() });
  trace.beginCycle(1000);
  trace.slotSet('core0/entities', 1, 'entity_id', 7);
  trace.slotSet('core0/entities', 1, 'pc', 0x8000_0000_0000_0000n);
  trace.slotSet('core0/entities', 1, 'name', 'addi');
  trace.event('core0/stage_transition', { entity_id: 7, stage: 'fetch' });
  trace.endCycle();
  trace.beginCycle(2000);
  trace.slotSet('core0/entities', 2, 'entity_id', 8);
  trace.slotSet('core0/entities', 1, 'pc', 4);
  trace.event('core0/dependency', { src_id: 7, dst_id: 8, dep_type: 'waw' });
  trace.event('core0/dependency', { src_id: 7, dst_id: 99, dep_type: 'raw' });
  trace.endCycle();
  trace.beginCycle(3000);
  trace.slotClear('core0/entities', 1);
  trace.slotSet('core0/entities', 1, 'entity_id', 9);
  trace.slotSet('core0/regs', 1, 'value', -5);
  trace.propSet('core0/regs', 'limit', 3);
  trace.slotAdd('core0/committed_insns', 0, 'count', 2);
  trace.event('bus/grant', { ok: true, text: 'µ' });
  trace.endCycle();
  trace.beginCycle(4000);
  trace.slotAdd('core0/committed_insns', 0, 'count', 1);
  trace.slotClear('core0/entities', 1);
  trace.endCycle();
  await trace.close();
}

async function exported(path: string, options: Record<string, string> = {}) {
  const files = new MemoryFiles();
  const context = contextOf(options);
  const trace = await openTraceFile(path);
  try {
    await FORMAT.write!(trace, files, '.ftr', context);
  } finally {
    await trace.close();
  }
  return { parts: files.files, report: context.report };
}

/** `stream/generator start..end name=value …`, and relations between these. */
async function told(bytes: Uint8Array) {
  const { declarations, transactions, relations } = await contentOf(memorySource(bytes));
  const names = new Map(declarations.map(({ id, name }) => [id, name]));
  const lines = transactions.map(({ stream, generator, start, end, attributes }) => {
    const values = attributes.map(({ name, value }) => `${name}=${value}`);
    return [`${names.get(stream)}/${names.get(generator)} ${start}..${end}`, ...values].join(' ');
  });
  const place = (id: bigint): number => transactions.findIndex((one) => one.id === id);
  const related = relations.map(({ name, source, sink }) => [name, lines[place(source)], lines[place(sink)]]);
  return { lines, related, declarations, transactions };
}

describe('a trace', () => {
  it('is listed as transactions and relations', async () => {
    const path = join(directory, 'model.uscope');
    await model(path);
    const { parts, report } = await exported(path);
    const { lines, related, declarations, transactions } = await told(parts.get(null)!.bytes);
    expect([...lines].sort()).toEqual(
      [
        'uscope.meta/clock 0..0 name=clk period_ps=1000',
        'uscope.meta/property 0..0 key=dut_name value=model',
        'core0/entities 1000..3000 slot=1 entity_id=7 pc=9223372036854775808 name=addi',
        'core0/entities 2000..4000 slot=2 entity_id=8',
        'core0/entities 3000..4000 slot=1 entity_id=9',
        'core0/entities.events 2000..2000 slot=1 pc=4',
        'core0/stage_transition 1000..1000 entity_id=7 stage=fetch stage.value=0',
        'core0/dependency 2000..2000 src_id=7 dst_id=99 dep_type=raw dep_type.value=0',
        'core0/regs 3000..3000 slot=1 value=-5',
        'core0/regs.properties 3000..3000 limit=3',
        'core0/committed_insns 3000..3000 count=2',
        'core0/committed_insns 4000..4000 count=3',
        'bus/grant 3000..3000 ok=true text=µ',
      ].sort(),
    );
    const first = 'core0/entities 1000..3000 slot=1 entity_id=7 pc=9223372036854775808 name=addi';
    expect(related.sort()).toEqual([
      ['parent_of', first, 'core0/entities.events 2000..2000 slot=1 pc=4'],
      ['parent_of', first, 'core0/stage_transition 1000..1000 entity_id=7 stage=fetch stage.value=0'],
      ['waw', first, 'core0/entities 2000..4000 slot=2 entity_id=8'],
    ]);
    expect(declarations.filter(({ kind }) => kind === 'stream')).toMatchObject([
      { name: 'uscope.meta', streamKind: 'uscope' },
      { name: 'core0', streamKind: 'cpu' },
      { name: 'bus', streamKind: 'scope' },
    ]);
    const grant = transactions.find(({ attributes }) => attributes.some(({ name }) => name === 'ok'));
    expect(grant?.attributes.map(({ type }) => type)).toEqual([FtrType.BOOLEAN, FtrType.STRING]);
    expect(report.unwaived()).toEqual([]);
    expect(report.rows).toContainEqual(
      expect.objectContaining({
        fate: 'approximated',
        what: 'slots taken at the end of the trace',
        count: 1n,
      }),
    );
  });

  it('may go into a file per scope', async () => {
    const path = join(directory, 'separate.uscope');
    await model(path);
    const { parts } = await exported(path, { streams: 'separate' });
    expect([...parts.keys()]).toEqual(['core0', 'bus']);
    expect((await told(parts.get('bus')!.bytes)).lines).toEqual([
      expect.stringContaining('uscope.meta/clock'),
      expect.stringContaining('uscope.meta/property'),
      'bus/grant 3000..3000 ok=true text=µ',
    ]);
  });

  it('without recorded transactions has none to give', async () => {
    const path = join(directory, 'none.uscope');
    await model(path);
    await expect(exported(path, { content: 'transactions' })).rejects.toThrow(/CONVERT_SOURCE/);
    await expect(exported(path, { float: 'f16' })).rejects.toThrow(/CONVERT_OPTION/);
  });
});
