/** The server of `uscope view`: ranges, versions, what it refuses, what it allows the page. */
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { coreSchema, TraceBuilder } from '../../../../../test/support/build-trace.js';
import { type Entered, enter } from '../../../../../test/support/enter-view.mjs';
import { limitOfFile, PROCESSES_MS } from '../../../../../test/support/limits.js';
import { HEADER_SIZE } from '../../../format/header.js';
import { httpSource } from '../../../reader/index.js';
import { commandFor, openBrowser } from '../announce.js';
import { withTraceNamed } from './page.js';
import { parseRange } from './replies.js';
import { openServedTrace } from './served-trace.js';
import { type OpeningStatus, type ServedTrace, serveView, type ViewServer } from './server.js';

// Servers are asked over the network.
limitOfFile(PROCESSES_MS);

const bytes = Uint8Array.from({ length: 3_000_000 }, (_, index) => (index * 7 + (index >> 8)) & 255);
bytes.set(new TraceBuilder({ schema: coreSchema }).bytes.subarray(0, HEADER_SIZE));
const page = new Map([
  ['index.html', Buffer.from('<html><head><title>t</title></head></html>')],
  ['page.js', Buffer.from('1')],
]);

let directory: string;
let path: string;
let server: ViewServer;
let entered: Entered;
let trace: ServedTrace & { close(): Promise<void> };

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-view-'));
  path = join(directory, 'core "0" <&>.uscope');
  await writeFile(path, bytes);
  trace = await openServedTrace(path);
  server = await serveView(trace, { page });
  entered = await enter(server.invite());
});
afterAll(async () => {
  await server?.close();
  await trace?.close();
  await rm(directory, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
}

/** As it is: `fetch` would tidy up paths and refuse to name another host. */
function ask(target: string, more: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  const path = new URL(server.url).pathname + target.slice(1);
  const headers = { ...entered.headers, ...more };
  return new Promise((resolve, reject) => {
    const { port } = server;
    const sent = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) }),
      );
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end();
  });
}

describe('the trace', () => {
  it('is served whole', async () => {
    const { status, headers, body } = await ask('/trace.uscope');
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'accept-ranges': 'bytes', 'content-length': '3000000' });
    expect(body.equals(bytes)).toBe(true);
  });

  it.each([
    ['bytes=0-0', 0, 0],
    ['bytes=10-19', 10, 19],
    ['bytes=2999990-', 2_999_990, 2_999_999],
    ['bytes=-5', 2_999_995, 2_999_999],
    ['bytes=100-99999999', 100, 2_999_999],
  ])('is served in parts: %s', async (range, start, end) => {
    const { status, headers, body } = await ask('/trace.uscope', { range });
    expect(status).toBe(206);
    expect(headers['content-range']).toBe(`bytes ${start}-${end}/3000000`);
    expect(body.equals(bytes.subarray(start, end + 1))).toBe(true);
  });

  it('has no part behind its end', async () => {
    const { status, headers } = await ask('/trace.uscope', { range: 'bytes=3000000-' });
    expect([status, headers['content-range']]).toEqual([416, 'bytes */3000000']);
  });

  it('answers HEAD with the headers alone', async () => {
    const { status, headers, body } = await ask('/trace.uscope', { range: 'bytes=5-9' }, 'HEAD');
    expect([status, headers['content-length'], body.length]).toEqual([206, '5', 0]);
  });

  it('has an ETag, by which an unchanged file is not sent again and a changed one is sent whole', async () => {
    const { headers } = await ask('/trace.uscope', { range: 'bytes=0-1' });
    const etag = String(headers.etag);
    expect((await ask('/trace.uscope', { 'if-none-match': etag })).status).toBe(304);
    expect((await ask('/trace.uscope', { range: 'bytes=0-1', 'if-range': etag })).status).toBe(206);
    expect((await ask('/trace.uscope', { range: 'bytes=0-1', 'if-range': '"other"' })).status).toBe(200);
  });

  it('is read by the SDK as from any server', async () => {
    const source = httpSource(`${server.url}trace.uscope`, { headers: entered.headers });
    expect(await source.size()).toBe(bytes.length);
    expect(Buffer.from(await source.read(2_000_000, 1000)).equals(bytes.subarray(2_000_000, 2_001_000))).toBe(
      true,
    );
  });
});

