import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { add, coreSchema, frame, stage, TraceBuilder } from '../../../test/support/build-trace.js';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { type RangeServer, startRangeServer } from '../../../test/support/range-server.js';
import { httpSource, httpVersion, isHttpUrl, openTrace, type Trace } from './index.js';
import { openTraceFile } from './node.js';

// Servers are waited for.
limitOfFile(MANY_CASES_MS);

const SEGMENTS = 400;
const FRAMES = 500;

/** About 6 MB in 400 segments: event `stage_transition` in each frame, one frame each 1000 ps. */
function bigTrace(): Uint8Array {
  // Buffers stored without a mask would make each state look back over many segments.
  const storages = coreSchema.storages.map((s) => (s.flags === 2 ? { ...s, flags: 0 } : s));
  const builder = new TraceBuilder({ schema: { ...coreSchema, storages }, compression: 'none' });
  for (let segment = 0; segment < SEGMENTS; segment++) {
    const frames = Array.from({ length: FRAMES }, (_, i) =>
      frame(1000 * (segment * FRAMES + i), stage(i % 16, 0), add(3, 0, 0, 1)),
    );
    builder.segment({ frames });
  }
  return builder.finalize().bytes;
}

const big = bigTrace();
let server: RangeServer;
const traces: Trace[] = [];

beforeEach(async () => {
  server = await startRangeServer(big);
});
afterEach(async () => {
  for (const trace of traces.splice(0)) await trace.close();
  await server.close();
});

async function open(options: Parameters<typeof httpSource>[1] = {}): Promise<Trace> {
  const trace = await openTrace(httpSource(server.url, options));
  traces.push(trace);
  return trace;
}

async function countEvents(trace: Trace, from?: number, to?: number): Promise<number> {
  let events = 0;
  for await (const _ of trace.events(from, to)) events++;
  return events;
}

/** A server that answers everything with a status. */
function refuse(status: number, headers: Record<string, string> = {}): void {
  server.intercept = (_, response) => {
    response.writeHead(status, headers).end('no');
    return true;
  };
}

describe('a trace on a web server', () => {
  it('is opened with a few requests and asked for a state with a small part of its bytes', async () => {
    const trace = await open();
    expect([trace.isComplete, trace.segmentCount]).toEqual([true, SEGMENTS]);
    const state = await trace.stateAt(100_000_500);
    expect(state.slotField('retired', 0, 'count')).toBe(100_001n);
    expect(server.requests.length).toBeLessThanOrEqual(10);
    expect(server.sent).toBeLessThan(big.byteLength / 20);
  });

  it('gives the same as the file in memory, in a scan from end to end, and fetches each byte about once', async () => {
    const trace = await open();
    expect(await countEvents(trace)).toBe(SEGMENTS * FRAMES);
    expect(server.sent).toBeLessThan(big.byteLength * 1.1);
    // Reading on and on asks for more with each request.
    expect(server.requests.length).toBeLessThan(SEGMENTS / 4);
  });

  it('keeps no more than its bound, and fetches again what it has dropped', async () => {
    const trace = await open({ cacheBytes: 64 * 1024 });
    expect(await countEvents(trace, 0, 1_000_000)).toBe(1000);
    expect(await countEvents(trace, 50_000_000, 60_000_000)).toBe(10_000);
    server.reset();
    expect(await countEvents(trace, 0, 1_000_000)).toBe(1000);
    expect(server.requests.length).toBeGreaterThan(0);
  });

  it('is fetched once when several ask for the same at a time', async () => {
    const source = httpSource(server.url);
    await source.size();
    server.reset();
    const parts = await Promise.all([1, 2, 3, 4].map(() => source.read(1_000_000, 5000)));
    expect(parts.every((part) => Buffer.compare(part, big.subarray(1_000_000, 1_005_000)) === 0)).toBe(true);
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    [0, 1],
    [4095, 2],
    [4096, 4096],
    [100, 300_000],
    [5_000_001, 1_500_000],
    [big.byteLength - 10, 10],
    [big.byteLength - 10, 100],
    [big.byteLength, 10],
  ])('bytes from %i on, %i of them', async (offset, length) => {
    const source = httpSource(server.url);
    for (const _ of ['fetched', 'kept']) {
      const bytes = await source.read(offset, length);
      expect(Buffer.compare(bytes, big.subarray(offset, offset + length))).toBe(0);
    }
  });

  it('a server that limits what it sends at a time is asked for the rest', async () => {
    server.maxPart = 1000;
    const source = httpSource(server.url);
    expect(Buffer.compare(await source.read(10_000, 10_000), big.subarray(10_000, 20_000))).toBe(0);
  });

  it('is opened by its URL like a file, with native decompression', async () => {
    expect([isHttpUrl(server.url), isHttpUrl('HTTPS://x/y'), isHttpUrl('http/core0.uscope')]).toEqual([
      true,
      true,
      false,
    ]);
    const trace = await openTraceFile(server.url);
    traces.push(trace);
    expect(trace.segmentCount).toBe(SEGMENTS);
  });

  it('credentials in the URL are sent, and not printed', async () => {
    refuse(403);
    const url = server.url.replace('//', '//me:pa%40ss@');
    await expect(openTrace(httpSource(url))).rejects.toThrow(/^http:\/\/127[^@]*READER_HTTP_STATUS[^@]*403/);
    expect(server.authorizations[0]).toBe(`Basic ${btoa('me:pa@ss')}`);
  });
});

