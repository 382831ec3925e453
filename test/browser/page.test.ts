import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startServer } from '../../examples/browser/server.mjs';
import { add, coreSchema, frame, set, stage, TraceBuilder } from '../support/build-trace.js';
import { type Browser, chromiumPath, startChromium } from '../support/chromium.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { lacks } from '../support/needs.js';
import { type RangeServer, startRangeServer } from '../support/range-server.js';
import { zstdForTests } from '../support/zstd.js';

// A browser is started.
limitOfFile(PROCESSES_MS);

const library = fileURLToPath(new URL('../../sdk/dist/reader/http.js', import.meta.url));
if (!existsSync(library)) throw new Error('the SDK is not built: run npm run build first');

const SEGMENTS = 200;
const FRAMES = 500;

type Compression = 'lz4' | 'zstd';

/** One event and one retired instruction per ns. */
function build(compression: Compression): TraceBuilder {
  // Buffers stored without a mask would make each state look back over many segments.
  const storages = coreSchema.storages.map((s) => (s.flags === 2 ? { ...s, flags: 0 } : s));
  const schema = { ...coreSchema, storages };
  const dut = [['dut_name', 'page']] as const;
  const compress = compression === 'zstd' ? { compress: zstdForTests!.compress } : {};
  const builder = new TraceBuilder({ schema, dut, compression, ...compress });
  builder.segment({ frames: [frame(0, set(0, 3, 1, 0x8000_0000), stage(3, 0), add(3, 0, 0, 1))] });
  for (let segment = 0; segment < SEGMENTS; segment++) {
    const frames = Array.from({ length: FRAMES }, (_, i) => {
      const n = segment * FRAMES + i + 1;
      return frame(1000 * n, stage((n * n) % 16, n % 5), add(3, 0, 0, 1));
    });
    builder.segment({ frames });
  }
  return builder;
}

