import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Trace } from '../../sdk/src/reader/index.js';
import { openTraceFile } from '../../sdk/src/reader/node.js';
import { BUILDS_MS, limitOfFile } from '../../test/support/limits.js';

// The design is built with Verilator.
limitOfFile(BUILDS_MS);

const HERE = fileURLToPath(new URL('.', import.meta.url));
const FAST = 1000;
const SLOW = 2500;

interface Frame {
  readonly time: number;
  /** Scopes whose cycle counters the frame counts up. */
  readonly cycles: string[];
  readonly sent: number[];
  readonly received: number[];
}

let trace: Trace;
const frames: Frame[] = [];

beforeAll(async () => {
  const run = spawnSync('make', ['--no-print-directory', '-C', HERE, 'run'], {
    encoding: 'utf8',
    timeout: BUILDS_MS,
  });
  if (run.status !== 0) throw new Error(`make run failed:\n${run.stdout}\n${run.stderr}`);
  trace = await openTraceFile(join(HERE, 'out/two_clocks.uscope'));
  const counters = new Map(
    ['producer', 'consumer'].map((scope) => [trace.names.storage(`${scope}/cycles`).storageId, scope]),
  );
  const sendType = trace.names.event('producer/send').eventTypeId;
  const read = (payload: Uint8Array): number =>
    new DataView(payload.buffer, payload.byteOffset, payload.byteLength).getUint32(0, true);
  await trace.scan(
    {},
    {
      frame: (cursor) => {
        frames.push({ time: Number(cursor.timePs), cycles: [], sent: [], received: [] });
      },
      op: (cursor) => {
        const scope = counters.get(cursor.storageId);
        if (scope) frames.at(-1)!.cycles.push(scope);
      },
      event: (cursor) => {
        const frame = frames.at(-1)!;
        (cursor.eventType === sendType ? frame.sent : frame.received).push(read(cursor.payload));
      },
    },
  );
});

afterAll(() => trace?.close());

const timesOf = (scope: string): number[] =>
  frames.filter(({ cycles }) => cycles.includes(scope)).map(({ time }) => time);

describe('a trace with two clocks', () => {
  it('has a frame per cycle of each domain, and none that belongs to both or to none', () => {
    expect(frames.filter(({ cycles }) => cycles.length !== 1)).toEqual([]);
    expect(frames.length).toBeGreaterThan(300);
  });

  it.each([
    ['producer', FAST],
    ['consumer', SLOW],
  ])('shows the %s once every %i ps', (scope, period) => {
    const times = timesOf(scope);
    expect(times.filter((time, index) => time !== times[0]! + index * period)).toEqual([]);
    expect(times[0]! % period).toBe(0);
  });

  it('puts edges that coincide into two frames of the same time', () => {
    const coinciding = timesOf('producer').filter((time) => timesOf('consumer').includes(time));
    const doubled = frames.filter(({ time }, index) => index > 0 && frames[index - 1]!.time === time);
    expect(doubled.map(({ time }) => time)).toEqual(coinciding);
    expect(coinciding.every((time) => time % 5000 === 0)).toBe(true);
    expect(coinciding.length).toBe(Math.floor((frames.at(-1)!.time - frames[0]!.time) / 5000) + 1);
  });

  it('never goes back in time', () => {
    expect(frames.filter(({ time }, index) => index > 0 && frames[index - 1]!.time > time)).toEqual([]);
  });

  it('lets every value arrive once, in order, and later than it was sent', () => {
    const sentAt = frames.flatMap(({ time, sent }) => sent.map(() => time));
    const receivedAt = frames.flatMap(({ time, received }) => received.map(() => time));
    expect(frames.flatMap(({ sent }) => sent)).toEqual(Array.from({ length: 100 }, (_, value) => value));
    expect(frames.flatMap(({ received }) => received)).toEqual(
      Array.from({ length: 100 }, (_, value) => value),
    );
    expect(receivedAt.filter((time, value) => time - sentAt[value]! < 2 * SLOW)).toEqual([]);
  });

  it('ends with the counters of both domains and an empty queue', async () => {
    const state = await trace.stateAt(trace.totalTimePs);
    expect(state.slotField('producer/cycles', 0, 'count')).toBe(BigInt(timesOf('producer').length));
    expect(state.slotField('consumer/cycles', 0, 'count')).toBe(BigInt(timesOf('consumer').length));
    expect(state.slotField('producer/sent', 0, 'count')).toBe(100n);
    expect(state.slotField('consumer/received', 0, 'count')).toBe(100n);
    expect(state.occupancy('queue')).toBe(0);
    const clockOf = (scope: string): number =>
      trace.schema.clocks[trace.schema.scopes.find(({ name }) => name === scope)!.clockId]!.periodPs;
    expect([clockOf('producer'), clockOf('consumer')]).toEqual([FAST, SLOW]);
  });
});
