import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  add,
  annotate,
  coreSchema,
  frame,
  prop,
  set,
  TraceBuilder,
} from '../../../../test/support/build-trace.js';
import {
  anyPausedTrace,
  anyTrace,
  bytesOf,
  openBytes,
  stateInWords,
  wordsOf,
} from '../../../../test/support/random-trace.js';
import type { Trace } from '../../reader/index.js';
import { openTraceFile } from '../../reader/node.js';
import { createCpuSummarizer } from '../../writer/summary/cpu-summarizer.js';
import { sliceTrace } from './index.js';

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-slice-'));
  path = join(directory, 'out.uscope');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function sliced<T>(
  trace: Trace,
  range: { from?: bigint; to?: bigint },
  look: (slice: Trace) => Promise<T>,
): Promise<T> {
  await sliceTrace(trace, { path, name: 'in.uscope', summarizer: createCpuSummarizer, ...range });
  const slice = await openTraceFile(path);
  try {
    return await look(slice);
  } finally {
    await slice.close();
    rmSync(path);
  }
}

describe('a slice', () => {
  it('has the items and the states of its range, whatever the trace', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(anyTrace, anyPausedTrace),
        fc.nat(9000),
        fc.integer({ min: 1, max: 6000 }),
        async (random, a, span) => {
          const trace = await openBytes(bytesOf(random));
          const from = BigInt(a) % (trace.totalTimePs + 1n);
          const to = from + BigInt(span);
          if (trace.segmentCount > 0 && to <= (await trace.segment(0)).timeStartPs) return;
          await sliced(trace, { from, to }, async (slice) => {
            expect(slice.isComplete).toBe(true);
            expect(await wordsOf(slice)).toEqual(await wordsOf(trace, from, to));
            const first = (await slice.segment(0)).timeStartPs;
            for (const time of [first, first + 250n, slice.totalTimePs, to - 1n]) {
              if (time < first || time >= to) continue;
              expect(await stateInWords(slice, time)).toEqual(await stateInWords(trace, time));
            }
            if (random.steps.length > 0 && from > 0n && from > first) {
              expect(first).toBe(from);
            }
          });
        },
      ),
      { numRuns: 25 },
    );
  });

  const busy = (): TraceBuilder =>
    new TraceBuilder({ schema: coreSchema, compression: 'lz4', dut: [['dut_name', 'tiny']] })
      .segment({
        frames: [
          frame(0, set(0, 3, 0, 3), set(0, 3, 1, 0x8000_0000n), prop(1, 1, 1)),
          frame(1000, annotate(3, 0)),
        ],
        strings: ['zero', 'one', 'two'],
      })
      .segment({ frames: [frame(2000, add(3, 0, 0, 7)), frame(3000, annotate(3, 2), add(3, 0, 0, 1))] });

  it('begins with the state before its first frame, at the time asked for', async () => {
    const trace = await openBytes(busy().finalize().bytes);
    await sliced(trace, { from: 2500n, to: 9000n }, async (slice) => {
      expect(await slice.segments()).toMatchObject([{ timeStartPs: 2500n }]);
      const state = await slice.stateBefore(0);
      expect(state.slotField('entities', 3, 'pc')).toBe(0x8000_0000n);
      expect(state.slotField('retired', 0, 'count')).toBe(7n);
      expect(await slice.strings.get(state.property('rob', 'label'))).toBe('one');
    });
  });

  it('keeps the strings it refers to, and says what it is a slice of', async () => {
    const trace = await openBytes(busy().finalize().bytes);
    await sliced(trace, { from: 3000n }, async (slice) => {
      expect(await slice.strings.count()).toBe(3); // "zero" keeps its number: fields never set hold 0
      expect(slice.dut).toEqual([
        ['dut_name', 'tiny'],
        ['uscope.slice_of', 'in.uscope'],
        ['uscope.slice_from_ps', '3000'],
        ['uscope.slice_to_ps', '3001'],
      ]);
      expect(slice.session?.coreIndex).toBe(trace.session?.coreIndex);
    });
  });

  it('has its own summary range', async () => {
    const trace = await openBytes(busy().finalize().bytes);
    const counted = await sliced(trace, { from: 2500n }, (slice) => slice.summary());
    expect(counted?.counters[0].levels[0].sum[0]).toBe(1n);
    expect(counted?.totalInstructions).toBe(0n);
  });

  it('of a range without frames holds the state', async () => {
    const trace = await openBytes(busy().finalize().bytes);
    await sliced(trace, { from: 2100n, to: 2200n }, async (slice) => {
      expect(await wordsOf(slice)).toEqual([]);
      expect(await stateInWords(slice, 2100n)).toEqual(await stateInWords(trace, 2100n));
    });
  });

  it('of a slice is the slice of both ranges', async () => {
    const trace = await openBytes(busy().finalize().bytes);
    const other = join(directory, 'first.uscope');
    await sliceTrace(trace, { path: other, name: 'in.uscope', from: 500n });
    const first = await openTraceFile(other);
    await sliced(first, { from: 0n, to: 2500n }, async (slice) => {
      expect(await wordsOf(slice)).toEqual(await wordsOf(trace, 500n, 2500n));
      expect(slice.dutProperty('uscope.slice_from_ps')).toBe('500');
      expect(await stateInWords(slice, 500n)).toEqual(await stateInWords(trace, 500n));
    });
    await first.close();
  });

  it('outside the trace is an error, and nothing is written', async () => {
    const trace = await openBytes(busy().finalize().bytes);
    for (const range of [{ from: 3001n }, { from: 2000n, to: 2000n }]) {
      await expect(sliceTrace(trace, { path, name: 'x', ...range })).rejects.toMatchObject({
        code: 'READER_RANGE',
      });
    }
    expect(existsSync(path)).toBe(false);
  });

  it('of a damaged trace fails with the place of the damage', async () => {
    const bytes = busy().finalize().bytes;
    const at = (await (await openBytes(bytes)).segment(1)).offset + 70;
    bytes[at] ^= 0xff;
    const trace = await openBytes(bytes);
    await expect(sliceTrace(trace, { path, name: 'x' })).rejects.toMatchObject({ code: 'FORMAT_CHECKSUM' });
  });

  it('can be cancelled', async () => {
    const trace = await openBytes(busy().finalize().bytes);
    const reason = new Error('enough');
    const signal = AbortSignal.abort(reason);
    await expect(sliceTrace(trace, { path, name: 'x', signal })).rejects.toBe(reason);
    expect(readdirSync(directory).length).toBeLessThanOrEqual(1); // the caller removes what it named
  });
});
