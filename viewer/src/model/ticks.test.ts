import { describe, expect, it } from 'vitest';
import { shortNames } from '../drawing/rows/texts.js';
import { grouped, tickStep, ticks, timeText } from './ticks.js';

describe('ticks', () => {
  it.each([
    [24, 90, 5],
    [1, 90, 100],
    [0.0037, 90, 50_000],
    [200, 90, 1],
  ])('at %d px per cycle, %d px apart, are %d cycles apart', (scale, pixels, step) => {
    expect(tickStep(scale, pixels)).toBe(step);
  });

  it('lie on multiples, edges included', () => {
    expect(ticks(9.5, 30, 10)).toEqual([10, 20, 30]);
    expect(ticks(-3, 1, 5)).toEqual([0]);
  });
});

describe('texts', () => {
  it('groups digits', () => {
    expect([0, 999, 1000, 1_234_567].map(grouped)).toEqual(['0', '999', '1,000', '1,234,567']);
  });

  it.each([
    [99_995_000, 5000, 100_025_000, '99.995 µs'],
    [100_000_000, 5000, 100_025_000, '100.000 µs'],
    [5000, 5000, 60_000, '5 ns'],
    [20_610_000, 5000, 20_650_000, '20,610 ns'],
    [300_000_000, 50_000_000, 332_000_000, '300 µs'],
    [7500, 2500, 12_000, '7.5 ns'],
    [107_500, 2500, 120_000, '107.5 ns'],
    [3_330_000, 1665, 3_350_000, '3,330.000 ns'],
    [250_000_000, 12_500_000, 300_000_000, '250.0 µs'],
    [123_456, 123.456, 123_456, '123.5 ns'],
  ])('%d ps, marks %d ps apart up to %d ps: %s', (ps, step, largest, text) => {
    expect(timeText(ps, step, largest)).toBe(text);
  });

  it('shortens stages to what tells them apart', () => {
    expect(shortNames(['fetch', 'decode', 'dispatch', 'execute'])).toEqual(['F', 'De', 'Di', 'E']);
    expect(shortNames(['issue0', 'issue1'])).toEqual(['Iss', 'Iss']);
  });
});
