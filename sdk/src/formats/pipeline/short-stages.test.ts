import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shortStageNames } from './core-fields.js';

describe('short names of stages', () => {
  it.each([
    [
      ['fetch', 'decode', 'execute', 'memory', 'writeback'],
      ['F', 'D', 'E', 'M', 'W'],
    ],
    [
      ['decode', 'dispatch', 'retire', 'rename'],
      ['De', 'Di', 'Ret', 'Ren'],
    ],
    [
      ['IF', 'ID', 'EX', 'fetch'],
      ['IF', 'ID', 'EX', 'F'],
    ],
    [
      ['stage_one', 'stage_two'],
      ['S1', 'S2'],
    ],
    [
      ['F', 'fetch'],
      ['F', 'Fe'],
    ],
  ])('%j: %j', (names, short) => {
    expect(shortStageNames(names)).toEqual(short);
  });

  it('are different, and have three letters at most where a number of two digits is enough', () => {
    const name = fc.stringMatching(/^[a-d]{1,5}$/);
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 20 }), (names) => {
        const short = shortStageNames(names);
        expect(new Set(short).size).toBe(names.length);
        expect(short.every((one) => one.length >= 1 && one.length <= 3)).toBe(true);
      }),
    );
  });
});
