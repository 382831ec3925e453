/** A field of more than 64 bits (docs/format.md#wide-fields) is one value on the page. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseSchema, TraceWriter } from 'uscope';
import { splitPieces, wideText } from 'uscope/format';
import { memorySource, openTrace } from 'uscope/reader';
import { expect, it } from 'vitest';
import { inspect } from '../src/data/questions/inspect.js';
import type { QuestionContext } from '../src/data/questions/question.js';

const SCHEMA = `uscope: 1
clocks: {clk: 1 ns}
storages:
  vregs: {slots: 2, kind: sparse, fields: {tag: u8, data: {bits: 130, states: 4}, bank: u8}, properties: {line: {bits: 100}}}
`;
const FIRST = (3n << 128n) | 0xbeefn;
const SECOND = (1n << 128n) | 0xbeefn;

it('the state of a cycle has one value for it, and what it was before', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'uscope-viewer-wide-'));
  try {
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
    await trace.close();
    const reader = await openTrace(memorySource(readFileSync(path)));
    const context = { trace: reader, core: null, periodPs: 1000n } as unknown as QuestionContext;
    const { storages } = await inspect({ cycle: 2, open: [] }, context, new AbortController().signal);
    expect(storages[0]).toMatchObject({
      fields: ['tag', 'data', 'bank'],
      properties: [{ name: 'line', text: wideText(100, 1n << 64n), before: wideText(100, 0n) }],
    });
    expect(storages[0]!.slots[0]!.values).toEqual([
      { text: '7', before: null },
      { text: wideText(130, SECOND, 0xffn), before: wideText(130, FIRST, 0xffn) },
      { text: '2', before: null },
    ]);
    await reader.close();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
