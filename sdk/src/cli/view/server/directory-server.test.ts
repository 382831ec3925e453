/** The server of `uscope view DIR`: what it hands out, whom it lets command, and what it refuses. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { coreSchema, TraceBuilder } from '../../../../../test/support/build-trace.js';
import { type Entered, enter } from '../../../../../test/support/enter-view.mjs';
import { UscopeError } from '../../../base/errors.js';
import { serveDirectory, type ViewCommand } from './directory-server.js';
import { openServedTrace } from './served-trace.js';
import type { ViewServer } from './server.js';
import type { ViewQuestion } from './sql-requests.js';

const page = new Map([
  ['index.html', Buffer.from('<html><head><title>t</title></head></html>')],
  ['runs.html', Buffer.from('<title>list</title>')],
]);
const commands: ViewCommand[] = [];
const asked: ViewQuestion[] = [];
let looks = 0;
let directory: string;
let server: ViewServer;
let entered: Entered;
const { bytes } = new TraceBuilder({ schema: coreSchema });

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-view-dir-'));
  const path = join(directory, 'core0.uscope');
  await writeFile(path, bytes);
  server = await serveDirectory(
    {
      list: async () => ({ runs: [] }),
      open: async (name) => {
        if (name === 'secret') throw new UscopeError('READER_UNTRUSTED', 'it is a link');
        return name === 'a/core0' ? openServedTrace(path) : null;
      },
      looking: () => {
        looks++;
      },
      sql: () => ({
        names: async () => ({ questions: [] }),
        ask: async (question) => {
          asked.push(question);
          if (question.sql === 'wrong') throw new UscopeError('DATASET_QUERY', 'it is wrong');
          return { rows: [] };
        },
        close: async () => undefined,
      }),
      control: async (command) => {
        commands.push(command);
        return [];
      },
    },
    { page },
  );
  entered = await enter(server.invite());
});
afterAll(async () => {
  await server?.close();
  await rm(directory, { recursive: true, force: true });
});

/** As it is: `fetch` would tidy up paths and refuse to name another host. */
function ask(
  target: string,
  method = 'GET',
  more: Record<string, string> = {},
  body = '',
): Promise<[number, string]> {
  const path = new URL(server.url).pathname + target.slice(1);
  const headers = { ...entered.headers, ...more };
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: server.port, path, method, headers }, (response) => {
      let text = '';
      response.on('data', (part: Buffer) => {
        text += part.toString();
      });
      response.on('end', () => resolve([response.statusCode ?? 0, text]));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

it('hands out the list, and a trace by its name in it', async () => {
  expect(await ask('/')).toEqual([
    200,
    expect.stringContaining('<meta name="uscope-control" content="control" />'),
  ]);
  expect(await ask('/runs.json')).toEqual([200, '{"runs":[]}']);
  expect(await ask('/traces/a%2Fcore0/trace.uscope')).toEqual([200, expect.stringMatching(/^uSCP/)]);
  expect((await ask('/traces/a%2Fcore0/'))[1]).toContain('content="trace.uscope"');
  expect((await ask('/traces/a%2Fcore0'))[0]).toBe(308);
});

it.each([
  '/traces/..%2F..%2Fetc%2Fpasswd/trace.uscope',
  '/traces/../../etc/passwd',
  '/traces/%zz/',
  '/../etc/passwd',
])('reaches no file outside of the list: %s', async (path) => {
  expect((await ask(path))[0]).toBe(404);
});

it('says why a trace of the list is not opened', async () => {
  expect(await ask('/traces/secret/trace.uscope')).toEqual([
    404,
    expect.stringContaining('READER_UNTRUSTED'),
  ]);
});

it('answers for the loopback only', async () => {
  expect((await ask('/runs.json', 'GET', { host: 'evil.example' }))[0]).toBe(421);
  expect((await ask('/control', 'POST', { host: 'evil.example' }, '{"action":"pause"}'))[0]).toBe(421);
});

it('lets nobody command without the cookie, nor pages of other sites', async () => {
  const body = '{"action":"pause"}';
  expect((await ask('/control', 'POST', { cookie: '' }, body))[0]).toBe(403);
  expect((await ask('/control', 'POST', { origin: 'http://evil.example' }, body))[0]).toBe(403);
  expect((await ask('/control', 'GET'))[0]).toBe(405);
  expect((await ask('/control', 'OPTIONS', { origin: 'http://evil.example' }))[0]).toBe(403);
  expect((await ask('/control', 'POST', {}, '{"action":"delete"}'))[0]).toBe(400);
  expect((await ask('/control', 'POST', {}, '{"action":"disable"}'))[0]).toBe(400);
  expect((await ask('/control', 'POST', {}, 'x'.repeat(5000)))[0]).toBe(400);
  expect(commands).toEqual([]);
  expect(await ask('/control', 'POST', {}, body)).toEqual([200, '[]']);
  expect(commands).toEqual([{ action: 'pause', trace: null, operand: null }]);
});

it('says that a trace is looked at when its bytes are asked for, not its page', async () => {
  looks = 0;
  expect((await ask('/traces/a%2Fcore0/'))[0]).toBe(200);
  expect(looks).toBe(0);
  expect((await ask('/traces/a%2Fcore0/trace.uscope'))[0]).toBe(200);
  expect(looks).toBe(1);
});

it('lets nobody ask in SQL without the cookie, nor pages of other sites', async () => {
  const path = '/traces/a%2Fcore0/sql';
  const shown = { from: 0, to: 9, periodPs: 500 };
  const question = { sql: 'select 1', timeoutMs: 1000, shown, isLimited: true };
  const body = JSON.stringify(question);
  expect((await ask(path, 'POST', { cookie: '' }, body))[0]).toBe(403);
  expect((await ask(path, 'POST', { origin: 'http://evil.example' }, body))[0]).toBe(403);
  expect((await ask(path, 'POST', { ...{}, host: 'evil.example' }, body))[0]).toBe(421);
  expect((await ask(path, 'GET'))[0]).toBe(405);
  expect((await ask('/traces/other/sql', 'POST', {}, body))[0]).toBe(404);
  const wrong = [
    'select 1',
    '{"sql": "select 1"}',
    JSON.stringify({ ...question, timeoutMs: 0 }),
    JSON.stringify({ ...question, timeoutMs: 1e9 }),
    JSON.stringify({ ...question, shown: { from: -1, to: 9, periodPs: 500 } }),
    JSON.stringify({ ...question, shown: { from: 0, to: 9, periodPs: 0 } }),
    JSON.stringify({ ...question, sql: 'x'.repeat(70_000) }),
  ];
  for (const one of wrong) expect((await ask(path, 'POST', {}, one))[0], one.slice(0, 80)).toBe(400);
  expect(asked).toEqual([]);
  expect(await ask(path, 'POST', {}, body)).toEqual([200, '{"rows":[]}']);
  expect(asked).toEqual([question]);
  expect(await ask(path, 'POST', {}, '{"names": true}')).toEqual([200, '{"questions":[]}']);
  const refused = await ask(path, 'POST', {}, JSON.stringify({ ...question, sql: 'wrong' }));
  expect(JSON.parse(refused[1])).toEqual({ error: { code: 'DATASET_QUERY', detail: 'it is wrong' } });
});
