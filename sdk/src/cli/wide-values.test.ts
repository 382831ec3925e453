/** Wide fields (docs/reference/format.md#wide-fields) are one value in every verb that follows, compares or searches values. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jsonLinesOf, runUscope } from '../../../test/support/run-cli.js';
import { splitPieces, wideText } from '../format/wide-fields.js';
import { parseSchema } from '../schema/index.js';
import { TraceWriter } from '../writer/index.js';

const schemaOf = (states: number): string => `uscope: 1
clocks: {clk: 1 ns}
scopes:
  core:
    clock: clk
    storages:
      line: {slots: 2, kind: sparse, fields: {tag: u8, data: {bits: 130, states: ${states}}}, properties: {last: {bits: 100}}}
    events:
      fill: {tag: u8, data: {bits: 130}}
`;
const FIRST = (3n << 128n) | 0xdead_beefn;
const SECOND = (1n << 128n) | (7n << 64n) | 0xdead_beefn;
const text = (value: bigint): string => wideText(130, value);

let directory: string;
const file = (name: string): string => join(directory, `${name}.uscope`);

async function write(name: string, { states = 2, second = SECOND, event = FIRST } = {}): Promise<void> {
  const trace = await TraceWriter.create({ path: file(name), ...parseSchema(schemaOf(states)) });
  const set = (slot: number, value: bigint, only?: number): void => {
    splitPieces(value, 130).forEach((piece, index) => {
      if (only === undefined || only === index)
        trace.slotSet('core/line', slot, `data.bits130.${index}`, piece);
    });
  };
  trace.beginCycle(1000);
  trace.slotSet('core/line', 1, 'tag', 5);
  set(1, FIRST);
  trace.event('core/fill', [7, ...splitPieces(event, 130)]);
  trace.endCycle();
  trace.beginCycle(2000);
  set(1, second);
  if (states === 4) trace.slotSet('core/line', 1, 'data.bits130.x0', 0xffn);
  for (const [index, piece] of splitPieces(1n << 70n, 100).entries())
    trace.propSet('core/line', `last.bits100.${index}`, piece);
  trace.endCycle();
  trace.beginCycle(3000);
  set(1, FIRST, 2);
  trace.event('core/fill', [8, ...splitPieces(5n, 130)]);
  trace.endCycle();
  trace.beginCycle(4000);
  trace.slotClear('core/line', 1);
  trace.endCycle();
  await trace.close();
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-wide-verbs-'));
  await write('a');
  await write('b', { second: SECOND | (1n << 129n) | (1n << 70n) });
  await write('c', { event: FIRST ^ (1n << 100n) });
  await write('four', { states: 4 });
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('wide fields', () => {
  it('change as one value, also where one piece is written', async () => {
    const { status, out } = await runUscope(['history', file('a'), 'line']);
    expect(status).toBe(0);
    const partly = (SECOND & ((1n << 128n) - 1n)) | (FIRST & (3n << 128n));
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/^\d+ ps {2}cycle \d+ {2}/, ''));
    expect(lines).toEqual([
      'core/line[1].tag  free -> 5',
      `core/line[1].data  ${text(0n)} -> ${text(FIRST)}`,
      `core/line[1].data  ${text(FIRST)} -> ${text(SECOND)}`,
      `core/line.last  ${wideText(100, 0n)} -> ${wideText(100, 1n << 70n)}`,
      `core/line[1].data  ${text(SECOND)} -> ${text(partly)}`,
      `core/line[1]  cleared (tag=5 data=${text(partly)})`,
    ]);
  });

  it('are dumped as one op where all pieces are set, and as they are where only some are', async () => {
    const ops = (await runUscope(['dump', file('a')])).out
      .split('\n')
      .filter((line) => !line.includes('event'));
    expect(ops.map((line) => line.replace(/^\d+ ps {2}/, ''))).toEqual([
      'set    core/line[1].tag = 5',
      `set    core/line[1].data = ${text(FIRST)}`,
      `set    core/line[1].data = ${text(SECOND)}`,
      `prop   core/line.last = ${wideText(100, 1n << 70n)}`,
      'set    core/line[1].data.bits130.2 = 3',
      'clear  core/line[1]',
      '',
    ]);
    const json = jsonLinesOf(
      await runUscope(['dump', '--jsonl', file('a'), '--from', '2000', '--to', '3000']),
    );
    expect(json).toEqual([
      { t: '2000', op: 'set', storage: 'core/line', slot: 1, field: 'data', value: text(SECOND) },
      { t: '2000', op: 'prop', storage: 'core/line', field: 'last', value: wideText(100, 1n << 70n) },
    ]);
    const four = (await runUscope(['dump', file('four')])).out;
    expect(four.match(/bits130\.[012] =/g)).toHaveLength(7);
  });

  it('are followed by their name', async () => {
    const changes = jsonLinesOf(
      await runUscope(['history', file('a'), 'line[1].data', '--json', '--from', '2000']),
    );
    expect(changes).toHaveLength(3);
    expect(changes[0]).toMatchObject({
      field: 'data',
      op: 'set',
      slot: 1,
      before: text(FIRST),
      after: text(SECOND),
    });
    expect(changes[2]).toMatchObject({ op: 'clear', before: { data: expect.stringMatching(/^0x3/) } });
    const last = jsonLinesOf(await runUscope(['history', file('a'), 'line.last', '--json']));
    expect(last).toMatchObject([{ field: 'last', op: 'prop', after: wideText(100, 1n << 70n) }]);
  });

  it('show which bits are unknown', async () => {
    const { out } = await runUscope(['history', file('four'), 'line[1].data', '--limit', '2']);
    expect(out).toContain(`-> ${wideText(130, SECOND, 0xffn)}`);
    expect(out).toMatch(/dbexx\n/);
  });

  it('differ as one value', async () => {
    const { status, out } = await runUscope(['diff', file('a'), file('b'), '--by', 'state']);
    expect(status).toBe(1);
    expect(out).toContain('data');
    expect(out).not.toContain('bits130');
    const report = (await runUscope(['diff', file('a'), file('b'), '--by', 'state', '--json'])).out;
    expect(report).toContain(text(SECOND));
    expect(report).toContain(text(SECOND | (1n << 129n) | (1n << 70n)));
    expect(report).not.toContain('bits130');
    expect((await runUscope(['diff', file('a'), file('a'), '--by', 'state'])).status).toBe(0);
  });

  it('differ in events as one value, and from values with four states by name', async () => {
    const events = await runUscope(['diff', file('a'), file('c')]);
    expect(events.status).toBe(1);
    expect(events.out).toContain(text(FIRST ^ (1n << 100n)));
    expect(events.out).toContain(`event core/fill tag=7 data=${text(FIRST)}\n`);
    const states = await runUscope(['diff', file('a'), file('four'), '--by', 'state']);
    expect(states.out + states.err).toContain('core/line.data (its unknown bits)');
  });

  it('are searched as one value', async () => {
    const found = await runUscope(['find', file('a'), `event:fill data=${text(FIRST)}`, '--count']);
    expect(found).toMatchObject({ status: 0, out: '1\n' });
    expect((await runUscope(['find', file('a'), 'event:fill data=5', '--count'])).out).toBe('1\n');
    expect((await runUscope(['find', file('a'), 'event:fill data=6', '--count'])).out).toBe('0\n');
    const jsonl = jsonLinesOf(await runUscope(['find', file('a'), 'event:fill', '--jsonl']));
    expect(JSON.stringify(jsonl)).toContain(text(FIRST));
    expect(JSON.stringify(jsonl)).not.toContain('bits130');
    const events = jsonLinesOf(
      await runUscope(['events', file('a'), '--where', `data=${text(FIRST)}`, '--json']),
    );
    expect(events).toMatchObject([{ fields: { tag: '7', data: text(FIRST) } }]);
    expect(jsonLinesOf(await runUscope(['events', file('a'), '--where', 'data=0x5', '--json']))).toHaveLength(
      1,
    );
  });

  it('are declared as they were in the schema that is written back', async () => {
    for (const [name, states] of [
      ['a', 2],
      ['four', 4],
    ] as const) {
      const { out } = await runUscope(['schema', file(name), '--yaml']);
      expect(out).toContain(states === 4 ? '{bits: 130, states: 4}' : 'data: {bits: 130}');
      expect(out).toContain('last: {bits: 100}');
      expect(parseSchema(out).schema).toEqual(parseSchema(schemaOf(states)).schema);
    }
    expect((await runUscope(['schema', file('four')])).out).toContain('field data 130 bits, four states\n');
  });
});