describe('a file that changes on the server', () => {
  it('is asked for under the condition that it is still the same', async () => {
    const trace = await open();
    await trace.stateAt(0);
    expect([server.ifRanges[0], server.ifRanges.at(-1)]).toEqual([undefined, '"1"']);
  });

  it.each<[string, () => void]>([
    ['by its ETag', () => Object.assign(server, { etag: '"2"' })],
    [
      'by an ETag of a server that ignores If-Range',
      () => Object.assign(server, { etag: '"2"', conditions: false }),
    ],
    ['by its size', () => Object.assign(server, { etag: null, bytes: big.subarray(0, big.byteLength - 8) })],
    [
      'by a size that leaves nothing to send',
      () => Object.assign(server, { etag: null, bytes: big.subarray(0, 100) }),
    ],
  ])('is an error once the trace is known to be finalized: noticed %s', async (_, change) => {
    const trace = await open();
    change();
    const failed = await trace.stateAt(100_000_000).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 'READER_CHANGED', place: { file: server.url } });
  });

  it('weak ETags are compared but not sent as a condition; Last-Modified is', async () => {
    Object.assign(server, { etag: 'W/"1"', lastModified: 'Wed, 21 Oct 2026 07:28:00 GMT' });
    const trace = await open();
    await trace.stateAt(0);
    expect(server.ifRanges.at(-1)).toBe(server.lastModified);
    server.etag = 'W/"2"';
    await expect(trace.stateAt(100_000_000)).rejects.toMatchObject({ code: 'READER_CHANGED' });
  });
});

describe('the version of a file', () => {
  it.each<[string, () => void]>([
    ['its ETag', () => Object.assign(server, { etag: '"2"' })],
    ['its size', () => Object.assign(server, { bytes: big.subarray(0, 1000) })],
  ])('is recognized by %s, in one small request', async (_, change) => {
    const before = await httpVersion(server.url);
    expect(await httpVersion(server.url)).toBe(before);
    expect(server.sent).toBe(2);
    change();
    expect(await httpVersion(server.url)).not.toBe(before);
    refuse(404);
    await expect(httpVersion(server.url)).rejects.toMatchObject({ code: 'READER_HTTP_STATUS' });
  });

  it('is recognized by the whole file without reading it, where the server sends no parts', async () => {
    Object.assign(server, { ranges: false, etag: null });
    expect(await httpVersion(server.url)).toContain(String(big.byteLength));
  });
});

describe('a trace that grows on the server', () => {
  it('is followed by poll into its finalization, whatever its ETag does', async () => {
    const builder = new TraceBuilder({ schema: coreSchema });
    const publish = () =>
      Object.assign(server, { bytes: builder.bytes.slice(), etag: `"${builder.bytes.byteLength}"` });
    publish();
    const trace = await open();
    expect([trace.isComplete, trace.segmentCount]).toEqual([false, 0]);
    builder.segment({ frames: [frame(0, stage(1, 0))] });
    publish();
    expect(await trace.poll()).toMatchObject({ newSegments: 1, finalized: false });
    expect(await countEvents(trace)).toBe(1);
    builder.segment({ frames: [frame(1000, stage(1, 1))], uncommitted: true });
    publish();
    expect(await trace.poll()).toMatchObject({ newSegments: 0, finalized: false });
    const frames = Array.from({ length: 2000 }, (_, i) => frame(2000 + i, add(3, 0, 0, 1)));
    builder.segment({ frames }).finalize();
    publish();
    expect(await trace.poll()).toMatchObject({ finalized: true });
    server.etag = '"other"';
    await expect(trace.stateAt(4000)).rejects.toMatchObject({
      code: 'READER_CHANGED',
    });
  });
});

describe('a server that does not serve parts', () => {
  it('has the file fetched whole, once', async () => {
    server.ranges = false;
    const trace = await open();
    expect(await countEvents(trace, 0, 10_000_000)).toBe(10_000);
    expect(server.sent).toBe(big.byteLength);
  });

  it.each([true, false])('is an error above a bound (length stated: %s)', async (stated) => {
    let written = 0;
    server.intercept = (_, response) => {
      response.writeHead(200, stated ? { 'content-length': big.byteLength } : {});
      const more = (): void => {
        while (written < big.byteLength) {
          const chunk = big.subarray(written, written + 65_536);
          written += chunk.byteLength;
          if (!response.write(chunk)) return;
        }
        response.end();
      };
      response.on('drain', more);
      more();
      return true;
    };
    await expect(open({ maxDownloadBytes: 100_000 })).rejects.toMatchObject({
      code: 'READER_HTTP_RANGES',
      detail: expect.stringMatching(
        /^the server does not answer range requests, and the file has (\d+ bytes; at most 100000|more than the 100000 bytes that) are fetched whole; use another server, or download the file$/,
      ),
    });
  });

  it('a growing file is fetched again for each poll', async () => {
    server.ranges = false;
    const builder = new TraceBuilder({ schema: coreSchema });
    server.bytes = builder.bytes.slice();
    const trace = await open();
    builder.segment({ frames: [frame(0, stage(1, 0))] });
    server.bytes = builder.bytes.slice();
    expect(await trace.poll()).toMatchObject({ newSegments: 1 });
    expect(await countEvents(trace)).toBe(1);
  });
});

