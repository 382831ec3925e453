import { describe, expect, it } from 'vitest';
import { coreSchema, TraceBuilder } from '../../../../test/support/build-trace.js';
import { memorySource, openTrace } from '../../reader/index.js';
import { parseCycle, parseTime } from './times.js';

describe('a time on the command line', () => {
  it.each([
    ['123', 123n],
    ['0', 0n],
    ['4_000', 4000n],
    ['7ps', 7n],
    ['1.5ns', 1500n],
    ['3us', 3_000_000n],
    ['0.25 µs', 250_000n],
    ['2ms', 2_000_000_000n],
    ['1s', 1_000_000_000_000n],
    ['18446744073709551615', (1n << 64n) - 1n],
    ['1.5', null],
    ['1.5ps', null],
    ['18446744073709551616', null],
    ['-1', null],
    ['3 weeks', null],
    ['1e3', null],
    ['', null],
  ])('%j', (text, expected) => {
    if (expected === null) expect(() => parseTime(text)).toThrow(/CLI_USAGE/);
    else expect(parseTime(text)).toBe(expected);
  });
});

describe('a cycle on the command line', () => {
  const withClocks = (periods: number[]) => ({
    ...coreSchema,
    clocks: periods.map((periodPs, clockId) => ({ name: `clk${clockId}`, clockId, periodPs })),
  });
  const open = (periods: number[]) =>
    openTrace(memorySource(new TraceBuilder({ schema: withClocks(periods) }).bytes));

  it('counts periods of the clock named, or of the first scope with a protocol', async () => {
    const trace = await open([1000, 250]);
    expect(parseCycle('12', trace)).toBe(12_000n);
    expect(parseCycle('clk1:12', trace)).toBe(3000n);
    expect(() => parseCycle('clk9:1', trace)).toThrow(/READER_NAME.*clk0, clk1/);
    expect(() => parseCycle('many', trace)).toThrow(/CLI_USAGE/);
  });

  it('is not a time where the period is unknown', async () => {
    const trace = await open([0]);
    expect(() => parseCycle('1', trace)).toThrow(/READER_NO_CYCLES/);
  });
});
