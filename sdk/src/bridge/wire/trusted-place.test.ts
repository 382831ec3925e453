/** Whose socket a client connects to: the cases that the clients in C and Python are checked against, too. */
import {
  chmodSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Router } from 'zeromq';
import { BridgeClient } from '../../../../test/support/bridge-client/client.js';
import { control } from '../client/ctl.js';
import { encodeControl } from './codec.js';
import { PROTOCOL_VERSION } from './protocol.js';
import { checkPlace } from './trusted-place.js';

const OTHER = 65_534;
const isRoot = process.getuid?.() === 0;
const home = mkdtempSync(join(tmpdir(), 'uscope-place-'));
const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
  rmSync(home, { recursive: true, force: true });
});

/** A link leads to a thing of the right kind, which is our own. */
async function make(path: string, owner: string, mode: string, kind: string): Promise<void> {
  if (kind === 'none') return;
  if (kind === 'directory') mkdirSync(path);
  else if (kind === 'file') writeFileSync(path, '');
  else if (kind === 'socket') {
    const server = createServer();
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(path, resolve));
  } else {
    mkdirSync(`${path}.target`, { mode: 0o700 });
    symlinkSync(`${path}.target`, path);
  }
  if (mode !== '-') chmodSync(path, Number.parseInt(mode, 8));
  if (owner === 'other') lchownSync(path, OTHER, OTHER);
}

const CASES = readFileSync(new URL('../../../../test/vectors/endpoints/cases.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line && !line.startsWith('#'))
  .map((line) => line.split(/\s+/));

it.each(
  CASES.filter((words) => isRoot || !words.includes('other')).map(
    (words, index) => [words.join(' '), words, index] as const,
  ),
)('%s', async (_, words, index) => {
  const [place, owner = '', mode = '', kind = '', ownerOfSocket = '', kindOfSocket = '', right] = words;
  const directory = join(home, String(index));
  await make(directory, owner, mode, kind);
  await make(join(directory, 'uscope.sock'), ownerOfSocket, '-', kindOfSocket);
  const env = place === 'default' ? { XDG_RUNTIME_DIR: directory } : {};
  const check = () => checkPlace(`ipc://${directory}/uscope.sock`, env);
  if (right === 'trusted') expect(check()).toBe(kindOfSocket === 'socket');
  else expect(check).toThrow(/BRIDGE_ENDPOINT/);
});

it('an abstract socket is refused, and tcp is not looked at', () => {
  expect(() => checkPlace('ipc://@name')).toThrow(/BRIDGE_ENDPOINT.*absolute/);
  expect(checkPlace('tcp://127.0.0.1:7000')).toBe(true);
});

it.skipIf(!isRoot)(
  'a socket that another user makes while a daemon is awaited gets greetings alone',
  async () => {
    const path = join(home, 'later.sock');
    const waiting = [
      BridgeClient.connect(`ipc://${path}`, { timeoutMs: 10_000 }),
      control(`ipc://${path}`, { action: 'status' }),
    ];
    const refused = Promise.all(
      waiting.map((client) => expect(client).rejects.toThrow(/BRIDGE_ENDPOINT.*belongs to user 65534/)),
    );
    const router = new Router({ linger: 0 });
    await router.bind(`ipc://${path}`);
    lchownSync(path, OTHER, OTHER);
    const got: string[] = [];
    const answering = (async () => {
      for await (const [who, message] of router) {
        got.push(String(message));
        const welcome = encodeControl({ t: 'welcome', v: PROTOCOL_VERSION, daemon: 'x', pid: 1 });
        await router.send([who, Buffer.from(welcome)]);
      }
    })();
    await refused;
    router.close();
    await answering.catch(() => {});
    expect(got.length).toBeGreaterThan(1);
    expect(got.filter((message) => !message.includes('hello'))).toEqual([]);
  },
);