describe.skipIf(lacks('Chromium', chromiumPath))('the reader in a page', () => {
  const lz4 = build('lz4').finalize().bytes;
  let browser: Browser;
  let context: BrowserContext;
  let directory: string;
  let trace: string;
  let site: Awaited<ReturnType<typeof startServer>>;
  let page: Page;
  let modulePage: Page;
  let consoleErrors: string[];
  let fetched: number;

  beforeAll(async () => {
    browser = await startChromium();
    context = await browser.newContext();
    directory = await mkdtemp(join(tmpdir(), 'uscope-page-'));
    trace = join(directory, 'trace.uscope');
    site = await startServer({ trace });
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
    await rm(directory, { recursive: true, force: true });
  });

  beforeEach(async () => {
    await writeFile(trace, lz4);
    page = await context.newPage();
    consoleErrors = [];
    fetched = 0;
    page.on('console', (message) => message.type() === 'error' && consoleErrors.push(message.text()));
    page.on('pageerror', (error) => consoleErrors.push(String(error)));
    page.on('response', (response) => {
      if (response.url().endsWith('/trace.uscope')) fetched += Number(response.headers()['content-length']);
    });
  });
  afterEach(() => page.close());

  const text = (id: string) => page.locator(id).textContent();
  const shows = (id: string, wanted: string) =>
    page.locator(id, { hasText: wanted }).waitFor({ timeout: 60_000 });

  it('opens a trace over HTTP: info, state and events, from a small part of its bytes', async () => {
    await page.goto(site.url);
    await shows('#events', 'stage_transition');
    expect(await text('#info')).toMatch(/dut_name\s*page[\s\S]*clock/);
    expect(await text('#info')).toMatch(new RegExp(`segments${SEGMENTS + 1}`));
    expect(await text('#state')).toMatch(/entities1 of 12\[3\] .*pc=2147483648/);

    await page.fill('#time', '50000999');
    await page.click('#state-form button');
    await shows('#state', 'count=50001');
    await page.fill('#from', '70000000');
    await page.click('#events-form button');
    await shows('#events', '70000000 ps');

    expect(await text('#problem')).toBe('');
    expect(consoleErrors).toEqual([]);
    expect(fetched).toBeGreaterThan(0);
    expect(fetched).toBeLessThan(lz4.byteLength / 3);
  });

  it('opens a file that the user chose', async () => {
    await page.goto(site.url);
    await shows('#events', 'stage_transition');
    const chosen = new TraceBuilder({ schema: coreSchema, compression: 'lz4', dut: [['dut_name', 'chosen']] })
      .segment({ frames: [frame(0, stage(1, 2), add(3, 0, 0, 7))] })
      .finalize().bytes;
    await page.setInputFiles('#file', {
      name: 'chosen.uscope',
      mimeType: 'application/octet-stream',
      buffer: Buffer.from(chosen),
    });
    await shows('#info', 'chosen');
    await shows('#state', 'count=7');
    expect(await text('#problem')).toBe('');
  });

  it('follows a trace that grows on the server into its finalization', async () => {
    const builder = new TraceBuilder({ schema: coreSchema, compression: 'lz4' });
    await writeFile(trace, builder.segment({ frames: [frame(0, stage(1, 0))] }).bytes);
    await page.goto(site.url);
    await shows('#info', 'being written');
    await writeFile(trace, builder.segment({ frames: [frame(1000, stage(1, 1))] }).bytes);
    await shows('#info', '1001 ps');
    await writeFile(trace, builder.finalize().bytes);
    await shows('#info', 'complete');
    expect(await text('#problem')).toBe('');
  });

  it('says what is wrong with a trace, with code and offset', async () => {
    await page.goto(site.url);
    await shows('#info', 'complete');
    await page.setInputFiles('#file', {
      name: 'cut.uscope',
      mimeType: 'application/octet-stream',
      buffer: Buffer.from(lz4.subarray(0, 700)),
    });
    await shows('#problem', 'cut.uscope at offset');
    expect(await text('#problem')).toMatch(/FORMAT_TRUNCATED/);
    await page.fill('#url', 'nothing.uscope');
    await page.click('#from-url button');
    await shows('#problem', 'READER_HTTP_STATUS: the server answered 404');
  });

  describe('as a module', () => {
    /** Runs a function's body in the page, with everything `uscope/reader` exports as `uscope`. */
    const evaluate = <T>(body: string): Promise<T> =>
      modulePage.evaluate(`(async () => { const uscope = await import('uscope/reader'); ${body} })()`);

    beforeAll(async () => {
      modulePage = await context.newPage();
      const decompress = (frame: number[]) => [...zstdForTests!.decompress(Buffer.from(frame))];
      await modulePage.exposeFunction('zstdOfNode', decompress);
      await modulePage.goto(site.url);
    });

    it('scans a whole trace with the LZ4 decoder in TypeScript', async () => {
      const counts = await evaluate(`
        const trace = await uscope.openTrace(uscope.httpSource('trace.uscope'));
        let events = 0, ops = 0;
        await trace.scan({}, { op: () => { ops++; }, event: () => { events++; } });
        return { events, ops };`);
      expect(counts).toEqual({ events: SEGMENTS * FRAMES + 1, ops: SEGMENTS * FRAMES + 2 });
    });

    it.skipIf(lacks('zstd-napi or Node 22.15', zstdForTests))(
      'reads ZSTD with a decompressor given to it, and says so without one',
      async () => {
        await writeFile(trace, build('zstd').finalize().bytes);
        const [without, count] = await evaluate<[string, string]>(`
        const source = () => uscope.httpSource('trace.uscope');
        const plain = await uscope.openTrace(source());
        const failure = await plain.stateAt(0).then(() => 'read', (error) => error.message);
        const zstd = async (frame) => new Uint8Array(await zstdOfNode([...frame]));
        const trace = await uscope.openTrace(source(), { codec: { zstd } });
        const state = await trace.stateAt(99_999_999);
        return [failure, String(state.slotField('retired', 0, 'count'))];`);
        expect(without).toMatch(/READER_COMPRESSION: .*ZSTD.*codec/);
        expect(count).toBe('100000');
      },
    );

    describe('from another origin', () => {
      let other: RangeServer;
      beforeEach(async () => {
        other = await startRangeServer(lz4);
      });
      afterEach(() => other.close());

      const open = () =>
        evaluate<string>(`
          try {
            const trace = await uscope.openTrace(uscope.httpSource('${other.url}'));
            return String((await trace.stateAt(50_000_999)).slotField('retired', 0, 'count'));
          } catch (error) { return error.message; }`);

      it('works where the server allows it', async () => {
        other.intercept = (request, response) => {
          response.setHeader('access-control-allow-origin', '*');
          response.setHeader('access-control-allow-headers', 'Range, If-Range');
          response.setHeader('access-control-expose-headers', 'Content-Range, ETag');
          if (request.method !== 'OPTIONS') return false;
          response.writeHead(204).end();
          return true;
        };
        expect(await open()).toBe('50001');
      });

      it('says which headers are missing where it does not', async () => {
        expect(await open()).toMatch(/READER_OPEN: .*CORS/);
        other.intercept = (_, response) => {
          response.setHeader('access-control-allow-origin', '*');
          return false;
        };
        expect(await open()).toMatch(/READER_HTTP_RANGES: .*Access-Control-Expose-Headers/);
      });
    });
  });
});
