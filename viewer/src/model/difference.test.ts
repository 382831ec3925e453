/** Differences between cursors. */
import { describe, expect, it } from 'vitest';
import { difference, durationText } from './difference.js';

describe('a difference', () => {
  it('has cycles, time, retired instructions and their rate', () => {
    expect(difference(100, 1350, 2000, [40, 1040])).toEqual({
      cycles: '1,250',
      time: '2.500 µs',
      retired: '1,000',
      ipc: '0.800',
    });
  });

  it('is negative towards an earlier cycle, with the same rate', () => {
    const back = difference(1350, 100, 2000, [1040, 40]);
    expect(back).toEqual({ cycles: '−1,250', time: '−2.500 µs', retired: '−1,000', ipc: '0.800' });
  });

  it('leaves out what is not known, and a rate over no time', () => {
    expect(difference(5, 9, 1000, [undefined, 3])).toMatchObject({ cycles: '4', retired: '', ipc: '' });
    expect(difference(5, 5, 1000, [3, 3])).toMatchObject({ cycles: '0', retired: '0', ipc: '' });
  });

  it('has a time that people can read', () => {
    expect([0, 7, 1000, 1_234_567, 5e12].map(durationText)).toEqual([
      '0 ps',
      '7 ps',
      '1.000 ns',
      '1.235 µs',
      '5.000 s',
    ]);
  });
});
