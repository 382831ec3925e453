/** A field of more than 64 bits (docs/reference/format.md#wide-fields) is one value on the page. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseSchema, TraceWriter } from 'uscope';
import { splitPieces, wideText } from 'uscope/format';
import { memorySource, openTrace, type Trace } from 'uscope/reader';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inspect } from '../src/data/questions/inspect.js';
import type { QuestionContext } from '../src/data/questions/question.js';
import { replayWindow } from '../src/data/window-replay.js';
import {
  type Described,
  defaultChoice,
  findSlotFields,
  slotFieldName,
  slotFieldOf,
} from '../src/model/track-lists.js';

const SCHEMA = `uscope: 1
clocks: {clk: 1 ns}
storages:
  vregs: {slots: 2, kind: sparse, fields: {tag: u8, data: {bits: 130, states: 4}, bank: u8}, properties: {line: {bits: 100}}}
`;
const FIRST = (3n << 128n) | 0xbeefn;
const SECOND = (1n << 128n) | 0xbeefn;

let directory: string;
let reader: Trace;
const context = (): QuestionContext =>
  ({
    ...{ trace: reader, core: null, periodPs: 1000n },
    info: { segmentCycles: [0, 5] },
  }) as unknown as QuestionContext;
const { signal } = new AbortController();

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-viewer-wide-'));
  const path = join(directory, 'wide.uscope');
  const trace = await TraceWriter.create({ path, ...parseSchema(SCHEMA) });
  const set = (value: bigint, unknown: bigint): void =>
    [...splitPieces(value, 130), ...splitPieces(unknown, 130)].forEach((word, index) => {
      trace.slotSet('vregs', 1, 1 + index, word);
    });
  trace.beginCycle(1000);
  trace.slotSet('vregs', 1, 'tag', 7);
  set(FIRST, 0xffn);
  trace.slotSet('vregs', 1, 'bank', 2);
  trace.endCycle();
  trace.beginCycle(2000);
  // Only one word changes.
  trace.slotSet('vregs', 1, 'data.bits130.2', 1n);
  trace.propSet('vregs', 'line.bits100.1', 1n);
  trace.endCycle();
  trace.beginCycle(4000);
  trace.slotClear('vregs', 1);
  trace.endCycle();
  await trace.close();
  reader = await openTrace(memorySource(readFileSync(path)));
});
afterAll(async () => {
  await reader?.close();
  rmSync(directory, { recursive: true, force: true });
});

it('the state of a cycle has one value for it, and what it was before', async () => {
  const { storages } = await inspect({ cycle: 2, open: [] }, context(), signal);
  expect(storages[0]).toMatchObject({
    fields: ['tag', 'data', 'bank'],
    properties: [{ name: 'line', text: wideText(100, 1n << 64n), before: wideText(100, 0n) }],
  });
  expect(storages[0]!.slots[0]!.values).toEqual([
    { text: '7', before: null },
    { text: wideText(130, SECOND, 0xffn), before: wideText(130, FIRST, 0xffn) },
    { text: '2', before: null },
  ]);
});

it('a lane of values has one for it, by one name', async () => {
  const trace: Described = {
    ...{ schema: reader.schema, storageNames: ['vregs'], eventNames: [], core: null },
  };
  expect(defaultChoice('values', trace)).toEqual([
    ...['vregs[0].tag', 'vregs[0].data', 'vregs[0].bank'],
    ...['vregs[1].tag', 'vregs[1].data', 'vregs[1].bank'],
  ]);
  expect(findSlotFields('data', trace, 9)).toEqual(['vregs[0].data', 'vregs[1].data']);
  const lanes = ['vregs[1].data', 'vregs[1].bank'].map((name) => slotFieldOf(name, trace)!);
  expect(lanes.map((lane) => slotFieldName(lane, trace))).toEqual(['vregs[1].data', 'vregs[1].bank']);
  const answer = await replayWindow(
    { from: 0, to: 5, step: 1, counters: [], buffers: [], events: [], values: lanes },
    context(),
    signal,
  );
  expect(answer.values.map(({ cycle, texts }) => [[...cycle], texts])).toEqual([
    [
      [0, 1, 2, 4],
      ['', wideText(130, FIRST, 0xffn), wideText(130, SECOND, 0xffn), ''],
    ],
    [
      [0, 1, 4],
      ['', '2', ''],
    ],
  ]);
});
