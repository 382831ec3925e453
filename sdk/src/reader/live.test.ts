import { describe, expect, it } from 'vitest';
import { add, annotate, coreSchema, frame, stage, TraceBuilder } from '../../../test/support/build-trace.js';
import { SessionStatus } from '../format/session-chunk.js';
import { memorySource, openTrace, type Trace } from './index.js';

const HEADER_TAIL = 40;

function growing(): { builder: TraceBuilder; open: () => Promise<Trace> } {
  const builder = new TraceBuilder({ schema: coreSchema, compression: 'lz4' });
  return { builder, open: () => openTrace(memorySource(() => builder.bytes, 'live.uscope')) };
}

async function eventTimes(trace: Trace): Promise<bigint[]> {
  const times: bigint[] = [];
  for await (const event of trace.events()) times.push(event.timePs);
  return times;
}

describe('a trace that is being written', () => {
  it('can be opened before its first segment, and grows with each poll', async () => {
    const { builder, open } = growing();
    const trace = await open();
    expect([trace.isComplete, trace.segmentCount, trace.totalTimePs]).toEqual([false, 0, 0n]);
    expect(await trace.poll()).toEqual({ newSegments: 0, finalized: false, totalTimePs: 0n });

    builder.segment({ frames: [frame(0, stage(1, 0), add(3, 0, 0, 1))] });
    expect(await eventTimes(trace)).toEqual([]);
    expect(await trace.poll()).toEqual({ newSegments: 1, finalized: false, totalTimePs: 1n });
    expect(await eventTimes(trace)).toEqual([0n]);

    builder
      .segment({ frames: [frame(1000, stage(1, 1))] })
      .segment({ frames: [frame(2000, add(3, 0, 0, 1))] });
    expect(await trace.poll()).toMatchObject({ newSegments: 2, totalTimePs: 2001n });
    expect(await eventTimes(trace)).toEqual([0n, 1000n]);
    expect((await trace.stateAt(2000)).slotField('retired', 0, 'count')).toBe(2n);
    expect((await trace.stateAt(1999)).slotField('retired', 0, 'count')).toBe(1n);
  });

  it('shows a segment only when tail_offset reaches it', async () => {
    const { builder, open } = growing();
    builder.segment({ frames: [frame(0, stage(1, 0))] });
    const trace = await open();
    builder.segment({ frames: [frame(1000, stage(1, 1))], uncommitted: true });
    expect(await trace.poll()).toMatchObject({ newSegments: 0 });
    expect(await eventTimes(trace)).toEqual([0n]);
    expect(await eventTimes(await open())).toEqual([0n]);
  });

  it('resolves strings before there is a table, and after', async () => {
    const { builder, open } = growing();
    builder.segment({ frames: [frame(0, annotate(1, 0))], strings: ['first'] });
    const trace = await open();
    expect(await trace.strings.get(1)).toBeNull();
    builder.segment({ frames: [frame(1000, annotate(1, 1))], strings: ['second'] });
    await trace.poll();
    expect(await trace.strings.get(1)).toBe('second');
    builder.segment({ frames: [frame(2000, annotate(1, 2))], strings: ['third'] }).finalize();
    await trace.poll();
    expect(await trace.strings.get(2)).toBe('third');
  });

  it('is followed into its finalization', async () => {
    const { builder, open } = growing();
    builder.segment({ frames: [frame(0, stage(1, 0))] });
    const trace = await open();
    expect(trace.session?.status).toBe(SessionStatus.OPEN);
    builder.segment({ frames: [frame(1000, stage(1, 1))] }).finalize({ session: { lost: 3n } });
    expect(await trace.poll()).toEqual({ newSegments: 1, finalized: true, totalTimePs: 1000n });
    expect([trace.isComplete, trace.session?.status, trace.session?.lost]).toEqual([
      true,
      SessionStatus.CLOSED,
      3n,
    ]);
    expect(await eventTimes(trace)).toEqual([0n, 1000n]);
    expect(await trace.poll()).toEqual({ newSegments: 0, finalized: false, totalTimePs: 1000n });
  });

  it('notices new segments once, however many polls run at a time', async () => {
    const { builder, open } = growing();
    const trace = await open();
    builder.segment({ frames: [frame(0, stage(1, 0))] });
    const polls = await Promise.all([trace.poll(), trace.poll(), trace.poll()]);
    expect(polls.map((poll) => poll.newSegments)).toEqual([1, 0, 0]);
    expect(await eventTimes(trace)).toEqual([0n]);
  });

  it('that is replaced by another one is an error, not a mixture', async () => {
    const { builder, open } = growing();
    builder.segment({ frames: [frame(0)] }).segment({ frames: [frame(1000)] });
    const trace = await open();
    new DataView(builder.bytes.buffer).setBigUint64(HEADER_TAIL, BigInt(builder.offsets[0]), true);
    await expect(trace.poll()).rejects.toThrow(/READER_CHANGED/);
  });

  it('keeps a state asked for as it was', async () => {
    const { builder, open } = growing();
    builder.segment({ frames: [frame(0, add(3, 0, 0, 1))] });
    const trace = await open();
    const before = await trace.stateAt(10_000);
    builder.segment({ frames: [frame(1000, add(3, 0, 0, 1))] });
    await trace.poll();
    expect(before.slotField('retired', 0, 0)).toBe(1n);
    expect((await trace.stateAt(10_000)).slotField('retired', 0, 0)).toBe(2n);
  });
});
