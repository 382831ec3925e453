/** Records that clients send wait in the daemon's memory: it is reserved when a trace is opened, and given back when it ends. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import {
  BridgeBench,
  closeMessage,
  framesFrom,
  type RawPeer,
  sessionId,
  upTo,
  valuesOf,
} from '../../../../test/support/bridge-peer.js';
import { decodeFile } from '../../../../test/support/decode-file.js';
import { limitOfFile, PROCESSES_MS } from '../../../../test/support/limits.js';
import type { OpenedMessage } from '../wire/protocol.js';
import type { Daemon } from './daemon.js';

// Daemons sync files, and are waited for.
limitOfFile(PROCESSES_MS);

const MiB = 1024 * 1024;
const CREDIT = 64 * MiB;
/** For two small traces, and the credit of one of them. */
const MAX_MEMORY = 128 * MiB;

const bench = new BridgeBench();
afterEach(() => bench.cleanUp());

async function begin(): Promise<{ daemon: Daemon; out: string; peer: RawPeer }> {
  const { daemon, out } = await bench.startDaemon({ maxMemoryBytes: MAX_MEMORY });
  return { daemon, out, peer: await bench.greetedPeer(daemon) };
}

const open = (peer: RawPeer, n: number, memory?: true): Promise<OpenedMessage> =>
  peer.open({ session: sessionId(n), name: `t${n}`, credit: CREDIT, ...(memory ? { memory } : {}) });

async function close(peer: RawPeer, n: number, { trace }: OpenedMessage, frames: number): Promise<void> {
  await peer.control(closeMessage(sessionId(n), trace, frames));
  await peer.next('closed', ['ack', 'error']); // of another trace
}

it('a client without shared memory is refused what its credit may cost, before there is a file', async () => {
  const { daemon, out, peer } = await begin();
  const first = await open(peer, 1);
  const { used } = daemon.memory;
  await expect(open(peer, 2)).rejects.toThrow(
    /BRIDGE_NO_MEMORY.*what the client of the trace \\"t2\\" may send ahead needs 68\.2 MB.*USCOPE_CREDIT_MIB/,
  );
  expect(daemon.memory.used).toBe(used);
  expect(existsSync(join(out, 't2.uscope'))).toBe(false);
  await peer.data(first, 0n, 0n, framesFrom(0, 100));
  await close(peer, 1, first, 100);
  expect(valuesOf(decodeFile(first.path))).toEqual(upTo(100));
  await close(peer, 2, await open(peer, 2), 0);
});

it('records that wait cost no more than what was reserved', async () => {
  const { daemon, peer } = await begin();
  const opened = await open(peer, 1);
  const { used } = daemon.memory;
  const highest: number[] = [];
  for (let n = 0; n < 20; n++) {
    await peer.data(opened, BigInt(n), BigInt(n * 5000), framesFrom(n * 5000, n * 5000 + 5000));
    highest.push(daemon.memory.used);
  }
  await peer.acked(1n);
  expect(Math.max(...highest)).toBe(used);
  await close(peer, 1, opened, 100_000);
});

it('a client with shared memory reserves nothing, until it sends records all the same', async () => {
  const { daemon, peer } = await begin();
  const first = await open(peer, 1, true);
  const second = await open(peer, 2, true);
  const { used } = daemon.memory;
  expect(used).toBeLessThan(CREDIT);
  await peer.data(first, 0n, 0n, framesFrom(0, 10));
  await peer.acked(10n);
  expect(daemon.memory.used).toBeGreaterThan(used + CREDIT);
  await peer.data(second, 0n, 0n, framesFrom(0, 10));
  expect(await peer.next('error', ['ack'])).toMatchObject({
    code: 'BRIDGE_NO_MEMORY',
    trace: second.trace,
  });
  await close(peer, 1, first, 10);
  expect(valuesOf(decodeFile(first.path))).toEqual(upTo(10));
});

it('a client that comes back without shared memory reserves it then', async () => {
  const { daemon, peer } = await begin();
  await open(peer, 1, true);
  const { used } = daemon.memory;
  const again = await open(peer, 1);
  expect(daemon.memory.used).toBeGreaterThan(used + CREDIT);
  await close(peer, 1, again, 0);
});

it('a client that comes back without shared memory, for which there is no room, is refused then', async () => {
  const { peer } = await begin();
  await open(peer, 1, true);
  const second = await open(peer, 2);
  await expect(open(peer, 1)).rejects.toThrow('BRIDGE_NO_MEMORY');
  await close(peer, 2, second, 0);
});
