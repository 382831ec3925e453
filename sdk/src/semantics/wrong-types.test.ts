/** Wrong types in the calls that read a trace: JavaScript lets them through, so each is refused at once, with a code. */
import { describe, expect, it } from 'vitest';
import { TraceBuilder } from '../../../test/support/build-trace.js';
import { modelSchema, runModel } from '../../../test/support/pipeline-model.js';
import { fieldTimeline, history, memorySource, openTrace } from '../reader/index.js';
import { stateBefore } from '../reader/queries/state-before.js';
import * as cpu from './public-cpu.js';
import { findCore } from './public-cpu.js';

const { frames } = runModel((below) => below >> 1, 20);
const bytes = new TraceBuilder({ schema: modelSchema() }).segment({ frames }).finalize().bytes;
const trace = await openTrace(memorySource(bytes));
const core = findCore(trace);

/** A value of the wrong type, as a caller in JavaScript may give it. */
// biome-ignore lint/suspicious/noExplicitAny: that is what the tests are about
type Wrong = any;

/** Ends with the first item. */
async function first(items: AsyncIterable<unknown>): Promise<unknown> {
  for await (const item of items) return item;
  return null;
}

const takingTimes: readonly (readonly [string, (time: Wrong) => unknown])[] = [
  ['stateAt', (time) => trace.stateAt(time)],
  ['stateAtCycle', (time) => trace.stateAtCycle(time)],
  ['segmentAt', (time) => trace.segmentAt(time)],
  ['firstSegmentReaching', (time) => trace.firstSegmentReaching(time)],
  ['timeOfCycle', async (time) => trace.timeOfCycle(time)],
  ['cycleAt', async (time) => trace.cycleAt(time)],
  ['scan', (from) => trace.scan({ from }, {})],
  ['frames', (from) => first(trace.frames(from))],
  ['items', (to) => first(trace.items(0, to))],
  ['events', (to) => first(trace.events(0, to))],
  ['loadedSegments', (from) => first(trace.loadedSegments({ from }))],
  ['loadedSegmentsFrom', (to) => first(trace.loadedSegmentsFrom(0, to))],
  ['segmentsInPlace', (to) => first(trace.segmentsInPlace(0, to))],
  ['strings.get', (index) => trace.strings.get(index)],
  ['stateBefore', (time) => stateBefore(trace, time)],
  ['history', (from) => first(history(trace, [{ storage: 0 }], { from }))],
  ['fieldTimeline', (to) => first(fieldTimeline(trace, { storage: 0, slot: 0, field: 0 }, { to }))],
  ['instructions', (from) => first(cpu.instructions(trace, core, { from }))],
  ['stalls', (to) => first(cpu.stalls(trace, core, { to }))],
  ['firstAt', (from) => cpu.firstAt(trace, core, 0n, { from })],
  ['counters', (from) => cpu.counters(trace, { from })],
  ['occupancy', (to) => cpu.occupancy(trace, { to })],
  ['analyzePerformance', (from) => cpu.analyzePerformance(trace, { from })],
];

describe.each(takingTimes)('%s', (_, ask) => {
  it.each([
    ['"12"', '12'],
    ['1.5', 1.5],
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['null', null],
    ['{}', {}],
  ])('refuses %s as a time, cycle or index', async (_shown, wrong) => {
    await expect((async () => ask(wrong))()).rejects.toThrow(
      /READER_RANGE: .* is a bigint or a whole number, not /,
    );
  });
});

describe('a 64-bit number', () => {
  it('is refused as a number, which would have been rounded', async () => {
    const wrong: Wrong = 3;
    await expect(cpu.birthOf(trace, core, wrong)).rejects.toThrow(
      'READER_RANGE: the number of an instruction is a bigint, not the number 3; write 3n or BigInt(…)',
    );
    await expect(cpu.firstAt(trace, core, wrong)).rejects.toThrow(/READER_RANGE: an address is a bigint/);
  });
});

describe('options', () => {
  const refused = (items: AsyncIterable<unknown> | Promise<unknown>) =>
    expect(Symbol.asyncIterator in items ? first(items) : items).rejects;

  it('that are words are one of them', async () => {
    const range: Wrong = { from: 0, unit: 'cycle' };
    const text = /READER_RANGE: the unit of a range is "ps" or "cycles", not the string "cycle"/;
    await refused(cpu.instructions(trace, core, range)).toThrow(text);
    await refused(cpu.counters(trace, { ...range, core })).toThrow(text);
    const numbering: Wrong = 'allways';
    await refused(cpu.instructions(trace, core, {}, { numbering })).toThrow(
      /READER_RANGE: numbering is "always"/,
    );
    const stages: Wrong = 1;
    await refused(cpu.instructions(trace, core, {}, { stages })).toThrow(/READER_RANGE: stages is "all"/);
  });

  it('that are counts are whole and not negative', async () => {
    for (const wrong of [-1, 0.5, '3', 3n] as Wrong[]) {
      await refused(cpu.instructions(trace, core, {}, { lookback: wrong })).toThrow(
        /READER_RANGE: lookback is/,
      );
      await refused(cpu.instructions(trace, core, {}, { lookahead: wrong })).toThrow(
        /READER_RANGE: lookahead is/,
      );
    }
  });

  it('that are a core are not its name', async () => {
    const name: Wrong = 'core0';
    await refused(cpu.instructions(trace, name)).toThrow(
      /READER_NAME: a core is what findCore\(trace, name\) gives, not core0/,
    );
  });
});
