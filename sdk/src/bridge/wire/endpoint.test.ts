import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { Router } from 'zeromq';
import { TempDirs } from '../../../../test/support/bridge-peer.js';
import { bindEndpoint, checkEndpoint, defaultEndpoint } from './endpoint.js';

const dirs = new TempDirs();
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  dirs.cleanUp();
});

function router(): Router {
  const socket = new Router({ linger: 0 });
  cleanups.push(() => socket.close());
  return socket;
}

const refused = { code: 'BRIDGE_ENDPOINT' };

describe('endpoints', () => {
  it("default to a socket in the user's runtime directory, else below /tmp", () => {
    expect(defaultEndpoint({ XDG_RUNTIME_DIR: '/run/user/7' })).toBe('ipc:///run/user/7/uscope.sock');
    expect(defaultEndpoint({})).toBe(`ipc:///tmp/uscope-${process.getuid?.()}/uscope.sock`);
    expect(defaultEndpoint({ XDG_RUNTIME_DIR: 'relative' })).toBe(defaultEndpoint({}));
  });

  it.each([
    'tcp://0.0.0.0:5000',
    'tcp://*:5000',
    'tcp://192.168.1.2:5000',
    'tcp://example.org:5000',
    'tcp://127.0.0.1',
    'tcp://127.0.0.1:0',
    'tcp://127.0.0.1:65536',
    'tcp://127.0.0.1.evil.org:5000',
    'inproc://x',
    'ipc://relative/path',
    'ipc://@abstract',
    'ws://127.0.0.1:1',
    '/tmp/x.sock',
    '',
  ])('%j is refused', (endpoint) => {
    expect(() => checkEndpoint(endpoint)).toThrow(expect.objectContaining(refused));
  });

  it.each([
    ['tcp://127.0.0.1:5000', 'tcp://127.0.0.1:5000'],
    ['tcp://127.9.9.9:*', 'tcp://127.9.9.9:*'],
    ['tcp://[::1]:5000', 'tcp://[::1]:5000'],
    ['tcp://localhost:5000', 'tcp://127.0.0.1:5000'],
    ['ipc:///a/b', 'ipc:///a/b'],
  ])('%j is %j', (endpoint, address) => {
    expect(checkEndpoint(endpoint)).toBe(address);
  });

  it('have a path of at most 107 bytes', () => {
    expect(() => checkEndpoint(`ipc:///${'x'.repeat(107)}`)).toThrow('the path has 108 bytes');
    expect(checkEndpoint(`ipc:///${'x'.repeat(106)}`)).toBeTruthy();
  });

  it('belong to one living daemon', async () => {
    const endpoint = `ipc://${dirs.make()}/sub/d.sock`;
    await bindEndpoint(router(), endpoint);
    expect(statSync(endpoint.slice(6)).mode & 0o777).toBe(0o600);
    await expect(bindEndpoint(router(), endpoint)).rejects.toMatchObject(refused);
    const tcp = await bindEndpoint(router(), 'tcp://127.0.0.1:*');
    await expect(bindEndpoint(router(), tcp)).rejects.toMatchObject(refused);
  });

  it('that a dead daemon left are replaced', async () => {
    const directory = dirs.make();
    const path = `${directory}/d.sock`;
    // Node unlinks the socket of a server that is closed, so the leftover is moved out of its sight.
    const { execFileSync } = await import('node:child_process');
    const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
    expect(() => execFileSync(process.execPath, ['-e', script])).toThrow();
    expect(statSync(path).isSocket()).toBe(true);
    await bindEndpoint(router(), `ipc://${path}`);
  });

  it('never replace what is not a socket, and never a socket that answers', async () => {
    const directory = dirs.make();
    writeFileSync(`${directory}/file`, 'precious');
    await expect(bindEndpoint(router(), `ipc://${directory}/file`)).rejects.toMatchObject(refused);
    mkdirSync(`${directory}/dir`);
    await expect(bindEndpoint(router(), `ipc://${directory}/dir`)).rejects.toMatchObject(refused);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(`${directory}/other`, resolve));
    cleanups.push(() => server.close());
    await expect(bindEndpoint(router(), `ipc://${directory}/other`)).rejects.toMatchObject(refused);
  });
});
