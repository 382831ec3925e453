/** Files of existing writers, where they are at hand: rewritten item by item. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { lacks } from '../../../../test/support/needs.js';
import type { Trace } from '../../reader/index.js';
import { openTraceFile } from '../../reader/node.js';
import { type DiffOptions, diffTraces } from '../diff/index.js';
import { mergeTraces, planMerge } from '../merge/index.js';
import { sliceTrace } from './index.js';

const samples = fileURLToPath(new URL('../../../../../shared/samples/uscope/', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'uscope-samples-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const NAMES = ['gen', 'c_test_write', 'k2u_small', 'reflex_v0.1'];
const SMALL = NAMES.slice(1);
const sample = (name: string): Promise<Trace> => openTraceFile(`${samples}${name}.uscope`);

async function countItems(trace: Trace, from?: bigint): Promise<number> {
  let items = 0;
  await trace.scan({ from }, { op: () => ++items, event: () => ++items });
  return items;
}

async function expectSame(by: 'time' | 'state', a: Trace, b: Trace, options: DiffOptions): Promise<void> {
  const all = { ...options, stopAtFirst: true };
  const report = await diffTraces(by, { trace: a, name: 'a' }, { trace: b, name: 'b' }, all);
  expect(report.result).toMatchObject({ by, first: null });
}

describe.skipIf(lacks('traces of other writers', existsSync(samples)))('samples of existing writers', () => {
  it.each(NAMES)('%s: whole and from its middle on', async (name) => {
    const trace = await sample(name);
    // The large one only from late on: it is there for its odd slots.
    const froms = name === 'gen' ? [(trace.totalTimePs * 9n) / 10n] : [0n, trace.totalTimePs / 2n];
    for (const from of froms) {
      const path = join(directory, `${name}-${from}.uscope`);
      const { stats, outOfRange } = await sliceTrace(trace, { path, name, from });
      const slice = await openTraceFile(path);
      expect(outOfRange).toBe(0);
      expect(stats.items).toBe(BigInt(await countItems(trace, from)));
      await expectSame(from === 0n ? 'time' : 'state', trace, slice, { range: { from } });
      await slice.close();
    }
    await trace.close();
  });

  it('all in one, and each of them found again in it', async () => {
    const traces = await Promise.all(SMALL.map(sample));
    const plan = await planMerge(
      traces.map((trace, i) => ({ trace, name: SMALL[i] })),
      'all',
    );
    const path = join(directory, 'all.uscope');
    const { inputs } = await mergeTraces(plan, { path });
    const all = await openTraceFile(path);
    for (const [i, trace] of traces.entries()) {
      expect(inputs[i].items).toBe(await countItems(trace));
      const scopes = [{ a: trace.schema.scopes[1].name, b: inputs[i].scope }];
      await expectSame('time', trace, all, { scopes });
      await expectSame('state', trace, all, { scopes });
      await trace.close();
    }
    await all.close();
  });
});
