import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { add, annotate, coreSchema, frame, stage, TraceBuilder } from '../../../test/support/build-trace.js';
import { CursorItem } from '../format/frame.js';
import { SessionStatus } from '../format/session-chunk.js';
import { TraceWriter } from '../writer/trace-writer.js';
import { memorySource, openTrace, type Source, type Trace } from './index.js';
import { openTraceFile } from './node.js';

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

  it('with a tail that is not there yet is an error that changes nothing: the next poll finds it', async () => {
    const { builder } = growing();
    let size = Number.POSITIVE_INFINITY;
    const trace = await openTrace(memorySource(() => builder.bytes.subarray(0, size)));
    builder.segment({ frames: [frame(0, stage(1, 0))] });
    await trace.poll();
    builder.segment({ frames: [frame(1000, stage(1, 1))] }).segment({ frames: [frame(2000, stage(1, 1))] });
    for (const at of [
      builder.offsets[1]!,
      builder.offsets[2]! - 1,
      builder.offsets[2]! + 20,
      builder.offsets[2]! + 60,
    ]) {
      size = at;
      await expect(trace.poll()).rejects.toThrow(/FORMAT_TRUNCATED/);
      expect([trace.segmentCount, await eventTimes(trace)]).toEqual([1, [0n]]);
    }
    size = Number.POSITIVE_INFINITY;
    expect(await trace.poll()).toMatchObject({ newSegments: 2 });
    expect(await eventTimes(trace)).toEqual([0n, 1000n, 2000n]);
  });

  it('that is finalized with a table of other segments has changed', async () => {
    const { builder } = growing();
    builder.segment({ frames: [frame(0)] }).segment({ frames: [frame(1000)] });
    let bytes = builder.bytes;
    const trace = await openTrace(memorySource(() => bytes));
    const other = new TraceBuilder({ schema: coreSchema, compression: 'lz4' })
      .segment({ frames: [frame(0, stage(1, 0))] })
      .segment({ frames: [frame(1000, stage(1, 0))] })
      .finalize().bytes;
    bytes = other;
    await expect(trace.poll()).rejects.toThrow(/READER_CHANGED/);
  });

  it('has a chain of any length: small segments come many at a time', async () => {
    const { builder } = growing();
    for (let i = 0; i < 500; i++) builder.segment({ frames: [frame(i * 1000, stage(1, 0))] });
    const inner = memorySource(builder.bytes);
    let reads = 0;
    const read: Source['read'] = (offset, length) => {
      reads++;
      return inner.read(offset, length);
    };
    const trace = await openTrace({ ...inner, read });
    expect(trace.segmentCount).toBe(500);
    expect(reads).toBeLessThan(20);
    expect((await trace.segments()).map(({ offset }) => offset)).toEqual(builder.offsets);
  });
});

describe('a trace that a writer writes to a file meanwhile', () => {
  it('shows whole segments only, in order, and all of it in the end', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'uscope-live-'));
    try {
      const path = join(directory, 'live.uscope');
      const writer = await TraceWriter.create({
        path,
        schema: coreSchema,
        checkpointIntervalPs: 4000,
        maxDelayMs: 0,
      });
      const trace = await openTraceFile(path);
      const seen: bigint[] = [];
      let polls = 0;
      const read = async (): Promise<void> => {
        const from = trace.segmentCount;
        const { newSegments, totalTimePs } = await trace.poll();
        polls++;
        for await (const segment of trace.loadedSegmentsFrom(from)) {
          const cursor = segment.cursor();
          while (cursor.next()) if (cursor.kind === CursorItem.EVENT) seen.push(cursor.timePs);
          expect(segment.header.timeEndPs).toBeLessThanOrEqual(totalTimePs + 1n);
        }
        expect(seen).toEqual(Array.from({ length: seen.length }, (_, i) => BigInt(i * 1000)));
        if (newSegments > 0) {
          const last = seen.at(-1)!;
          expect((await trace.stateAt(last)).slotField('retired', 0, 0)).toBe(BigInt(seen.length));
          expect(await trace.strings.get(seen.length - 1)).toBe(`text ${seen.length - 1}`);
        }
      };
      for (let cycle = 0; cycle < 200; cycle++) {
        writer.beginCycle(cycle * 1000);
        writer.slotAdd('core0/retired', 0, 'count', 1);
        writer.event('core0/annotate', { entity_id: 1, text: `text ${cycle}` });
        const hasRoom = writer.endCycle();
        if (!hasRoom) await writer.ready();
        if (cycle % 5 === 0) await read();
      }
      await writer.close();
      while (!trace.isComplete) await read();
      expect(seen).toHaveLength(200);
      expect(polls).toBeGreaterThan(40);
      expect([await trace.strings.count(), trace.session?.status]).toEqual([200, SessionStatus.CLOSED]);
      await trace.close();
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
