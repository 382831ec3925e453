/** What the index of a trace adds up to is what a scan over the whole of it counts. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IndexPart } from '../../../sdk/src/format/index-container.js';
import { parseSchema } from '../../../sdk/src/schema/index.js';
import { analyzePerformance } from '../../../sdk/src/semantics/cpu/analysis/analyze.js';
import { occupancy } from '../../../sdk/src/semantics/storages/occupancy.js';
import { ChannelKind } from '../../../sdk/src/trace-index/channels.js';
import { decodeTimePart, type TimePart } from '../../../sdk/src/trace-index/time-part.js';
import { add, clear, frame, set, TraceBuilder } from '../../support/build-trace.js';
import { cases } from '../../support/effort.js';
import {
  byLabel,
  channelsOf,
  type Indexed,
  indexOf,
  occupancyOf,
  partsOf,
  sumOf,
} from '../../support/index-sums.js';
import { limitOfFile, MANY_CASES_MS } from '../../support/limits.js';
import { anyPausedTrace, anyTrace, bytesOf } from '../../support/random-trace.js';
import { analyze, build, dut, generator, record, schemaWithBuffer } from '../../support/recorded-run.js';
import { oraclePass } from './index-pass.js';

// Properties of whole traces.
limitOfFile(MANY_CASES_MS);

const shape = fc.record({
  seed: fc.integer(),
  cycles: fc.integer({ min: 1, max: 900 }),
  perSegment: fc.integer({ min: 1, max: 300 }),
  interleaved: fc.boolean(),
});

const single = (indexed: Indexed, kind: ChannelKind): number => {
  const [found] = channelsOf(indexed, kind);
  return found ? sumOf(indexed, found.group, found.channel.column) : 0;
};

describe('the index of a whole trace', () => {
  it('counts what the analysis counts: instructions, flushes, stalls, counters', async () => {
    await fc.assert(
      fc.asyncProperty(shape, async ({ seed, cycles, perSegment, interleaved }) => {
        const bytes = build(record(generator(seed), cycles).frames, perSegment, interleaved);
        const indexed = await indexOf(bytes);
        const { instructions, flushes, stalls, counters } = await analyze(bytes, {});
        expect(single(indexed, ChannelKind.RETIRED)).toBe(instructions.retired);
        expect(single(indexed, ChannelKind.SQUASHED)).toBe(instructions.squashed);
        expect(single(indexed, ChannelKind.FLUSHES)).toBe(flushes.flushes);
        expect(single(indexed, ChannelKind.STALLS)).toBe(stalls.cycles);
        expect(single(indexed, ChannelKind.DELTA)).toBe(Number(counters[0]!.delta));
        const [flush] = channelsOf(indexed, ChannelKind.FLUSHES);
        expect(byLabel(indexed, 0, flush!.channel)).toEqual(
          Object.fromEntries(flushes.reasons.map(({ reason, flushes: count }) => [reason, count])),
        );
        const [stall] = channelsOf(indexed, ChannelKind.STALLS);
        expect(byLabel(indexed, 0, stall!.channel)).toEqual(
          Object.fromEntries(stalls.reasons.map(({ reason, cycles: count }) => [reason, count])),
        );
      }),
      { numRuns: cases(20) },
    );
  });

  it.each([
    ['wherever segments and frames begin', anyTrace],
    ['where snapshots empty storages', anyPausedTrace],
  ])('holds for how long each buffer held how many: %s', async (_, traces) => {
    await fc.assert(
      fc.asyncProperty(traces, async (random) => {
        const indexed = await indexOf(bytesOf(random));
        if (indexed.results.length === 0) return;
        for (const { storageId, histogram, toPs } of await occupancy(indexed.trace, {
          buffers: ['entities', 'rob', 'queue'],
        })) {
          expect(occupancyOf(indexed, storageId, toPs)).toEqual(histogram);
        }
      }),
      { numRuns: cases(30) },
    );
  });

  it('counts births, and events by label', async () => {
    await fc.assert(
      fc.asyncProperty(anyTrace, async (random) => {
        const indexed = await indexOf(bytesOf(random));
        const events = new Map<string, number>();
        for await (const { item } of indexed.trace.items()) {
          if (item.kind !== 'event') continue;
          const label = item.eventTypeId === 0 ? (['fetch', 'execute'][item.payload[4]!] ?? 'other') : '';
          const key = `${item.eventTypeId} ${label}`;
          events.set(key, (events.get(key) ?? 0) + 1);
        }
        const counted = channelsOf(indexed, ChannelKind.EVENTS).flatMap(({ group, channel }) =>
          (channel.labels?.names ?? ['']).map(
            (name, index) =>
              [`${channel.subject} ${name}`, sumOf(indexed, group, channel.column + index)] as const,
          ),
        );
        expect(new Map(counted.filter(([, count]) => count > 0))).toEqual(events);
      }),
      { numRuns: cases(20) },
    );
  });
});

const { schema } = parseSchema(`
uscope: 1
clocks: {clk: 10}
storages:
  fifo: {slots: 4, kind: buffer, fields: {x: u32}}
  down: counter
events:
  note: {x: u8}
`);

const timeParts = (indexed: Indexed): TimePart[] =>
  partsOf(indexed, IndexPart.TIME, 0).map(({ bytes }) => decodeTimePart(bytes, indexed.plan.groups[0]!));
const column = (indexed: Indexed, kind: ChannelKind): number => channelsOf(indexed, kind)[0]!.channel.column;

describe('a bucket of 256 cycles', () => {
  const open = (...segments: ReturnType<typeof frame>[][]) => {
    const builder = new TraceBuilder({ schema });
    for (const frames of segments) builder.segment({ frames });
    return indexOf(builder.finalize().bytes);
  };

  it('holds what its cycles hold; where no frame is for long, one row covers all of them', async () => {
    const indexed = await open([
      frame(0, set(0, 0, 0, 1)),
      frame(2550, set(0, 1, 0, 1), add(1, 0, 0, 5)),
      frame(25_600, clear(0, 0), add(1, 0, 0, -3)),
    ]);
    const [part] = timeParts(indexed);
    expect(part).toMatchObject({ firstBucket: 0, bucketCycles: 256, rows: 3, fromPs: 0n, toPs: 25_600n });
    expect([...part!.spans]).toEqual([1, 9, 1]);
    const [born, freed] = [column(indexed, ChannelKind.BORN), column(indexed, ChannelKind.FREED)];
    expect([...part!.columns[born]!]).toEqual([2, 0, 0]);
    expect([...part!.columns[freed]!]).toEqual([0, 0, 1]);
    expect([...part!.columns[column(indexed, ChannelKind.DELTA)]!]).toEqual([5, 0, -3]);
    // Slots times cycles; the last row has lasted no time yet.
    const occupied = column(indexed, ChannelKind.OCCUPANCY);
    expect([...part!.columns[occupied]!]).toEqual([255 + 2, 2 * 9 * 256, 0]);
    expect([...part!.columns[occupied + 1]!]).toEqual([1 + 1, 2 + 1, 0]);
    expect([...part!.columns[occupied + 2]!]).toEqual([2 + 1, 2 + 1, 0]);
  });

  it('is continued by the next segment where the last frame of the one before was', async () => {
    const indexed = await open([frame(100, set(0, 0, 0, 1))], [frame(300, set(0, 1, 0, 1)), frame(400)]);
    const [first, second] = timeParts(indexed);
    expect([first!.fromPs, first!.toPs, second!.fromPs, second!.toPs]).toEqual([0n, 100n, 100n, 400n]);
    const occupied = column(indexed, ChannelKind.OCCUPANCY);
    expect([...first!.columns[occupied]!]).toEqual([0]);
    expect([...second!.columns[occupied]!]).toEqual([20 + 2 * 10]);
  });

  it('counts time in ps where a frame lies within a cycle', async () => {
    const [part] = timeParts(await open([frame(0, set(0, 0, 0, 1)), frame(15)]));
    expect(part!.unitPs).toBe(1);
    expect([...part!.columns[2]!]).toEqual([15]);
  });

  it('says so where what went before is not known', async () => {
    const { plan, trace } = await open([frame(0)], [frame(300)]);
    const { parts } = oraclePass(plan, await trace.loadSegment(1), null);
    const time = decodeTimePart(parts[0]!.bytes, plan.groups[0]!);
    expect([time.isExact, time.fromPs]).toEqual([false, 1n]);
  });
});

describe('flushes and stalls of a cycle that two segments share', () => {
  it('count once', async () => {
    const recorded = record(generator(7), 120).frames;
    // Every item is a frame, and every frame a segment.
    const frames = recorded.flatMap(({ timePs, items }) => items.map((item) => frame(timePs, item)));
    const builder = new TraceBuilder({ schema: schemaWithBuffer(), dut });
    for (const one of frames) builder.segment({ frames: [one], start: one.timePs });
    const { bytes } = builder.finalize();
    const indexed = await indexOf(bytes);
    const { cores } = await analyzePerformance(indexed.trace);
    expect(single(indexed, ChannelKind.FLUSHES)).toBe(cores[0]!.flushes.flushes);
    expect(single(indexed, ChannelKind.STALLS)).toBe(cores[0]!.stalls.cycles);
    expect(single(indexed, ChannelKind.RETIRED)).toBe(cores[0]!.instructions.retired);
  });
});