describe('parseRange', () => {
  it('gives what lies in the file, or the whole file for what it does not know', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(1000), (header, size) => {
        const range = parseRange(header, size);
        if (typeof range === 'string') return;
        expect(range.start).toBeLessThanOrEqual(range.end);
        expect(range.end).toBeLessThan(size);
      }),
    );
    for (const header of [undefined, '', 'bytes=', 'bytes=-', 'bytes=5-2', 'bytes=0-1,4-5', 'items=0-1']) {
      expect(parseRange(header, 10)).toBe('all');
    }
    expect(parseRange('bytes=-0', 10)).toBe('unsatisfiable');
    expect(parseRange('bytes=0-', 0)).toBe('unsatisfiable');
  });
});

describe('the page', () => {
  it('names the trace, whatever its name holds', async () => {
    const { body, headers } = await ask('/');
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(body.toString()).toContain('<meta name="uscope-trace" content="trace.uscope" />');
    expect(body.toString()).toContain('content="core &quot;0&quot; &lt;&amp;&gt;.uscope"');
    expect(withTraceNamed('<title></title>', '$&', { address: 'a"b' }).match(/content="[^"]*"/g)).toEqual([
      'content="a&quot;b"',
      'content="$&amp;"',
    ]);
  });

  it('may load from this server alone, and run nothing else', async () => {
    for (const target of ['/', '/page.js', '/trace.uscope', '/missing']) {
      const { headers } = await ask(target);
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("connect-src 'self'");
      expect(policy.match(/unsafe-\w+|'wasm-unsafe-eval'|\bhttps?:/g)).toEqual(["'wasm-unsafe-eval'"]);
      expect(headers['x-content-type-options']).toBe('nosniff');
    }
  });
});

describe('what is refused', () => {
  it.each([
    '/../../etc/passwd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/..%2f..%2fetc%2fpasswd',
    '//etc/passwd',
    '/trace.uscope/..',
    '/index.html/',
    '/constructor',
    '/__proto__',
    '/page.js%00',
  ])('path %s', async (target) => {
    expect((await ask(target)).status).toBe(404);
  });

  it.each([
    'evil.example',
    'evil.example:80',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '10.0.0.1',
  ])('host "%s"', async (host) => {
    const { status, body } = await ask('/trace.uscope', { host });
    expect(status).toBe(421);
    expect(body.length).toBeLessThan(100);
  });

  it.each(['127.0.0.1', 'localhost:8080', '[::1]:99', 'LOCALHOST'])(
    'not host %s, which is this machine',
    async (host) => {
      expect((await ask('/', { host })).status).toBe(200);
    },
  );

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('method %s', async (method) => {
    const { status, headers } = await ask('/', {}, method);
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
  });

  it('a port that is taken, with what to do', async () => {
    await expect(serveView(trace, { page, port: server.port })).rejects.toMatchObject({
      code: 'VIEW_PORT',
      detail: expect.stringContaining('--port'),
    });
  });

  it('a file that is not there', async () => {
    await expect(openServedTrace(join(directory, 'none'))).rejects.toMatchObject({ code: 'READER_OPEN' });
  });
});

describe('a trace that is being made', () => {
  it('is not there yet, and the page asks how far it is', async () => {
    let status: OpeningStatus = { state: 'converting', format: 'Kanata', part: 0.25 };
    let made: ServedTrace | null = null;
    const other = await serveView({ name: 'log.kanata', status: () => status, trace: () => made }, { page });
    const { url, headers } = await enter(other.invite());
    const get = async (target: string) => fetch(new URL(target, url), { headers });
    const html = await (await get('')).text();
    expect(html).toContain('<meta name="uscope-name" content="log.kanata" />');
    expect(html).toContain('<meta name="uscope-status" content="status.json" />');
    expect(await (await get('status.json')).json()).toEqual(status);
    expect((await get('trace.uscope')).status).toBe(503);
    made = trace;
    status = { state: 'ready', isCut: false };
    expect(await (await get('status.json')).json()).toEqual(status);
    expect((await get('trace.uscope')).status).toBe(200);
    await other.close();
  });

  it('is nothing that is asked for of an ordinary one', async () => {
    expect((await ask('/status.json')).status).toBe(404);
  });
});