describe('a server in trouble', () => {
  it.each([
    [404, /404 .*no such file/],
    [401, /401 .*credentials/],
    [500, /500 .*try again later/],
  ])('status %i says what to do', async (status, text) => {
    refuse(status);
    await expect(open()).rejects.toThrow(text);
    await expect(open()).rejects.toMatchObject({ code: 'READER_HTTP_STATUS', place: { file: server.url } });
  });

  it('an empty file is a truncated trace', async () => {
    server.bytes = new Uint8Array(0);
    await expect(open()).rejects.toMatchObject({ code: 'FORMAT_TRUNCATED' });
  });

  it('a server that is not there is an error with the reason', async () => {
    await server.close();
    await expect(open()).rejects.toThrow(/READER_OPEN: the server cannot be reached: .*ECONNREFUSED/);
  });

  it('a server that says nothing is given up after a while', async () => {
    server.intercept = () => true;
    await expect(open({ timeoutMs: 50 })).rejects.toMatchObject({
      code: 'READER_HTTP_TIMEOUT',
      detail: expect.stringContaining('50 ms'),
    });
  });

  it('a server that stops in the middle of a body is given up too, one that is only slow is not', async () => {
    let chunks = 0;
    server.intercept = (_, response) => {
      response.writeHead(206, {
        'content-range': `bytes 0-65535/${big.byteLength}`,
        'content-length': 65536,
      });
      const timer = setInterval(() => {
        response.write(big.subarray(chunks * 8192, ++chunks * 8192));
        if (chunks === 8) response.end();
        if (chunks >= 8) clearInterval(timer);
      }, 300);
      return true;
    };
    const source = httpSource(server.url, { timeoutMs: 2000 });
    expect(await source.size()).toBe(big.byteLength);
    server.intercept = (_, response) => {
      response.writeHead(206, { 'content-range': `bytes 65536-69631/${big.byteLength}` });
      response.write('x');
      return true;
    };
    await expect(source.read(65536, 100)).rejects.toMatchObject({ code: 'READER_HTTP_TIMEOUT' });
  });

  it('is not asked again by a source that was closed while it waited', async () => {
    const source = httpSource(server.url);
    await source.read(0, 16);
    const before = server.requests.length;
    const asked = new Promise<void>((resolve) => {
      server.intercept = () => {
        resolve();
        return true;
      };
    });
    const reading = source.read(big.byteLength - 16, 16);
    await asked;
    await source.close!();
    await expect(reading).rejects.toMatchObject({ code: 'READER_OPEN' });
    expect(server.requests.length).toBe(before + 1);
  });

  it('one that has answered is asked again when it fails for a moment, or breaks off', async () => {
    const source = httpSource(server.url);
    await source.size();
    let failures = 0;
    server.intercept = (request, response) => {
      if (failures++ === 0) response.writeHead(503).end();
      else if (failures === 2) request.socket.destroy();
      else return false;
      return true;
    };
    expect(Buffer.compare(await source.read(70_000, 100), big.subarray(70_000, 70_100))).toBe(0);
    expect(failures).toBe(3);
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ['no Content-Range', {}, /Content-Range.*Access-Control-Expose-Headers/],
    [
      'other bytes than asked for',
      { 'content-range': 'bytes 7-8/100' },
      /bytes 7 to 9 of 100 when asked for 0/,
    ],
    ['more bytes than the file has', { 'content-range': 'bytes 0-9/5' }, /bytes 0 to 10 of 5/],
    ['a size no file has', { 'content-range': 'bytes 0-1/99999999999999999999' }, /READER_HTTP_RANGES/],
    ['an encoded part', { 'content-range': 'bytes 0-1/100', 'content-encoding': 'gzip' }, /encodes.*gzip/],
  ])('%s: an error, not a trace', async (_, headers, text) => {
    refuse(206, headers);
    await expect(open()).rejects.toThrow(text);
    await expect(open()).rejects.toMatchObject({ code: 'READER_HTTP_RANGES' });
  });

  it.each([100, 1])('a body of another length than announced (%i)', async (last) => {
    refuse(206, { 'content-range': `bytes 0-${last - 1}/1000` });
    await expect(open()).rejects.toMatchObject({
      code: 'READER_HTTP_STATUS',
      detail: expect.stringContaining(`announced ${last} bytes`),
    });
  });

  it.each(['ftp://host/a.uscope', 'http://', 'core0.uscope', 'http://%zz@host/a'])(
    '%s is not an address',
    (url) => {
      expect(() => httpSource(url)).toThrow(/READER_OPEN/);
    },
  );
});
