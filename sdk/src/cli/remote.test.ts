import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { add, coreSchema, frame, stage, TraceBuilder } from '../../../test/support/build-trace.js';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { type RangeServer, startRangeServer } from '../../../test/support/range-server.js';
import { type CliResult, runUscope } from '../../../test/support/run-cli.js';

// Whole files are read through a server.
limitOfFile(MANY_CASES_MS);

const SEGMENTS = 300;
const FRAMES = 500;

/** One event and one counted instruction per ns, without buffers stored dense, whose states look back over many segments. */
function bigTrace(): Uint8Array {
  const storages = coreSchema.storages.map((storage) =>
    storage.flags === 2 ? { ...storage, flags: 0 } : storage,
  );
  const builder = new TraceBuilder({ schema: { ...coreSchema, storages } });
  for (let segment = 0; segment < SEGMENTS; segment++) {
    const frames = Array.from({ length: FRAMES }, (_, i) =>
      frame(1000 * (segment * FRAMES + i), stage(i % 16, 0), add(3, 0, 0, 1)),
    );
    builder.segment({ frames });
  }
  return builder.finalize().bytes;
}

const bytes = bigTrace();
let server: RangeServer;
beforeAll(async () => {
  server = await startRangeServer(bytes);
});
beforeEach(() => server.reset());
afterAll(() => server.close());

const run = (...args: string[]): Promise<CliResult> => runUscope(args);

describe('uscope with a URL instead of a file', () => {
  it('info reads a small part of the file', async () => {
    const { status, out } = await run('info', server.url, '--json');
    expect(status).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ segments: SEGMENTS, frames: null });
    expect(server.sent).toBeLessThan(bytes.byteLength / 40);
    expect((await run('info', server.url)).out).toMatch(/frames +not counted over the network/);
  });

  it('info --count reads all of it, about once', async () => {
    const { out } = await run('info', server.url, '--count', '--json');
    expect(JSON.parse(out)).toMatchObject({ frames: SEGMENTS * FRAMES, items: 2 * SEGMENTS * FRAMES });
    expect(server.sent).toBeLessThan(bytes.byteLength * 1.5);
  });

  it('state reads a small part of the file', async () => {
    const { out } = await run('state', server.url, '--at', '100us', '--storage', 'retired', '--json');
    expect(JSON.parse(out).storages[0].slots[0].fields).toEqual({ count: '100001' });
    expect(server.sent).toBeLessThan(bytes.byteLength / 20);
  });

  it('events reads what a range needs', async () => {
    const { out } = await run('events', server.url, '--from', '50us', '--to', '50010ns', '--json');
    expect(out.trimEnd().split('\n')).toHaveLength(10);
    expect(server.sent).toBeLessThan(bytes.byteLength / 20);
  });

  it('what is not there is a failure with code and URL, without credentials: status 1', async () => {
    server.intercept = (_, response) => {
      response.writeHead(404).end();
      return true;
    };
    const { status, err } = await run('info', server.url.replace('//', '//me:secret@'));
    server.intercept = null;
    expect(status).toBe(1);
    expect(err).toMatch(
      /^uscope: READER_HTTP_STATUS: the server answered 404 .*\(http:\/\/127\.0\.0\.1:\d+\/trace\.uscope\)\n$/,
    );
  });
});
