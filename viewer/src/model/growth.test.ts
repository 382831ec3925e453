/** The cycles at which segments begin, as they come while a trace is written. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { grown } from './growth.js';

it('continues what is known by any number of segments, however often, and moves the end', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(300), { maxLength: 40 }), (sizes) => {
      let known = { segmentCycles: Float64Array.of(0, 50), isComplete: false, name: 'core0' };
      const starts = [0];
      for (const [at, size] of sizes.entries()) {
        const from = starts.length;
        for (let added = 0; added < size; added++) starts.push(starts.length * 100);
        const end = starts.at(-1)! + 50 + at;
        const isComplete = at === sizes.length - 1;
        const cycles = Float64Array.of(...starts.slice(from), end);
        known = grown(known, { from, cycles, isComplete });
        expect([...known.segmentCycles]).toEqual([...starts, end]);
        expect(known).toMatchObject({ isComplete, name: 'core0' });
      }
    }),
  );
});

it('copies what it knows now and then only', () => {
  let known = { segmentCycles: Float64Array.of(0, 1), isComplete: false };
  const buffers = new Set<ArrayBufferLike>();
  for (let from = 1; from <= 10_000; from++) {
    known = grown(known, { from, cycles: Float64Array.of(from, from + 1), isComplete: false });
    buffers.add(known.segmentCycles.buffer);
  }
  expect(known.segmentCycles).toHaveLength(10_002);
  expect(buffers.size).toBeLessThan(16);
});
