/** The server of `uscope view DIR`: what it hands out, whom it lets command, and what it refuses. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { UscopeError } from '../base/errors.js';
import { serveDirectory, type ViewCommand } from './directory-server.js';
import { openServedTrace } from './served-trace.js';
import type { ViewServer } from './server.js';
import type { ViewQuestion } from './sql-requests.js';

const TOKEN = 'a-token';
const page = new Map([
  ['index.html', Buffer.from('<html><head><title>t</title></head></html>')],
  ['runs.html', Buffer.from('list')],
]);
const commands: ViewCommand[] = [];
const asked: ViewQuestion[] = [];
let looks = 0;
let directory: string;
let server: ViewServer;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'uscope-view-dir-'));
  const path = join(directory, 'core0.uscope');
  await writeFile(path, 'bytes');
  server = await serveDirectory(
    {
      list: async () => ({ runs: [] }),
      open: async (name) => (name === 'a/core0' ? openServedTrace(path) : null),
      looking: () => {
        looks++;
      },
      sql: async () => ({
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
    { page, token: TOKEN },
  );
});
afterAll(async () => {
  await server?.close();
  await rm(directory, { recursive: true, force: true });
});

/** As it is: `fetch` would tidy up paths and refuse to name another host. */
function ask(
  path: string,
  method = 'GET',
  headers: Record<string, string> = {},
  body = '',
): Promise<[number, string]> {
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
  expect(await ask('/')).toEqual([200, 'list']);
  expect(await ask('/runs.json')).toEqual([200, '{"runs":[]}']);
  expect(await ask('/traces/a%2Fcore0/trace.uscope')).toEqual([200, 'bytes']);
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

it('answers for the loopback only', async () => {
  expect((await ask('/runs.json', 'GET', { host: 'evil.example' }))[0]).toBe(421);
  const own = { host: 'evil.example', authorization: `Bearer ${TOKEN}` };
  expect((await ask('/control', 'POST', own, '{"action":"pause"}'))[0]).toBe(421);
});

it('lets nobody command without the token, nor pages of other sites', async () => {
  const body = '{"action":"pause"}';
  const bearer = { authorization: `Bearer ${TOKEN}` };
  expect((await ask('/control', 'POST', {}, body))[0]).toBe(403);
  expect((await ask('/control', 'POST', { authorization: 'Bearer a-tokem' }, body))[0]).toBe(403);
  expect((await ask('/control', 'POST', { ...bearer, origin: 'http://evil.example' }, body))[0]).toBe(403);
  expect((await ask('/control', 'GET', bearer))[0]).toBe(405);
  expect((await ask('/control', 'OPTIONS', { origin: 'http://evil.example' }))[0]).toBe(405);
  expect((await ask('/control', 'POST', bearer, '{"action":"delete"}'))[0]).toBe(400);
  expect((await ask('/control', 'POST', bearer, '{"action":"disable"}'))[0]).toBe(400);
  expect((await ask('/control', 'POST', bearer, 'x'.repeat(5000)))[0]).toBe(400);
  expect(commands).toEqual([]);
  expect(await ask('/control', 'POST', bearer, body)).toEqual([200, '[]']);
  expect(commands).toEqual([{ action: 'pause', trace: null, operand: null }]);
});

it('says that a trace is looked at when its bytes are asked for, not its page', async () => {
  looks = 0;
  expect((await ask('/traces/a%2Fcore0/'))[0]).toBe(200);
  expect(looks).toBe(0);
  expect((await ask('/traces/a%2Fcore0/trace.uscope'))[0]).toBe(200);
  expect(looks).toBe(1);
});

it('lets nobody ask in SQL without the token, nor pages of other sites', async () => {
  const path = '/traces/a%2Fcore0/sql';
  const shown = { from: 0, to: 9, periodPs: 500 };
  const question = { sql: 'select 1', timeoutMs: 1000, shown, isLimited: true };
  const body = JSON.stringify(question);
  const bearer = { authorization: `Bearer ${TOKEN}` };
  expect((await ask(path, 'POST', {}, body))[0]).toBe(403);
  expect((await ask(path, 'POST', { ...bearer, origin: 'http://evil.example' }, body))[0]).toBe(403);
  expect((await ask(path, 'POST', { ...bearer, host: 'evil.example' }, body))[0]).toBe(421);
  expect((await ask(path, 'GET', bearer))[0]).toBe(405);
  expect((await ask('/traces/other/sql', 'POST', bearer, body))[0]).toBe(404);
  const wrong = [
    'select 1',
    '{"sql": "select 1"}',
    JSON.stringify({ ...question, timeoutMs: 0 }),
    JSON.stringify({ ...question, timeoutMs: 1e9 }),
    JSON.stringify({ ...question, shown: { from: -1, to: 9, periodPs: 500 } }),
    JSON.stringify({ ...question, shown: { from: 0, to: 9, periodPs: 0 } }),
    JSON.stringify({ ...question, sql: 'x'.repeat(70_000) }),
  ];
  for (const one of wrong) expect((await ask(path, 'POST', bearer, one))[0], one.slice(0, 80)).toBe(400);
  expect(asked).toEqual([]);
  expect(await ask(path, 'POST', bearer, body)).toEqual([200, '{"rows":[]}']);
  expect(asked).toEqual([question]);
  expect(await ask(path, 'POST', bearer, '{"names": true}')).toEqual([200, '{"questions":[]}']);
  const refused = await ask(path, 'POST', bearer, JSON.stringify({ ...question, sql: 'wrong' }));
  expect(JSON.parse(refused[1])).toEqual({ error: { code: 'DATASET_QUERY', detail: 'it is wrong' } });
});