describe('a file that becomes shorter', () => {
  it('ends the answer early instead of filling it', async () => {
    const short: ServedTrace = {
      name: 'short',
      size: async () => 100,
      read: async (offset) => new Uint8Array(offset === 0 ? 50 : 0),
      version: async () => '1',
    };
    const other = await serveView(short, { page });
    const { url, headers } = await enter(other.invite());
    const answer = fetch(new URL('trace.uscope', url), { headers });
    await expect(answer.then((one) => one.arrayBuffer())).rejects.toThrow();
    await other.close();
  });
});

describe('a browser', () => {
  it.each([
    ['linux', {}, null],
    ['linux', { DISPLAY: ':0' }, ['xdg-open']],
    ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, ['xdg-open']],
    ['linux', { DISPLAY: ':10', SSH_CONNECTION: '1 2 3 4' }, null],
    ['darwin', {}, ['open']],
    ['darwin', { CI: 'true' }, null],
  ] as const)('on %s with %j', (platform, environment, command) => {
    expect(commandFor(platform, environment)).toEqual(command);
  });
});

describe('a browser that is started', () => {
  it('gets no address in its arguments, which all users see, but a file that only this user reads', async () => {
    const program = join(directory, 'xdg-open');
    await writeFile(program, `#!/bin/sh\nprintf '%s\\n' "$@" > "$0.arguments"\n`, { mode: 0o755 });
    const environment = { DISPLAY: ':0', PATH: `${directory}:${process.env.PATH}` };
    const address = server.invite('#at=1&core=a');
    expect(await openBrowser(address, environment)).toBe(true);
    const [file = '', ...others] = (await readFile(`${program}.arguments`, 'utf8')).trim().split('\n');
    expect(others).toEqual([]);
    expect(file).not.toContain('http');
    expect(await readFile(file, 'utf8')).toContain(`content="0; url=${address}"`);
    const modes = await Promise.all([file, dirname(file)].map(async (one) => (await stat(one)).mode & 0o777));
    expect(modes).toEqual([0o600, 0o700]);
  });
});

describe('export', () => {
  it('says at once that a directory cannot be made, also where the system never says why', async () => {
    const { exportView } = await import('../export.js');
    await expect(exportView('/proc/none/deep', { page })).rejects.toThrow('WRITER_DIRECTORY');
  });

  it('writes the page and the trace beside it', async () => {
    const { exportView } = await import('../export.js');
    const target = join(directory, 'out');
    const names = await exportView(target, { trace: path, page });
    expect((await readdir(target)).sort()).toEqual([...names].sort());
    expect((await readFile(join(target, 'core "0" <&>.uscope'))).equals(bytes)).toBe(true);
    const html = await readFile(join(target, 'index.html'), 'utf8');
    expect(html).toContain('content="core%20%220%22%20%3C%26%3E.uscope"');
    expect(html).not.toContain('uscope-elf');
  });

  it.each([true, false])('writes the program too, for the trace (%s) or for any', async (hasTrace) => {
    const { exportView } = await import('../export.js');
    const target = join(directory, `program ${hasTrace}`);
    const program = Buffer.from('of a core');
    const names = await exportView(target, { ...(hasTrace ? { trace: path } : {}), program, page });
    expect((await readdir(target)).sort()).toEqual([...names].sort());
    expect((await readFile(join(target, 'program.elf'))).equals(program)).toBe(true);
    const html = await readFile(join(target, 'index.html'), 'utf8');
    expect(html).toContain('name="uscope-elf" content="program.elf"');
    // A web server of files reads no lines.
    expect(html).not.toContain('uscope-lines');
    expect(html.includes('uscope-trace')).toBe(hasTrace);
  });
});
