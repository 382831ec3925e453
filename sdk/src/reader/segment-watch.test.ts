/** What is found in a segment by compiled code, against what a scan shows. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clear, coreSchema, frame, set, stage, TraceBuilder } from '../../../test/support/build-trace.js';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { anyTrace, bytesOf, openBytes } from '../../../test/support/random-trace.js';
import { build, generator, record } from '../../../test/support/recorded-run.js';
import { Action } from '../format/types.js';
import { memorySource, openTrace, type Trace, type Watched } from './index.js';

limitOfFile(MANY_CASES_MS);

interface Seen {
  readonly times: number[];
  readonly slots: number[];
}

/** By a scan, or the error. */
async function scanned(trace: Trace, segment: number, watched: Watched): Promise<Seen | string> {
  const { storageId, taken = new Uint8Array(0), eventType, label, fromPs = 0n, untilPs } = watched;
  const seen: Seen = { times: [], slots: [] };
  const range = { to: untilPs === undefined ? undefined : untilPs + 1n };
  try {
    await trace.scanSegment(segment, range, {
      op: ({ storageId: id, action, slot, timePs }) => {
        if (id !== storageId || action === Action.PROP_SET || slot >= taken.length) return;
        if (action !== Action.CLEAR && !taken[slot]) {
          seen.times.push(Number(timePs));
          seen.slots.push(slot);
        }
        taken[slot] = action === Action.CLEAR ? 0 : 1;
      },
      event: (cursor) => {
        if (cursor.eventType !== eventType || cursor.timePs < fromPs) return;
        if (label && label.wanted[cursor.bytes[cursor.payloadOffset + label.offset]!] !== 1) return;
        seen.times.push(Number(cursor.timePs));
        seen.slots.push(0);
      },
    });
  } catch (error) {
    return String(error);
  }
  return seen;
}

async function watched(trace: Trace, segment: number, what: Watched): Promise<Seen | string> {
  try {
    const { times, slots } = await trace.watchSegment(segment, () => what);
    return { times: [...times], slots: [...slots] };
  } catch (error) {
    return String(error);
  }
}

async function compare(trace: Trace, make: () => Watched): Promise<number> {
  let found = 0;
  for (let segment = 0; segment < trace.segmentCount; segment++) {
    const expected = await scanned(trace, segment, make());
    expect(await watched(trace, segment, make())).toEqual(expected);
    if (typeof expected !== 'string') found += expected.times.length;
  }
  return found;
}

const labels = Uint8Array.from({ length: 256 }, (_, value) => value % 2);

describe('what is looked for in a segment', () => {
  it('is what a scan shows of any frames', async () => {
    await fc.assert(
      fc.asyncProperty(anyTrace, fc.nat(2), fc.bigInt(0n, 4000n), async (random, id, fromPs) => {
        const trace = await openBytes(bytesOf(random));
        const numSlots = trace.schema.storages[id]?.numSlots ?? 0;
        const slots = () => ({ storageId: id, taken: new Uint8Array(numSlots), untilPs: 4000n - fromPs });
        await compare(trace, slots);
        await compare(trace, () => ({ eventType: id, fromPs }));
        await compare(trace, () => ({ eventType: 0, label: { offset: 4, wanted: labels }, fromPs }));
      }),
      { numRuns: 40 },
    );
  });

  it('is what a scan shows of a pipeline', async () => {
    const trace = await openBytes(build(record(generator(8), 900).frames, 70));
    const taken = () => new Uint8Array(trace.schema.storages[0]!.numSlots);
    expect(await compare(trace, () => ({ storageId: 0, taken: taken() }))).toBeGreaterThan(100);
    for (const { eventTypeId } of trace.schema.events) {
      await compare(trace, () => ({ eventType: eventTypeId, fromPs: 60_000n }));
      await compare(trace, () => ({ eventType: eventTypeId, label: { offset: 4, wanted: labels } }));
    }
  });

  it('may be more than is found at a time', async () => {
    const frames = Array.from({ length: 9000 }, (_, index) =>
      frame(index * 1000, set(0, index % 8, 0, index), stage(index % 8, 2), clear(0, index % 8)),
    );
    const { bytes } = new TraceBuilder({ schema: coreSchema }).segment({ frames }).finalize();
    const trace = await openTrace(memorySource(bytes));
    expect(await compare(trace, () => ({ storageId: 0, taken: new Uint8Array(8) }))).toBe(9000);
    expect(await compare(trace, () => ({ eventType: 0, fromPs: 5000n }))).toBe(8995);
  });
});
