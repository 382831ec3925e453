/** How instructions ended equals what their block says, whatever is asked for first. */
import { describe, expect, it } from 'vitest';
import { build, generator, record } from '../../../../test/support/recorded-run.js';
import { memorySource, openTrace } from '../../reader/index.js';
import { findCore } from '../cpu/cores.js';
import { BlockEnd, endOf } from './block.js';
import { blockOf } from './instruction-blocks.js';
import { rowEnds } from './row-ends.js';

describe('how the instructions of a segment ended', () => {
  it.each([
    ['interleaved frames', true],
    ['frames of v0.1', false],
  ])('is what its block says: %s', async (_, interleaved) => {
    const { frames } = record(generator(5), 600);
    const trace = await openTrace(memorySource(build(frames, 40, interleaved)));
    const core = findCore(trace);
    const all = new Map<number, number>();
    for (let segment = 0; segment < trace.segmentCount; segment++) {
      const block = await blockOf(trace, core, segment);
      const expected = Array.from({ length: block.count }, (_, row) => endOf(block, row));
      for (const end of expected) all.set(end, (all.get(end) ?? 0) + 1);
      expect([...(await rowEnds(trace, core, segment, block.count))]).toEqual(expected);
    }
    // Retired and squashed ones are among them, and some are in flight at the end of the trace.
    expect([...all.keys()].sort()).toEqual([BlockEnd.IN_FLIGHT, BlockEnd.RETIRED, BlockEnd.SQUASHED]);
  });

  it('is known of the rows asked for, and of others where no later segment had to be read', async () => {
    const { frames } = record(generator(8), 400);
    const trace = await openTrace(memorySource(build(frames, 40)));
    const core = findCore(trace);
    let open = 0;
    for (let segment = 0; segment < trace.segmentCount; segment++) {
      const block = await blockOf(trace, core, segment);
      for (const rows of [0, 1, block.count >> 1]) {
        const ends = await rowEnds(trace, core, segment, rows);
        expect(ends).toHaveLength(block.count);
        for (const [row, end] of ends.entries()) {
          if (row < rows || end !== BlockEnd.IN_FLIGHT) expect(end).toBe(endOf(block, row));
          else open++;
        }
      }
    }
    expect(open).toBeGreaterThan(0);
  });
});
