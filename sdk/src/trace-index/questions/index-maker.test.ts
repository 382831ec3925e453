/** An index made in memory answers as one that the trace carries. */
import { describe, expect, it } from 'vitest';
import { TraceBuilder } from '../../../../test/support/build-trace.js';
import { indexedTrace } from '../../../../test/support/indexed-trace.js';
import { modelSchema, PERIOD_PS, runModel } from '../../../../test/support/pipeline-model.js';
import { memorySource, openTrace } from '../../reader/index.js';
import { ChannelKind } from '../channels.js';
import { IndexMaker } from './index-maker.js';
import { openIndex } from './open-index.js';

let seed = 7;
const choose = (below: number): number => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
  return (seed >>> 8) % below;
};
const CYCLES = 6000;
const model = runModel(choose, CYCLES);
const segments = Array.from({ length: Math.ceil(model.frames.length / 400) }, (_, index) => {
  const frames = model.frames.slice(index * 400, index * 400 + 400);
  const end = model.frames[index * 400 + 400]?.timePs ?? BigInt((CYCLES - 1) * PERIOD_PS);
  return { frames, end, strings: index === 0 ? model.strings : [] };
});

const channels = [
  { kind: ChannelKind.RETIRED, name: 'core0' },
  { kind: ChannelKind.STALLS, name: 'core0' },
  { kind: ChannelKind.OCCUPANCY, name: 'core0/entities' },
];

describe('an index made in memory', () => {
  it('has the series and rows of one that was written', async () => {
    const schema = modelSchema();
    const { bytes } = await indexedTrace({ schema, segments });
    const written = await openIndex(await openTrace(memorySource(bytes)));
    const builder = new TraceBuilder({ schema });
    for (const segment of segments) builder.segment(segment);
    const trace = await openTrace(memorySource(builder.finalize().bytes));
    expect(await openIndex(trace)).toBeNull();
    const maker = IndexMaker.of(trace)!;
    while (maker.done < maker.segments) await maker.step();
    const made = maker.index();
    expect(maker.done).toBe(segments.length);
    for (const range of [{ intervals: 5 }, { from: 1024, to: 4096, intervals: 100 }]) {
      const [expected, found] = [await written!.series(channels, range), await made.series(channels, range)];
      const numbers = ({ channels: list }: typeof found) =>
        list.map(({ columns }) => columns.map(({ values }) => [...values]));
      expect(numbers(found)).toEqual(numbers(expected));
      expect(found.isExact).toBe(true);
    }
    for (const cycle of [0, 777, 5000]) {
      expect(await made.rowAt(0, cycle)).toBe(model.instructions.filter(({ birth }) => birth < cycle).length);
    }
    expect(trace.warnings).toEqual([]);
  });

  it('is not made where nothing can be counted', async () => {
    const trace = await openTrace(memorySource(new TraceBuilder({ schema: modelSchema() }).finalize().bytes));
    expect(IndexMaker.of(trace)).toBeNull();
  });
});
