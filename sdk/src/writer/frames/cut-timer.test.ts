import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CutTimer } from './cut-timer.js';
import type { SegmentCutter } from './segment-cutter.js';

/** Frames come all the time, or not: how many cuts are made. */
function timed(delayMs: number) {
  const cutter = {
    open: { numFrames: 1 },
    cutAt: performance.now(),
    policy: { overdue: false },
    cuts: 0,
    cutBehindLast() {
      this.cuts++;
      this.cutAt = performance.now();
    },
  };
  const timer = new CutTimer(
    cutter as unknown as SegmentCutter,
    delayMs,
    () => false,
    (error) => expect.fail(error.message),
  );
  return { cutter, timer };
}

describe('frames that wait for the end of their segment', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('wait for the delay, unless somebody looks on: then a quarter of a second, for two seconds', () => {
    const { cutter, timer } = timed(1000);
    vi.advanceTimersByTime(1100);
    expect(cutter.cuts).toBe(1);
    timer.hasten();
    vi.advanceTimersByTime(1000);
    expect(cutter.cuts).toBeGreaterThanOrEqual(4);
    vi.advanceTimersByTime(1500);
    const { cuts } = cutter;
    vi.advanceTimersByTime(3000);
    expect(cutter.cuts - cuts).toBe(3);
    timer.stop();
  });

  it('are cut by the next frame where more come, and never where there is no limit', () => {
    const { cutter, timer } = timed(1000);
    timer.hasten();
    vi.advanceTimersByTime(200);
    timer.notePush();
    cutter.cutAt = Number.NEGATIVE_INFINITY;
    vi.advanceTimersByTime(60);
    expect(cutter).toMatchObject({ cuts: 0, policy: { overdue: true } });
    timer.stop();
    const unlimited = timed(0);
    unlimited.timer.hasten();
    vi.advanceTimersByTime(5000);
    expect(unlimited.cutter.cuts).toBe(0);
  });
});
