/** The page is never empty: what it says, with which code and advice, in every state in which it cannot show a whole trace. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { exportView } from '../../sdk/src/cli/view/export.js';
import type { Opening, OpeningStatus } from '../../sdk/src/cli/view/server/server.js';
import { type ServedTrace, serveView } from '../../sdk/src/cli/view/server/server.js';
import { FieldType } from '../../sdk/src/format/types.js';
import { memorySource, openTrace } from '../../sdk/src/reader/index.js';
import { TraceBuilder } from '../../test/support/build-trace.js';
import { type Browser, chromiumPath, startChromium } from '../../test/support/chromium.js';
import { openView } from '../../test/support/enter-view.mjs';
import { limitOfFile, PROCESSES_MS } from '../../test/support/limits.js';
import { lacks } from '../../test/support/needs.js';
import { modelSchema, runModel } from '../../test/support/pipeline-model.js';
import { stateOf } from './support/page-hook.js';
import { chooser, served, traceOf } from './support/served.js';
import { needBuiltPage } from './support/viewer.js';

// A browser is started.
limitOfFile(PROCESSES_MS);
needBuiltPage();

const model = runModel(chooser(7), 1500);
const bytes = traceOf(model);
const rows = model.instructions.length;

/** Its flushes name no instruction, but a text. */
function contradicting(): Uint8Array {
  const schema = modelSchema();
  const events = schema.events.map((event) =>
    event.name === 'flush'
      ? { ...event, fields: event.fields.map((field) => ({ ...field, type: FieldType.STRING_REF })) }
      : event,
  );
  const frames = [{ timePs: 0n, items: [] }];
  return new TraceBuilder({ schema: { ...schema, events } }).segment({ frames }).finalize().bytes;
}

interface Message {
  readonly code: string;
  readonly what: string;
  readonly advice: string;
}

