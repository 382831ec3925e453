import { describe, expect, it } from 'vitest';
import { coreSchema, TraceBuilder } from '../../../../test/support/build-trace.js';
import { memorySource, openTrace } from '../../reader/index.js';
import { parseRange, type RangeArguments, rangeInTime } from './ranges.js';

const open = (periods: number[]) =>
  openTrace(
    memorySource(
      new TraceBuilder({
        schema: {
          ...coreSchema,
          clocks: periods.map((periodPs, clockId) => ({ name: `clk${clockId}`, clockId, periodPs })),
        },
      }).bytes,
    ),
  );

describe('a range on the command line', () => {
  it.each<[RangeArguments, object]>([
    [{}, { from: 0n }],
    [{ from: '2ns' }, { from: 2000n }],
    [{ to: '3ns' }, { from: 0n, to: 3000n }],
    [
      { from: '1ns', to: '1001' },
      { from: 1000n, to: 1001n },
    ],
    [{ cycles: '10:20' }, { from: 10_000n, to: 20_000n }],
    [{ cycles: '1_0:' }, { from: 10_000n }],
    [{ cycles: ':20' }, { from: 0n, to: 20_000n }],
    [{ cycles: 'clk1:10:20' }, { from: 2500n, to: 5000n }],
    [{ cycles: 'clk1::20' }, { from: 0n, to: 5000n }],
    [{ cycle: '7' }, { from: 7000n, to: 8000n }],
    [{ cycle: 'clk1:7' }, { from: 1750n, to: 2000n }],
  ])('%j', async (given, expected) => {
    expect(rangeInTime(parseRange(given), await open([1000, 250]))).toEqual(expected);
  });

  it.each<[RangeArguments, RegExp]>([
    [{ cycles: '1:2', from: '1' }, /--from\/--to and --cycles say the range twice/],
    [{ cycles: '1:2', cycle: '1' }, /--cycles and --cycle say/],
    [{ cycles: '5' }, /"5" is not a range; write 100:200/],
    [{ cycles: ':' }, /is not a range/],
    [{ cycles: '5:5' }, /is empty/],
    [{ cycles: 'a:b' }, /is not a range/],
    [{ cycle: 'clk1:' }, /is not a cycle/],
    [{ from: '2ns', to: '1ns' }, /--from 2ns is not before --to 1ns/],
  ])('%j is wrong usage', (given, message) => {
    expect(() => parseRange(given)).toThrow(/CLI_USAGE/);
    expect(() => parseRange(given)).toThrow(message);
  });

  it('counts cycles of the clock a verb is about, unless another one is named', async () => {
    const trace = await open([1000, 250, 0]);
    expect(rangeInTime(parseRange({ cycle: '4' }), trace, 'clk1')).toEqual({ from: 1000n, to: 1250n });
    expect(rangeInTime(parseRange({ cycle: 'clk0:4' }), trace, 'clk1')).toEqual({ from: 4000n, to: 5000n });
    expect(() => rangeInTime(parseRange({ cycle: 'clk2:4' }), trace)).toThrow(/READER_NO_CYCLES.*"clk2"/);
    expect(() => rangeInTime(parseRange({ cycle: 'clk3:4' }), trace)).toThrow(
      /READER_NAME.*clk0, clk1, clk2/,
    );
  });
});
