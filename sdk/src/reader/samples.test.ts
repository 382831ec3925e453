/** Files of existing writers, where they are at hand. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { lacks } from '../../../test/support/needs.js';
import { isUscopeError } from '../base/errors.js';
import { Action } from '../format/types.js';
import { StorageState } from '../state/storage-state.js';
import type { Trace } from './index.js';
import { openTraceFile } from './node.js';

// Traces of other writers are read as a whole, several times.
limitOfFile(MANY_CASES_MS);

const directory = fileURLToPath(new URL('../../../../shared/samples/uscope/', import.meta.url));
const present = existsSync(directory);

async function count(trace: Trace): Promise<{ ops: number; events: number; frames: number }> {
  const found = { ops: 0, events: 0, frames: 0 };
  await trace.scan({}, { op: () => ++found.ops, event: () => ++found.events, frame: () => ++found.frames });
  return found;
}

describe.skipIf(lacks('traces of other writers', present))('samples of existing writers', () => {
  it.each([
    ['gen', 27, { ops: 174_230, events: 165_958 }],
    ['c_test_write', 1, { ops: 10, events: 9 }],
    ['k2u_small', 1, { ops: 12, events: 11 }],
  ])('%s: %i segments, %o', async (name, segments, items) => {
    const trace = await openTraceFile(`${directory}${name}.uscope`);
    expect(trace.segmentCount).toBe(segments);
    const found = await count(trace);
    expect(found).toMatchObject(items);
    expect(await trace.frameCount()).toBe(BigInt(found.frames));
    await trace.close();
  });

  it.each(['gen', 'c_test_write', 'k2u_small', 'reflex_v0.1'])(
    '%s: frames agree with the independent listing',
    async (name) => {
      const trace = await openTraceFile(`${directory}${name}.uscope`);
      const listing = readFileSync(`${directory}${name}.listing.txt`, 'utf8');
      const listed = [...listing.matchAll(/^ {3}frame t=(\d+) dt=\d+ items=(\d+) /gm)].map(
        ([, t, n]) => [BigInt(t), Number(n)] as const,
      );
      expect(listed.length).toBeGreaterThan(4);
      const seen = new Map<bigint, number>();
      for await (const { timePs, items } of trace.frames()) seen.set(timePs, items.length);
      for (const [time, items] of listed) expect([time, seen.get(time)]).toEqual([time, items]);
      await trace.close();
    },
  );

  it.each(['gen', 'reflex_v0.1', 'k2u_small'])(
    '%s stores checkpoints after segments: each is the state at its end',
    async (name) => {
      const trace = await openTraceFile(`${directory}${name}.uscope`);
      const stored: Uint8Array[] = [];
      const replayed: Uint8Array[] = [];
      const state = new StorageState(trace.schema);
      for await (const segment of trace.loadedSegments()) {
        const checkpoint = new StorageState(trace.schema);
        checkpoint.loadCheckpoint(segment.checkpoint);
        stored.push(checkpoint.encodeCheckpoint());
        const cursor = segment.cursor();
        while (cursor.next()) {
          const { action, storageId, slot, field, lo, hi } = cursor;
          if (cursor.kind !== 1 || !state.inRange(action, storageId, slot, field)) continue;
          expect(action).toBeLessThanOrEqual(Action.PROP_SET);
          state.apply(action, storageId, slot, field, lo, hi);
        }
        replayed.push(state.encodeCheckpoint());
        const asked = await trace.stateAt(segment.header.timeEndPs);
        // The next segment may begin in the same instant; its frames then count too.
        if (segment.index === trace.segmentCount - 1)
          expect(asked.raw.encodeCheckpoint()).toEqual(replayed.at(-1));
      }
      expect(stored).toEqual(replayed);
      expect(trace.warnings.map((warning) => warning.kind)).toContain('checkpoints-after-segment');
      await trace.close();
    },
  );

  it.each(['gen', 'c_test_write', 'k2u_small', 'reflex_v0.1'])(
    '%s: state at any time equals a replay from the start',
    async (name) => {
      const trace = await openTraceFile(`${directory}${name}.uscope`);
      const total = trace.totalTimePs;
      for (const time of [0n, total / 3n, total / 2n, (total * 9n) / 10n, total]) {
        const expected = new StorageState(trace.schema);
        await trace.scan(
          { to: time + 1n },
          {
            op: ({ action, storageId, slot, field, lo, hi }) => {
              if (expected.inRange(action, storageId, slot, field))
                expected.apply(action, storageId, slot, field, lo, hi);
            },
          },
        );
        const { raw } = await trace.stateAt(time);
        expect(raw.cells).toEqual(expected.cells);
        for (const { storageId, flags } of trace.schema.storages) {
          if (flags !== 0) expect(raw.occupancy(storageId)).toBe(expected.occupancy(storageId));
        }
      }
      await trace.close();
    },
  );

  it('resolves the strings of the file that has them', async () => {
    const trace = await openTraceFile(`${directory}k2u_small.uscope`);
    expect(await trace.strings.get(1)).toBe('80000004 addi x1, x0, 1');
    expect((await trace.summary())?.counters ?? null).toBeNull();
    await trace.close();
  });

  it('damaged files end with a coded error', async () => {
    const names = readdirSync(`${directory}bad`);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) {
      const error = await openTraceFile(`${directory}bad/${name}`)
        .then(async (trace) => {
          await trace.scan({}, {});
          await trace.stateAt(trace.totalTimePs);
        })
        .catch((thrown: unknown) => thrown);
      expect(isUscopeError(error), `${name}: ${error}`).toBe(true);
    }
  });
});