describe.skipIf(lacks('Chromium', chromiumPath))('the viewer, when something is wrong', () => {
  let browser: Browser;
  let folder: string;
  beforeAll(async () => {
    browser = await startChromium();
    folder = mkdtempSync(join(tmpdir(), 'uscope-states-'));
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const withPage = async (
    url: string,
    use: (page: Page) => Promise<void>,
    options: BrowserContextOptions & { init?: () => void } = {},
  ): Promise<void> => {
    const { init, ...context } = options;
    const page = await browser.newPage({ viewport: { width: 1000, height: 600 }, ...context });
    try {
      if (init) await page.addInitScript(init);
      await openView(page, url);
      await use(page);
    } finally {
      await page.close();
    }
  };
  const messageOf = async (page: Page, code: string): Promise<Message> => {
    const box = page.locator('.message', { has: page.locator('strong', { hasText: code }) }).first();
    await box.waitFor();
    const [what, advice] = [
      await box.locator('p').first().textContent(),
      await box.locator('.advice').textContent(),
    ];
    return { code, what: what ?? '', advice: advice ?? '' };
  };
  const drawn = (page: Page): Promise<unknown> =>
    page.waitForFunction(() => {
      const state = window.__uscope?.state();
      return state?.isSharp && state.isCounted && state.rows > 0;
    });
  const codesOf = (page: Page): Promise<string[]> =>
    page.evaluate(() => window.__uscope.problems().map(({ code }) => code));

  describe('of the trace', () => {
    const shown = async (trace: ServedTrace, code: string): Promise<Message> => {
      const server = await serveView(trace);
      let message: Message | undefined;
      await withPage(server.invite(), async (page) => {
        message = await messageOf(page, code);
      });
      await server.close();
      return message!;
    };

    it.each([
      ['no trace', Buffer.from('no trace at all\n'.repeat(100)), 'FORMAT_MAGIC', 'uscope convert'],
      ['a short text', Buffer.from('no trace at all\n'), 'FORMAT_MAGIC', 'uscope convert'],
      ['an empty file', new Uint8Array(0), 'FORMAT_TRUNCATED', 'uscope recover'],
      [
        'a trace without a cycle',
        new TraceBuilder({ schema: modelSchema() }).finalize().bytes,
        'VIEW_EMPTY',
        'uscope info',
      ],
      ['a cut trace', bytes.subarray(0, bytes.length - 3000), 'FORMAT_TRUNCATED', 'uscope recover'],
      ['a schema that contradicts its protocol', contradicting(), 'PROTOCOL_TYPE', 'uscope schema --check'],
    ])('%s', async (_, content, code, advice) => {
      expect((await shown(served(content), code)).advice).toContain(advice);
    });

    it('a damaged one: the rest is shown', async () => {
      const trace = await openTrace(memorySource(bytes));
      const { offset } = (await trace.segments())[2]!;
      const damaged = bytes.slice();
      damaged.fill(0x55, offset + 400, offset + 440);
      const server = await serveView(served(damaged));
      await withPage(server.invite(), async (page) => {
        await page.waitForSelector('.message');
        const [problem] = await page.evaluate(() => window.__uscope.problems());
        expect(problem?.code).toMatch(/^FORMAT_/);
        expect(problem?.advice).toMatch(/uscope (verify|recover)/);
        await page.waitForFunction(() => (window.__uscope.state()?.rows ?? 0) > 0);
        // Also where its index is damaged, it is counted to its end.
        await page.waitForFunction(() => window.__uscope.state()?.isCounted);
        await expect.poll(() => page.locator('.reading').textContent()).toMatch(/^no overview: /);
      });
      await server.close();
    });

    it('a damaged beginning: what is wrong, and the rows after it', async () => {
      const trace = await openTrace(memorySource(bytes));
      const { offset } = (await trace.segments())[0]!;
      const damaged = bytes.slice();
      damaged.fill(0x55, offset + 400, offset + 440);
      const server = await serveView(served(damaged));
      await withPage(server.invite(), async (page) => {
        await page.waitForSelector('.message');
        expect((await codesOf(page))[0]).toMatch(/^FORMAT_/);
        await page.waitForFunction(() => window.__uscope.state()?.isCounted);
        // What the first picture shows begins where there is something.
        await page.waitForFunction(() => (window.__uscope.state()?.view.x ?? 0) > 10);
        expect(await page.evaluate(() => window.__uscope.state()!.rows)).toBeGreaterThan(rows / 2);
      });
      await server.close();
    });

    it('a file that is replaced by another one: reloading shows that one', async () => {
      let current = served(bytes);
      const server = await serveView({
        name: 'model.uscope',
        size: () => current.size(),
        read: (offset, length) => current.read(offset, length),
        version: () => current.version(),
      });
      await withPage(server.invite(), async (page) => {
        await drawn(page);
        current = served(traceOf(runModel(chooser(8), 900)));
        await page.reload();
        await page.waitForFunction((before) => {
          const now = window.__uscope?.state()?.rows ?? 0;
          return now > 0 && now < before;
        }, rows);
      });
      await server.close();
    });
  });

  describe('of the server', () => {
    let site: Site;
    beforeAll(async () => {
      await exportView(join(folder, 'site'));
      site = await Site.start(join(folder, 'site'), bytes);
    });
    afterEach(() => {
      site.policy = null;
    });
    afterAll(() => site?.close());
    const at = (trace: string): string => `${site.url}index.html?trace=${encodeURIComponent(trace)}`;

    it.each([
      [404, 'READER_HTTP_STATUS', 'address'],
      [403, 'READER_HTTP_STATUS', 'lets you read'],
      [500, 'READER_HTTP_STATUS', 'address'],
      [503, 'READER_HTTP_STATUS', 'address'],
    ])('answers %i', async (status, code, advice) => {
      await withPage(at(`status/${status}`), async (page) => {
        const message = await messageOf(page, code);
        expect(message.what).toContain(String(status));
        expect(message.advice).toContain(advice);
      });
    });

    it('serves no parts: the whole trace is fetched, with a note', async () => {
      await withPage(at('whole.uscope'), async (page) => {
        await drawn(page);
        expect((await messageOf(page, 'VIEW_DOWNLOAD')).advice).toContain('range requests');
        expect((await stateOf(page)).rows).toBe(rows);
      });
    });

    it('of another origin does not allow this page to read (CORS)', async () => {
      const other = await Site.start(join(folder, 'site'), bytes);
      await withPage(at(`${other.url}trace.uscope`), async (page) => {
        const message = await messageOf(page, 'READER_OPEN');
        expect(message.advice).toContain('Access-Control-Allow-Origin');
      });
      await other.close();
    });

    it('has ended while the page was open', async () => {
      const long = traceOf(runModel(chooser(7), 6000));
      // The page has to come back for the middle of it.
      const gone = await Site.start(join(folder, 'site'), long, 250_000);
      await withPage(`${gone.url}index.html?trace=trace.uscope`, async (page) => {
        const message = await messageOf(page, 'READER_OPEN');
        expect(message.advice).toContain('Check that the server is running');
      });
    });

    it('is shown to be asked: something is on the page meanwhile', async () => {
      await withPage(at('slow.uscope'), async (page) => {
        await page.locator('.loading', { hasText: 'slow.uscope' }).waitFor();
        await drawn(page);
        await expect.poll(() => page.locator('.loading').count()).toBe(0);
      });
    });

    it('has a policy that forbids threads: slower, but all of it', async () => {
      site.policy = "worker-src 'none'; script-src 'self' 'wasm-unsafe-eval'";
      await withPage(at('trace.uscope'), async (page) => {
        await drawn(page);
        expect((await messageOf(page, 'VIEW_SLOW')).what).toContain('start threads');
        await page.evaluate(() => window.__uscope.run({ do: 'goRow', row: 900 }));
        await page.waitForFunction(() => window.__uscope.state()!.selectedRow === 900);
        // The row is selected before its block is read, which takes its time here.
        const described = () => page.evaluate(() => window.__uscope.describe(900));
        await expect.poll(described, { timeout: 15_000 }).toMatchObject({ row: 900 });
        expect((await stateOf(page)).rows).toBe(rows);
        expect(await codesOf(page)).toEqual(['VIEW_SLOW']);
      });
    });

    it.each(["script-src 'self'", "worker-src 'none'; script-src 'self'"])(
      'has the policy %s, which forbids WebAssembly: the page says so',
      async (policy) => {
        site.policy = policy;
        await withPage(at('trace.uscope'), async (page) => {
          expect((await messageOf(page, 'ENV_KERNEL')).advice).toContain('wasm-unsafe-eval');
        });
      },
    );

    it('allows no scripts: the text of the page says so', async () => {
      site.policy = "script-src 'none'";
      await withPage(at('trace.uscope'), async (page) => {
        await expect.poll(() => page.textContent('.static')).toContain('VIEW_BROWSER');
      });
    });

    it('is dropped on the page, which says that it may be', async () => {
      await withPage(at('trace.uscope'), async (page) => {
        await drawn(page);
        const transfer = await page.evaluateHandle(() => {
          const made = new DataTransfer();
          made.items.add(new File(['no trace'], 'notes.txt'));
          return made;
        });
        const isOffered = () => page.evaluate(() => document.body.classList.contains('dropping'));
        await page.dispatchEvent('canvas.rows', 'dragover', { dataTransfer: transfer });
        expect(await isOffered()).toBe(true);
        await page.dispatchEvent('canvas.rows', 'dragleave');
        expect(await isOffered()).toBe(false);
        await page.dispatchEvent('canvas.rows', 'dragover', { dataTransfer: transfer });
        await page.dispatchEvent('canvas.rows', 'drop', { dataTransfer: transfer });
        expect(await isOffered()).toBe(false);
        await messageOf(page, 'FORMAT_MAGIC');
      });
    });

    it('is the disk: a dropped file is shown', async () => {
      await withPage(pathToFileURL(join(folder, 'site/index.html')).href, async (page) => {
        await page.setInputFiles('input[type=file]', {
          name: 'dropped.uscope',
          mimeType: 'application/octet-stream',
          buffer: Buffer.from(bytes),
        });
        await drawn(page);
        expect((await stateOf(page)).rows).toBe(rows);
        expect((await messageOf(page, 'VIEW_SLOW')).advice).toContain('uscope view FILE');
      });
    });
  });

  describe('of the conversion', () => {
    const converting: OpeningStatus = { state: 'converting', format: 'Kanata 0004', part: 0.25 };
    const withOpening = async (
      use: (
        page: Page,
        opening: { status: OpeningStatus; made: ServedTrace | null },
        end: () => Promise<void>,
      ) => Promise<void>,
    ) => {
      const now: { status: OpeningStatus; made: ServedTrace | null } = { status: converting, made: null };
      const opening: Opening = { name: 'log.kanata', status: () => now.status, trace: () => now.made };
      const server = await serveView(opening);
      await withPage(server.invite(), (page) => use(page, now, () => server.close()));
      await server.close();
    };

    it('under way: how far it is; then the trace', async () => {
      await withOpening(async (page, now) => {
        await page.locator('progress.long').waitFor();
        await expect.poll(() => page.textContent('main.welcome')).toMatch(/log\.kanata.*Kanata 0004.*25 %/);
        now.made = served(bytes, 'log.kanata');
        now.status = { state: 'ready', isCut: true };
        await drawn(page);
        expect((await messageOf(page, 'CONVERT_TRUNCATED')).what).toContain('ends early');
      });
    });

    it('failed', async () => {
      await withOpening(async (page, now) => {
        now.status = { state: 'failed', code: 'CONVERT_FORMAT', what: 'line 7: no such record' };
        const message = await messageOf(page, 'CONVERT_FORMAT');
        expect(message.what).toContain('line 7');
        expect(message.advice).toContain('uscope info');
      });
    });

    it('whose command was ended', async () => {
      await withOpening(async (page, _, end) => {
        await page.locator('progress.long').waitFor();
        await end();
        expect((await messageOf(page, 'VIEW_LOST')).advice).toContain('uscope view');
      });
    });
  });

  describe('of the browser', () => {
    const url = async (use: (url: string) => Promise<void>) => {
      const server = await serveView(served(bytes));
      await use(server.invite());
      await server.close();
    };

    it('is too old', () =>
      url((address) =>
        withPage(
          address,
          async (page) => {
            const message = await messageOf(page, 'VIEW_BROWSER');
            expect(message.what).toContain('OffscreenCanvas');
            expect(message.advice).toContain('current Chrome');
          },
          { init: () => Reflect.deleteProperty(window, 'OffscreenCanvas') },
        ),
      ));

    it('lets nothing be stored: it works, and says so when something should be', () =>
      url((address) =>
        withPage(
          address,
          async (page) => {
            await drawn(page);
            expect(await codesOf(page)).toEqual([]);
            await page.keyboard.press('t');
            expect((await messageOf(page, 'VIEW_STORAGE')).advice).toContain('address');
          },
          {
            init: () =>
              Object.defineProperty(window, 'localStorage', {
                get: () => {
                  throw new DOMException('denied', 'SecurityError');
                },
              }),
          },
        ),
      ));

    it('takes the canvas away and gives it back', () =>
      url((address) =>
        withPage(address, async (page) => {
          await drawn(page);
          const drawing = page.workers().find((worker) => worker.url().endsWith('drawing.js'))!;
          const say = (type: string): Promise<unknown> =>
            drawing.evaluate((name) => {
              const { canvas } = (globalThis as unknown as { __uscope: { canvas: OffscreenCanvas } })
                .__uscope;
              canvas.dispatchEvent(new Event(name));
            }, type);
          const { frame } = await stateOf(page);
          await say('contextlost');
          expect((await messageOf(page, 'VIEW_CANVAS')).advice).toContain('draws again');
          await say('contextrestored');
          await page.waitForFunction((before) => window.__uscope.state()!.frame > before, frame);
          expect(await codesOf(page)).toEqual([]);
        }),
      ));
  });
});

/** A plain web server with the exported page and a trace, which misbehaves on request. */
class Site {
  policy: string | null = null;
  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** @param maxBytes of the trace that are sent; then the connection is cut */
  static async start(
    directory: string,
    trace: Uint8Array,
    maxBytes = Number.POSITIVE_INFINITY,
  ): Promise<Site> {
    let self: Site | null = null;
    let sent = 0;
    const server = createServer((request, response) => {
      if (self?.policy) response.setHeader('content-security-policy', self.policy);
      const path = new URL(request.url ?? '/', 'http://localhost').pathname.slice(1);
      const status = /^status\/(\d+)$/.exec(path)?.[1];
      if (status) return void response.writeHead(Number(status)).end();
      if (!path.endsWith('.uscope')) return sendFile(directory, path, response);
      const range = path === 'whole.uscope' ? null : /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
      const part = range ? trace.subarray(Number(range[1]), Number(range[2]) + 1) : trace;
      sent += part.length;
      if (sent > maxBytes) return void request.socket.destroy();
      setTimeout(
        () => sendPart(response, part, range && Number(range[1]), trace.length),
        path === 'slow.uscope' ? 600 : 0,
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    self = new Site(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    return self;
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }
}

function sendPart(response: ServerResponse, part: Uint8Array, start: number | null, total: number): void {
  if (start !== null)
    response.setHeader('content-range', `bytes ${start}-${start + part.length - 1}/${total}`);
  response.writeHead(start === null ? 200 : 206, { 'content-length': part.length }).end(part);
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
};

function sendFile(directory: string, path: string, response: ServerResponse): void {
  try {
    const body = readFileSync(join(directory, path));
    response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' }).end(body);
  } catch {
    response.writeHead(404).end();
  }
}
