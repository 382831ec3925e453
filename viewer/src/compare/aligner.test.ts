import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Aligner } from './aligner.js';
import { RetiredQueue } from './retired-queue.js';

const columns = (ids: readonly number[]) => ({
  count: ids.length,
  statics: Int32Array.from(ids),
  cycles: Float64Array.from(ids, (_, index) => index),
  rows: Float64Array.from(ids, (_, index) => index),
});

/** The outcome as a text: `=` for each pair, `a-b` for each difference, `!` where the two part. @param pieces sizes in which both are read */
function aligned(a: readonly number[], b: readonly number[], pieces = 1 << 20): string {
  const [left, right] = [new RetiredQueue(), new RetiredQueue()];
  let out = '';
  const rest = { a: 0, b: 0 };
  const aligner = new Aligner(left, right, (x, y) => x === y, {
    pair: () => {
      out += '=';
    },
    difference: (i, j) => {
      out += `(${i}-${j})`;
    },
    apart: () => {
      out += '!';
    },
    rest: (side, count) => {
      rest[side] += count;
    },
  });
  for (let at = 0; ; at += pieces) {
    left.push(columns(a.slice(at, at + pieces)));
    right.push(columns(b.slice(at, at + pieces)));
    left.isEnded = at + pieces >= a.length;
    right.isEnded = at + pieces >= b.length;
    if (aligner.run()) break;
    if (at > a.length + b.length) throw new Error('it does not end');
  }
  expect([left.taken, right.taken]).toEqual([a.length, b.length]);
  return out + (rest.a + rest.b > 0 ? `${rest.a}+${rest.b}` : '');
}

describe('two streams of retired instructions', () => {
  it.each([
    ['the same', [1, 2, 3], [1, 2, 3], '==='],
    ['one that differs', [1, 2, 3, 4, 5, 6, 7], [1, 9, 3, 4, 5, 6, 7], '=(1-1)====='],
    ['one too many in B', [1, 2, 3, 4, 5, 6], [1, 8, 2, 3, 4, 5, 6], '=(0-1)====='],
    ['a handler in A only', [1, 7, 7, 8, 2, 3, 4, 5], [1, 2, 3, 4, 5], '=(3-0)===='],
    ['B ends earlier', [1, 2, 3], [1, 2], '==(1-0)'],
    ['both end differently', [1, 2], [1, 3], '=(1-1)'],
    ['nothing in one', [1, 2], [], '(2-0)'],
  ])('%s', (_, a, b, expected) => {
    expect(aligned(a, b)).toBe(expected);
  });

  it('parts where the two do not meet within the window', () => {
    const a = Array.from({ length: 1000 }, (_, index) => index);
    const b = Array.from({ length: 800 }, (_, index) => -index - 1);
    expect(aligned([5, ...a], [5, ...b])).toBe('=!1000+800');
  });

  it('comes to the same result however the traces are divided into segments', () => {
    const program = fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 60 });
    fc.assert(
      fc.property(program, program, fc.integer({ min: 1, max: 20 }), (a, b, pieces) => {
        expect(aligned(a, b, pieces)).toBe(aligned(a, b));
      }),
    );
  });
});
