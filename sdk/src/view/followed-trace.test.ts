/** A reader that follows a trace which the server of `uscope view` has: what it asks for, and that it sees what the file says. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { add, annotate, coreSchema, frame, stage, TraceBuilder } from '../../../test/support/build-trace.js';
import { type Entered, enter } from '../../../test/support/enter-view.mjs';
import { limitOfFile, PROCESSES_MS } from '../../../test/support/limits.js';
import { startRangeServer } from '../../../test/support/range-server.js';
import { concatBytes } from '../base/bytes.js';
import { HEADER_NUM_SEGMENTS_OFFSET, HEADER_SIZE } from '../format/header.js';
import { SEGMENT_HEADER_SIZE } from '../format/segment.js';
import { GrowingFile } from '../reader/growing-file.js';
import { decodeGrownParts, encodeGrownParts } from '../reader/grown-parts.js';
import { type FollowedSource, followedSource, memorySource, openTrace, type Trace } from '../reader/index.js';
import { openServedTrace } from './served-trace.js';
import { serveView, type ViewServer } from './server.js';

// Files grow and are followed.
limitOfFile(PROCESSES_MS);

const page = new Map([['index.html', Buffer.from('<html><head><title>t</title></head></html>')]]);

let directory: string;
let path: string;
let builder: TraceBuilder;
let served: Awaited<ReturnType<typeof openServedTrace>>;
let server: ViewServer;
let entered: Entered;
let cycle: number;
let requests: { method: string; range: string | null; status: number }[];

const write = (): void => writeFileSync(path, builder.bytes);

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-followed-'));
  path = join(directory, 'core0.uscope');
  cycle = 0;
  builder = new TraceBuilder({ schema: coreSchema, compression: 'lz4' });
  addSegments(3);
  served = await openServedTrace(path);
  server = await serveView(served, { page });
  entered = await enter(server.invite());
  requests = [];
});
afterEach(async () => {
  await server.close();
  await served.close();
  rmSync(directory, { recursive: true, force: true });
});

function addSegments(count: number): void {
  for (let added = 0; added < count; added++, cycle++)
    builder.segment({
      frames: [frame(cycle * 1000, stage(1, 0), annotate(1, cycle), add(3, 0, 0, 1))],
      strings: [`of ${cycle}`],
    });
  write();
}

const counted: typeof fetch = async (input, options) => {
  const response = await fetch(input, options);
  const range = new Headers(options?.headers).get('range');
  requests.push({ method: options?.method ?? 'GET', range, status: response.status });
  return response;
};

async function follow(): Promise<{ source: FollowedSource; trace: Trace }> {
  const source = followedSource(`${server.url}trace.uscope`, { fetch: counted, headers: entered.headers });
  const trace = await openTrace(source);
  // It finds out which server that is, and asks it from then on.
  for (let asked = 0; asked < 2; asked++) if (await source.hasNews()) await trace.poll();
  requests = [];
  return { source, trace };
}

const timesOf = async (trace: Trace): Promise<bigint[]> => {
  const times: bigint[] = [];
  for await (const { timePs } of trace.events()) times.push(timePs);
  return times;
};
const upTo = (count: number): bigint[] =>
  Array.from({ length: count }, (_, at) => [BigInt(at * 1000), BigInt(at * 1000)]).flat();

describe('a trace that is followed', () => {
  it('comes with one request for all segments since: their headers and records are in its answer', async () => {
    const { source, trace } = await follow();
    addSegments(20);
    expect(await source.hasNews()).toBe(true);
    expect(await trace.poll()).toMatchObject({ newSegments: 20, finalized: false });
    expect(requests).toEqual([{ method: 'GET', range: 'bytes=0-0', status: 200 }]);
    expect(await timesOf(trace)).toEqual(upTo(23));
    expect(await trace.strings.get(22)).toBe('of 22');
  });

  it('is opened with a few requests, however many segments it has', async () => {
    builder = new TraceBuilder({ schema: coreSchema, compression: 'none' });
    const addLarge = (count: number): void => {
      const items = Array.from({ length: 8000 }, (_, at) => stage(at % 200, at % 5));
      for (let added = 0; added < count; added++)
        builder.segment({ frames: [frame(cycle++ * 1000, ...items)], strings: [`of ${cycle}`] });
      write();
    };
    cycle = 0;
    addLarge(60);
    const source = followedSource(`${server.url}trace.uscope`, { fetch: counted, headers: entered.headers });
    const trace = await openTrace(source);
    expect(trace.segmentCount).toBe(60);
    const opening = requests.length;
    expect(opening).toBeLessThanOrEqual(4);
    // What has come meanwhile is in the first answer.
    const { offset } = await trace.segment(59);
    addLarge(30);
    expect(await source.hasNews(offset)).toBe(true);
    expect(await trace.poll()).toMatchObject({ newSegments: 30 });
    expect(requests.length).toBe(opening + 1);
    // A window that would reach beyond the end, as readers of records take it.
    expect((await trace.bytes(builder.offsets.at(-1)!, 1 << 20)).byteLength).toBeGreaterThan(50_000);
    expect(requests.length).toBe(opening + 1);
    expect((await trace.segments()).map((segment) => segment.offset)).toEqual(builder.offsets);
  });

  it('sends nothing while there is nothing new, also when the file has got what is not committed', async () => {
    const { source } = await follow();
    expect(await source.hasNews()).toBe(false);
    builder.segment({ frames: [frame(cycle * 1000, stage(1, 0))], uncommitted: true });
    write();
    expect(await source.hasNews()).toBe(false);
    // Nor is the second half of a commit news: the number of segments, of which the last is known.
    const bytes = builder.bytes.slice();
    bytes[HEADER_NUM_SEGMENTS_OFFSET]! -= 1;
    writeFileSync(path, bytes);
    expect(await source.hasNews()).toBe(false);
    expect(requests.map(({ status }) => status)).toEqual([204, 204, 204]);
  });

  it('is the same trace as the file, however much it grows between two looks', async () => {
    const { source, trace } = await follow();
    for (const count of [1, 0, 7, 40]) {
      addSegments(count);
      if (await source.hasNews()) await trace.poll();
      expect(await timesOf(trace)).toEqual(upTo(cycle));
    }
  });

  it('begins before it has anything', async () => {
    builder = new TraceBuilder({ schema: coreSchema, compression: 'lz4' });
    cycle = 0;
    write();
    const { source, trace } = await follow();
    for (const count of [1, 5]) {
      addSegments(count);
      expect(await source.hasNews()).toBe(true);
      await trace.poll();
      expect(await timesOf(trace)).toEqual(upTo(cycle));
    }
    expect(requests.map(({ range }) => range)).toEqual(['bytes=0-0', 'bytes=0-0']);
  });

  it('is finalized', async () => {
    const { source, trace } = await follow();
    addSegments(2);
    writeFileSync(path, builder.finalize().bytes);
    expect(await source.hasNews()).toBe(true);
    expect(await trace.poll()).toMatchObject({ newSegments: 2, finalized: true });
    expect(await timesOf(trace)).toEqual(upTo(5));
  });

  it('is another file than before: its reader says so', async () => {
    const { source, trace } = await follow();
    const other = new TraceBuilder({ schema: coreSchema, compression: 'lz4' });
    other.segment({ frames: [frame(0, stage(1, 1))] }).segment({ frames: [frame(7, stage(1, 2))] });
    writeFileSync(`${path}.new`, other.bytes);
    renameSync(`${path}.new`, path);
    expect(await source.hasNews()).toBe(true);
    await expect(trace.poll()).rejects.toMatchObject({ code: 'READER_CHANGED' });
  });

  it('is looked at now and then where its server is another one, which is asked nothing it does not know', async () => {
    const plain = await startRangeServer(builder.bytes);
    const source = followedSource(plain.url, { fetch: counted });
    const trace = await openTrace(source);
    expect(await source.hasNews()).toBe(true);
    // A quarter of a second lies between two looks. Where the machine has let it pass, the call after it is soon enough.
    await expect.poll(() => source.hasNews(), { interval: 0 }).toBe(false);
    addSegments(4);
    plain.bytes = builder.bytes;
    await expect.poll(() => source.hasNews()).toBe(true);
    expect(await trace.poll()).toMatchObject({ newSegments: 4 });
    expect(requests.filter(({ range }) => range === 'bytes=0-0')).toEqual([]);
    await plain.close();
  });

  it.each(['-1', '1.5', 'all', '9'.repeat(16)])(
    'is served as ever to who knows the segment %s',
    async (known) => {
      const answer = await fetch(`${server.url}trace.uscope`, {
        headers: { ...entered.headers, 'uscope-grown': known, range: 'bytes=0-3' },
      });
      expect([answer.status, await answer.text()]).toEqual([206, 'uSCP']);
    },
  );
});

describe('what a trace has got since', () => {
  it('is of the file, byte by byte, from any segment on', async () => {
    addSegments(30);
    const { bytes, offsets } = builder;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('latest' as const, 0, ...offsets), async (known) => {
        const grown = await new GrowingFile(memorySource(bytes)).since(known);
        expect(grown).toMatchObject({ size: bytes.byteLength, tail: offsets.at(-1) });
        for (const part of grown!.parts)
          expect(part.bytes).toEqual(bytes.subarray(part.offset, part.offset + part.bytes.byteLength));
        const { byteLength } = bytes;
        expect(
          grown!.parts.reduce((end, { offset, bytes: part }) => Math.max(end, offset + part.byteLength), 0),
        ).toBe(known === offsets.at(-1) ? HEADER_SIZE : byteLength);
        expect(decodeGrownParts(concatBytes(encodeGrownParts(grown!)))).toEqual(grown);
      }),
    );
  });

  it('is read once, however many readers follow, and is what each of them lacks', async () => {
    let bytes = builder.bytes;
    const reads = new Map<string, number>();
    const growing = new GrowingFile({
      size: async () => bytes.byteLength,
      read: async (offset, length) => {
        const key = `${offset} ${length}`;
        reads.set(key, (reads.get(key) ?? 0) + 1);
        return bytes.slice(offset, offset + length);
      },
    });
    const knownOf = new Map([1, 2, 3, 5].map((every) => [every, builder.offsets.at(-1)!]));
    for (let look = 1; look <= 30; look++) {
      addSegments(look % 4);
      bytes = builder.bytes;
      for (const [every, known] of knownOf) {
        if (look % every !== 0) continue;
        const { parts, tail } = (await growing.since(known))!;
        const first = builder.offsets.find((offset) => offset > known) ?? bytes.byteLength;
        const got = parts.filter(({ offset }) => offset >= first).map((part) => part.bytes);
        expect(Buffer.compare(concatBytes(got), bytes.subarray(first))).toBe(0);
        knownOf.set(every, tail);
      }
    }
    const ofSegments = builder.offsets.map(
      (offset, at) => `${offset} ${(builder.offsets[at + 1] ?? bytes.byteLength) - offset}`,
    );
    for (const key of ofSegments.slice(3)) expect(reads.get(key), key).toBe(1);
  });

  it('is whole of the newest segments only, where there is much', async () => {
    const large = new TraceBuilder({ schema: coreSchema, compression: 'none' });
    for (let at = 0; at < 40; at++) {
      const items = Array.from({ length: 8000 }, (_, index) => stage(index % 200, index % 5));
      large.segment({ frames: [frame(at * 1000, ...items)], strings: [`of ${at}`] });
    }
    const { bytes, offsets } = large;
    const { parts } = (await new GrowingFile(memorySource(bytes)).since(offsets[0]!))!;
    const isWhole = offsets.map((offset, at) => {
      const end = offsets[at + 1] ?? bytes.byteLength;
      return parts.some((part) => part.offset === offset && part.bytes.byteLength === end - offset);
    });
    const whole = isWhole.filter((one) => one).length;
    expect(isWhole.lastIndexOf(false)).toBe(40 - whole - 1);
    expect((bytes.byteLength - offsets.at(-whole)!) / (1024 * 1024)).toBeCloseTo(1, 0);
    // Of the others only headers and records.
    const isHere = (at: number): boolean =>
      parts.some(({ offset, bytes: part }) => offset <= at && at < offset + part.byteLength);
    for (const [at, offset] of offsets.entries()) {
      const places = [offset, offset + SEGMENT_HEADER_SIZE - 1, (offsets[at + 1] ?? bytes.byteLength) - 1];
      expect(places.map(isHere), `segment ${at}`).toEqual(places.map(() => at > 0));
      expect(isHere(offset + SEGMENT_HEADER_SIZE + 5000)).toBe(isWhole[at]);
    }
    for (const { offset, bytes: part } of parts)
      expect(Buffer.compare(part, bytes.subarray(offset, offset + part.byteLength)), `at ${offset}`).toBe(0);
  });

  it('is told apart from an answer that is cut', async () => {
    const encoded = concatBytes(
      encodeGrownParts((await new GrowingFile(memorySource(builder.bytes)).since(0))!),
    );
    for (let length = 0; length < encoded.byteLength; length++)
      expect(() => decodeGrownParts(encoded.subarray(0, length)), `${length} bytes`).toThrow(/FORMAT_LENGTH/);
  });

  it('is nothing of a file that is not a trace, or is cut', async () => {
    const { bytes } = builder;
    for (const damaged of [
      new Uint8Array(0),
      new Uint8Array(5000),
      bytes.subarray(0, bytes.byteLength - 200),
    ])
      await expect(new GrowingFile(memorySource(damaged)).since(0)).rejects.toThrow(/FORMAT_/);
  });
});
