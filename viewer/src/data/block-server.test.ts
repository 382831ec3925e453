/** Which comes first in the thread that reads a trace while it is being written. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RowBlock } from '../model/blocks.js';
import { BlockServer } from './block-server.js';
import type { DataMessage, Want } from './protocol.js';
import type { Session } from './session.js';

const CYCLES = 100;
/** Of reading a block, and of sums. */
const WORK_MS = 20;

const later = <T>(value: T): Promise<T> =>
  new Promise((resolve) => setTimeout(() => resolve(value), WORK_MS));
/** As far as the server looks into it. */
const blockOf = (segment: number): RowBlock => {
  const columns = { dependencies: {}, notes: {}, stalls: {} };
  return { segment, firstRow: segment * 10, count: 10, ...columns } as unknown as RowBlock;
};

/** A trace of a number of segments, which gets one more with each look. */
class GrowingTrace {
  segments = 3;
  isComplete = false;
  readonly posted: string[] = [];
  private received = 0;
  private shownTo = 0;
  readonly server: BlockServer;

  constructor() {
    const sums = { from: 0, step: 256, columns: [] };
    const index = {
      sums: () => later(sums),
      diagonal: async () => ({ cycles: Float64Array.of(0, 1), rows: Float64Array.of(0, 1) }),
      mostInFlight: async () => 1,
      rowsBefore: async (segment: number) => segment * 10,
    };
    const trace = this;
    const session = {
      core: {},
      ownIndex: index,
      trace: { session: null },
      get info() {
        return { segmentCycles: Float64Array.of(0, trace.end), isComplete: trace.isComplete };
      },
      get lastCycle() {
        return trace.end;
      },
      get segmentCount() {
        return trace.segments;
      },
      sumsOf: () => index,
      useIndex: () => undefined,
      block: (segment: number) => later(blockOf(segment)),
      grow: async () => {
        trace.segments++;
        return {
          from: trace.segments - 1,
          cycles: Float64Array.of(0, trace.end),
          isComplete: trace.isComplete,
        };
      },
    };
    const live = { grown: () => undefined, isWritten: () => true, hasNews: async () => true };
    const post = (message: DataMessage): void => this.take(message);
    this.server = new BlockServer(
      session as unknown as Session,
      post,
      (problem) => this.posted.push(problem.what),
      live,
    );
  }

  get end(): number {
    return this.segments * CYCLES;
  }

  want(segments: number[], what: Partial<Want> = {}): void {
    const { received, shownTo } = this;
    const known = { received, segmentCount: this.segments, following: 'rows' as const, shownTo };
    this.server.want({ segments, sums: null, ...known, ...what });
  }

  /** A picture in which nothing is missing. */
  drawn(): void {
    this.shownTo = this.end;
    this.want([]);
  }

  private take(message: DataMessage): void {
    if (message.type === 'block') this.received++;
    if (message.type === 'block') this.posted.push(`block ${message.block.segment}`);
    else if (message.type === 'sums') this.posted.push(message.isOverview ? 'overview' : 'sums');
    else if (message.type === 'grown') this.posted.push(`grown to ${this.segments}`);
  }
}

describe('a trace that is being written', () => {
  let trace: GrowingTrace;
  let ended: Promise<void>;
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    trace = new GrowingTrace();
    ended = trace.server.run();
    await vi.advanceTimersByTimeAsync(60);
    expect(trace.posted).toEqual(['overview', 'overview']);
    trace.posted.length = 0;
  });
  afterEach(async () => {
    trace.server.stop();
    await vi.advanceTimersByTimeAsync(1000);
    vi.useRealTimers();
    await ended;
  });

  it('gives its new end unasked, and looks for more when that is drawn', async () => {
    trace.want([]);
    await vi.advanceTimersByTimeAsync(300);
    expect(trace.posted).toEqual(['grown to 4', 'block 3', 'block 2']);
    trace.drawn();
    await vi.advanceTimersByTimeAsync(100);
    expect(trace.posted.slice(3)).toEqual(['grown to 5', 'block 4', 'block 3']);
  });

  it('looks for more after a while where nothing is drawn, as in a hidden page', async () => {
    trace.want([]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(trace.posted.filter((what) => what.startsWith('grown'))).toEqual(['grown to 4', 'grown to 5']);
  });

  it('does not give again what is on its way, nor drops the end for what was wanted before it had grown', async () => {
    trace.want([]);
    await vi.advanceTimersByTimeAsync(60);
    expect(trace.posted).toEqual(['grown to 4']);
    trace.want([0], { segmentCount: 3, received: 0 });
    await vi.advanceTimersByTimeAsync(100);
    expect(trace.posted).toEqual(['grown to 4', 'block 3', 'block 2', 'block 0']);
    trace.want([3, 2, 1], { received: 0 });
    await vi.advanceTimersByTimeAsync(60);
    expect(trace.posted.slice(4)).toEqual(['block 1']);
    // Those that had come have been dropped since.
    trace.want([3]);
    await vi.advanceTimersByTimeAsync(60);
    expect(trace.posted.slice(5)).toEqual(['block 3']);
  });

  it('has an overview a few times a second, and one of the whole run at its end', async () => {
    trace.want([], { following: null });
    await vi.advanceTimersByTimeAsync(1500);
    const overviews = (): number => trace.posted.filter((what) => what === 'overview').length;
    const grown = trace.posted.filter((what) => what.startsWith('grown')).length;
    expect(grown).toBeGreaterThan(8);
    expect(overviews()).toBeGreaterThanOrEqual(2);
    expect(overviews()).toBeLessThanOrEqual(4);
    trace.isComplete = true;
    trace.posted.length = 0;
    await vi.advanceTimersByTimeAsync(1500);
    expect(trace.posted.at(-1)).toBe('overview');
  });
});
