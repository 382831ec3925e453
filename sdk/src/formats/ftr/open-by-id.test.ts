import fc from 'fast-check';
import { expect, it } from 'vitest';
import { OpenById } from './open-by-id.js';

const word = fc.oneof(fc.nat(40), fc.integer({ min: 0, max: 0xffff_ffff }));
const step = fc.record({
  isEnd: fc.boolean(),
  lo: word,
  hi: fc.oneof(fc.constant(0), word),
  value: fc.nat(),
});

it('holds what a Map holds, in its order', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const map = new Map<string, number>();
      const open = new OpenById<number>();
      for (const { isEnd, lo, hi, value } of steps) {
        const key = `${hi} ${lo}`;
        expect(open.get(lo, hi)).toBe(map.get(key));
        if (isEnd) {
          open.delete(lo, hi);
          map.delete(key);
        } else {
          open.set(lo, hi, value);
          map.set(key, value);
        }
        expect(open.size).toBe(map.size);
      }
      expect(open.inOrder()).toEqual([...map.values()]);
    }),
  );
});

it('finds all of many', () => {
  const open = new OpenById<number>();
  for (let id = 0; id < 20_000; id++) open.set(id * 4096, id % 3, id);
  for (let id = 0; id < 20_000; id += 2) open.delete(id * 4096, id % 3);
  for (let id = 0; id < 20_000; id++) expect(open.get(id * 4096, id % 3)).toBe(id % 2 === 0 ? undefined : id);
  expect(open.inOrder()).toEqual(Array.from({ length: 10_000 }, (_, i) => 2 * i + 1));
});
