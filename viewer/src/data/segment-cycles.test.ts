/** What is read of a trace that grows. */
import { expect, it } from 'vitest';
import { SegmentCycles, type SegmentSource } from './segment-cycles.js';

const PERIOD_PS = 10n;

/** Segments of 100 cycles. */
class Growing implements SegmentSource {
  segmentCount = 0;
  reads = 0;

  get totalTimePs(): bigint {
    return BigInt(this.segmentCount) * 1000n - PERIOD_PS;
  }

  async segment(index: number) {
    this.reads++;
    const timeStartPs = BigInt(index) * 1000n;
    return { offset: index * 64, timeStartPs, timeEndPs: timeStartPs + 1000n };
  }
}

it('reads each segment of a trace that grows once, and knows all starts and the end', async () => {
  const trace = new Growing();
  const cycles = new SegmentCycles(trace, PERIOD_PS);
  for (let growth = 0; growth < 300; growth++) {
    trace.segmentCount += growth % 3;
    await cycles.follow();
    const starts = cycles.since(0);
    expect([...cycles.since(trace.segmentCount >>> 1)]).toEqual([...starts.slice(trace.segmentCount >>> 1)]);
    expect(cycles.length).toBe(trace.segmentCount);
    expect([...starts]).toEqual(Array.from({ length: trace.segmentCount + 1 }, (_, index) => index * 100));
  }
  expect(trace.reads).toBe(trace.segmentCount);
});

it('gives arrays that stay as they are', async () => {
  const trace = new Growing();
  const cycles = new SegmentCycles(trace, PERIOD_PS);
  trace.segmentCount = 2;
  await cycles.follow();
  const before = cycles.since(0);
  trace.segmentCount = 200;
  await cycles.follow();
  cycles.since(0).fill(-1);
  expect([...before]).toEqual([0, 100, 200]);
});
