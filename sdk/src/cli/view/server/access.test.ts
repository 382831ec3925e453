/** Who is let in by all servers of the viewer: nobody without a code that was not used yet, or its cookie. */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enter } from '../../../../../test/support/enter-view.mjs';
import { limitOfFile, PROCESSES_MS } from '../../../../../test/support/limits.js';
import { serveDirectory, type ViewCommand } from './directory-server.js';
import { type ServedTrace, serveView, type ViewServer, type ViewServerOptions } from './server.js';
import { serveComparison, serveTogether } from './several-server.js';
import type { SqlAnswerer } from './sql-requests.js';

// Servers are asked over the network.
limitOfFile(PROCESSES_MS);

const SECRET = 'what only the user may see';
const html = Buffer.from(`<title>${SECRET}</title>`);
const page = new Map(
  ['index.html', 'runs.html', 'compare.html', 'together.html', 'page.js'].map((name) => [name, html]),
);
const trace: ServedTrace = {
  name: 'secret.uscope',
  size: async () => SECRET.length,
  read: async () => Buffer.from(SECRET),
  version: async () => '1',
};
const done: (ViewCommand | 'asked')[] = [];
const sql: SqlAnswerer = {
  names: async () => done.push('asked'),
  ask: async () => done.push('asked'),
  close: async () => undefined,
};
const directory = {
  list: async () => SECRET,
  open: async () => ({ ...trace, whereNow: async () => '', close: async () => undefined }),
  recording: async () => SECRET,
  sql: () => sql,
  control: async (command: ViewCommand) => done.push(command),
};
const program = {
  answer: async (path: string, _: unknown, response: { end(text: string): void }) => {
    const isIts = path === '/program.elf' || path === '/lines.json';
    if (isIts) response.end(SECRET);
    return isIts;
  },
};

const of = { page, program };
const SERVERS: Record<string, (options?: ViewServerOptions) => Promise<ViewServer>> = {
  'one trace': (options) => serveView(trace, { ...of, sql, ...options }),
  'two traces': (options) => serveComparison(trace, trace, { ...of, ...options }),
  'several traces': (options) => serveTogether([trace, trace, trace], { ...of, ...options }),
  'a directory': (options) => serveDirectory(directory, { ...of, ...options }),
};
const PLACES = [
  ...['', 'index.html', 'page.js', 'trace.uscope', 'status.json', 'sql', 'program.elf', 'lines.json?pcs=0'],
  ...['0/secret.uscope', 'runs.json', 'control', 'traces/a/', 'traces/a/trace.uscope', 'traces/a/sql'],
  ...['traces/a/recording.json', 'traces/a', 'none'],
];

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}

function ask(url: string, method = 'GET', headers: Record<string, string> = {}, body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
    });
    sent.on('error', reject).end(body);
  });
}

describe.each(Object.entries(SERVERS))('the server of %s', (_, start) => {
  let server: ViewServer;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.close());

  it('gives nothing to who has no cookie, at any address', async () => {
    const { origin } = new URL(server.url);
    const other = await start();
    const foreign = await enter(other.invite());
    const { headers } = await enter(server.invite());
    const almost = `${headers.cookie.slice(0, -1)}!`;
    for (const cookie of ['', almost, foreign.headers.cookie, 'uscope=', `other=${headers.cookie}`])
      for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS'])
        for (const url of PLACES.flatMap((place) => [`${server.url}${place}`, `${origin}/${place}`])) {
          const answer = await ask(url, method, { cookie });
          expect(answer.status, `${method} ${url} ${cookie}`).toBe(403);
          expect(answer.text).not.toContain(SECRET);
          expect(answer.headers['set-cookie']).toBeUndefined();
        }
    expect(done).toEqual([]);
    await other.close();
  });

  it('lets in who opens the address, with a cookie for this path and host, that scripts of pages do not see', async () => {
    const { headers, text } = await ask(server.invite('#at=3'));
    expect(headers.refresh).toBe(`0; url=${new URL(server.url).pathname}#at=3`);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(text).not.toContain(SECRET);
    const [cookie = '', ...attributes] = String(headers['set-cookie']).split('; ');
    expect(attributes.sort()).toEqual([
      'HttpOnly',
      `Path=${new URL(server.url).pathname}`,
      'SameSite=Strict',
    ]);
    const page = await ask(server.url, 'GET', { cookie: `a=b; ${cookie}` });
    expect([page.status, page.text]).toEqual([200, expect.stringContaining(SECRET)]);
  });

  it('takes a code once; then it only leads to the page, which needs the cookie', async () => {
    const address = server.invite();
    // Neither uses it up.
    expect((await ask(address, 'HEAD')).status).toBe(403);
    expect((await ask(address, 'POST')).status).toBe(403);
    const first = await ask(address);
    expect(first.headers['set-cookie']).toBeDefined();
    const second = await ask(address);
    expect([second.headers['set-cookie'], second.headers.refresh]).toEqual([
      undefined,
      first.headers.refresh,
    ]);
    expect((await ask(address.slice(0, -1))).status).toBe(403);
    expect((await ask(address.replace(/\/[^/]*\/\?/, '/?'))).status).toBe(403);
  });

  it('takes nothing but reads from pages of other ports, which browsers send the cookie with', async () => {
    const { headers } = await enter(server.invite());
    for (const place of ['sql', 'control', 'traces/a/sql'])
      for (const origin of ['http://127.0.0.1:1', 'http://evil.example', 'null'])
        expect((await ask(server.url + place, 'POST', { ...headers, origin }, '{}')).status).toBe(403);
    expect(done).toEqual([]);
  });

  it('shows all to everybody where the user wants that, and takes no command then', async () => {
    const shared = await start({ isShared: true });
    expect(shared.invite('#at=3')).toBe(`http://127.0.0.1:${shared.port}/#at=3`);
    expect((await ask(shared.url)).text).toContain(SECRET);
    for (const place of ['sql', 'control', 'traces/a/sql'])
      expect((await ask(shared.url + place, 'POST', {}, '{"action":"pause","names":true}')).status).toBe(405);
    expect(done).toEqual([]);
    await shared.close();
  });
});
