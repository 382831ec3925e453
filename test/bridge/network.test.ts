/** Clients on a bad network: cut, stalled, slowed, garbled. What was sent is in the file, once and in order. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Daemon } from '../../sdk/src/bridge/daemon/daemon.js';
import { makeKeyPair } from '../../sdk/src/bridge/wire/curve.js';
import { newSessionKey } from '../../sdk/src/bridge/wire/session-secret.js';
import { BridgeClient } from '../support/bridge-client/client.js';
import {
  BridgeBench,
  closeMessage,
  framesFrom,
  type RawPeer,
  SCHEMA,
  upTo,
  valuesOf,
} from '../support/bridge-peer.js';
import { decodeFile } from '../support/decode-file.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { Running, until } from '../support/processes.js';
import { buildSimulator } from '../torture/build.mjs';
import { contentsOf } from '../torture/pattern.mjs';
import { BadNetwork } from './proxy.js';

// Daemons and simulators are started, and waited for.
limitOfFile(PROCESSES_MS);

const TCP = 'tcp://127.0.0.1:*';
const FRAMES = 3000;
const BATCH = 100;
const bench = new BridgeBench();
afterEach(() => bench.cleanUp());

async function networkTo(daemon: Daemon): Promise<BadNetwork> {
  const network = await BadNetwork.before(daemon.endpoint);
  bench.later(() => network.close());
  return network;
}

/** A client on that network sends `FRAMES` frames; `trouble` comes along the way. Returns what the file holds. */
async function traced(network: BadNetwork, trouble: (sent: number) => unknown): Promise<number[]> {
  const client = await BridgeClient.connect(network.endpoint, { timeoutMs: 60_000 });
  bench.later(() => client.close());
  const trace = await client.open({ name: 'trace', schema: SCHEMA, credit: 1 << 20 });
  for (let first = 0; first < FRAMES; first += BATCH) {
    await trace.send(framesFrom(first, first + BATCH));
    await trouble(first + BATCH);
    await delay(2);
  }
  const stats = await trace.close();
  expect(stats).toMatchObject({ frames: BigInt(FRAMES), lost: 0n, status: 1 });
  return valuesOf(decodeFile(trace.path));
}

describe('a connection over tcp', () => {
  it('that is cut again and again loses nothing', async () => {
    const { daemon } = await bench.startDaemon({ endpoint: TCP });
    const network = await networkTo(daemon);
    const values = await traced(network, async (sent) => {
      if (sent % 600 !== 0 || sent === FRAMES) return;
      const { connections } = network;
      network.cut();
      await until('another connection', () => network.connections > connections);
    });
    expect(network.connections).toBeGreaterThanOrEqual(5);
    expect(values).toEqual(upTo(FRAMES));
  });

  it('that stalls continues when it flows again, or is replaced', async () => {
    const { daemon } = await bench.startDaemon({ endpoint: TCP });
    const network = await networkTo(daemon);
    const values = await traced(network, async (sent) => {
      if (sent !== 1000 && sent !== 2000) return;
      network.stall();
      await delay(400);
      if (sent === 2000) network.cut();
      network.flow();
    });
    expect(values).toEqual(upTo(FRAMES));
  });

  it('that is slow slows the client; what it holds stays within its credit', async () => {
    const { daemon } = await bench.startDaemon({ endpoint: TCP });
    const network = await networkTo(daemon);
    network.bytesPerSecond = 200_000;
    const client = await BridgeClient.connect(network.endpoint);
    bench.later(() => client.close());
    const credit = 64 * 1024;
    const trace = await client.open({ name: 'trace', schema: SCHEMA, credit });
    let most = 0;
    let sent = 0;
    const start = performance.now();
    for (; sent < 4000; sent += BATCH) {
      await trace.send(framesFrom(sent, sent + BATCH));
      most = Math.max(most, sent + BATCH - Number(trace.durableFrames));
    }
    await trace.close();
    expect(performance.now() - start).toBeGreaterThan(400);
    expect(most * 48).toBeLessThanOrEqual(credit + BATCH * 48);
    expect(valuesOf(decodeFile(trace.path))).toEqual(upTo(sent));
  });

  it('that garbles bytes is given up by ZeroMQ, or what comes out is refused; the session continues after it', async () => {
    const { daemon } = await bench.startDaemon({ endpoint: TCP });
    const network = await networkTo(daemon);
    const values = await traced(network, async (sent) => {
      if (sent % 1000 !== 0) return;
      // a frame of ZeroMQ whose length lies: what follows makes no sense any more
      network.garble = (bytes) => Buffer.concat([Buffer.from([2, 0xff, 0xff, 0xff, 0xff]), bytes]);
      await delay(30);
      network.garble = (bytes) => bytes;
      network.cut();
    });
    expect(values).toEqual(upTo(FRAMES));
  });

  it('outlives its daemon: the next one, on another port, continues', async () => {
    const first = await bench.startDaemon({ endpoint: TCP });
    const network = await networkTo(first.daemon);
    const values = await traced(network, async (sent) => {
      if (sent !== 1500) return;
      await first.daemon.stop(); // nothing is finalized, as if it were killed
      const next = await bench.startDaemon({ endpoint: TCP, outputDirectory: first.out });
      network.leadTo(next.daemon.endpoint);
      network.cut();
    });
    expect(values).toEqual(upTo(FRAMES));
  });
});

describe('messages', () => {
  /** Whatever is sent between two halves of a trace, the file holds the trace. */
  async function around(
    disturb: (peer: RawPeer, opened: Awaited<ReturnType<RawPeer['open']>>) => Promise<unknown>,
    refusal: 'refused' | 'dropped',
  ): Promise<void> {
    const { daemon } = await bench.startDaemon({ endpoint: TCP });
    const peer = await bench.greetedPeer(daemon);
    const own = newSessionKey();
    let opened = await peer.open(own);
    await peer.data(opened, 0n, 0n, framesFrom(0, 10));
    await peer.data(opened, 1n, 10n, framesFrom(10, 20));
    await disturb(peer, opened);
    let seq = 2n;
    if (refusal === 'refused') {
      expect(await peer.next('error')).toMatchObject({ trace: opened.trace, retry: true });
      opened = await peer.open(own);
      expect(opened.frames).toBe(20n);
      seq = 0n;
    }
    await peer.data(opened, seq, 20n, framesFrom(20, 30));
    await peer.control(closeMessage(own.session, opened.trace, 30));
    await peer.next('closed');
    expect(valuesOf(decodeFile(opened.path))).toEqual(upTo(30));
  }

  it('that come twice are dropped', () =>
    around((peer, opened) => peer.data(opened, 1n, 10n, framesFrom(10, 20)), 'dropped'));

  it('of the past, replayed, are dropped', () =>
    around((peer, opened) => peer.data(opened, 0n, 0n, framesFrom(0, 10)), 'dropped'));

  it('of another epoch are dropped', () =>
    around((peer, opened) => peer.data(opened, 2n, 20n, framesFrom(20, 25), { epoch: 99 }), 'dropped'));

  it('out of order are refused', () =>
    around((peer, opened) => peer.data(opened, 3n, 30n, framesFrom(30, 40)), 'refused'));

  it('that repeat frames under a new number are refused', () =>
    around((peer, opened) => peer.data(opened, 2n, 10n, framesFrom(10, 20)), 'refused'));

  it('that are cut off are refused', () =>
    around(async (peer, opened) => {
      const payload = framesFrom(20, 30);
      const { encodeDataHeader } = await import('../support/data-header.js');
      const { trace, epoch } = opened;
      const header = encodeDataHeader({
        flags: 0,
        trace,
        epoch,
        seq: 2n,
        firstFrame: 20n,
        payloadSize: payload.length,
      });
      await peer.send(header, payload.subarray(0, 100));
    }, 'refused'));
});

describe('keys', () => {
  const server = makeKeyPair();
  const listed = makeKeyPair();
  const stranger = makeKeyPair();
  const guarded = () =>
    bench.startDaemon({
      endpoint: 'tcp://*:*',
      keys: { ...server, clientKeys: new Set([listed.publicKey]) },
    });
  const local = (endpoint: string): string => endpoint.replace('0.0.0.0', '127.0.0.1');

  it('let listed clients in, on any address', async () => {
    const { daemon } = await guarded();
    const keys = { ...listed, serverKey: server.publicKey };
    const client = await BridgeClient.connect(local(daemon.endpoint), { keys });
    bench.later(() => client.close());
    const trace = await client.open({ name: 'x', schema: SCHEMA });
    await trace.send(framesFrom(0, 10));
    expect((await trace.close()).frames).toBe(10n);
  });

  it.each([
    ['not on the list', { ...stranger, serverKey: server.publicKey }],
    [
      "that take another one's public key",
      { ...stranger, publicKey: listed.publicKey, serverKey: server.publicKey },
    ],
    ['for another daemon', { ...listed, serverKey: stranger.publicKey }],
    ['that are none', undefined],
  ])('%s are not let in', async (_, keys) => {
    const { daemon } = await guarded();
    const options = { timeoutMs: 700, keys };
    await expect(BridgeClient.connect(local(daemon.endpoint), options)).rejects.toMatchObject({
      code: 'BRIDGE_NO_DAEMON',
    });
    expect(daemon.sessions).toEqual([]);
  });

  it('without them a daemon listens on loopback addresses only', async () => {
    await expect(
      Daemon.start({ endpoint: 'tcp://0.0.0.0:*', outputDirectory: bench.dirs.make() }),
    ).rejects.toMatchObject({ code: 'BRIDGE_ENDPOINT' });
  });
});

describe('the C client', () => {
  let simulator = '';
  beforeAll(() => {
    simulator = buildSimulator();
  });

  function simulate(endpoint: string, cwd: string, env: Record<string, string> = {}): Running {
    const running = new Running(simulator, ['core0', '6000', '40', join(cwd, 'ledger')], {
      cwd,
      env: { USCOPE_ENDPOINT: endpoint, USCOPE_TIMEOUT_MS: '60000', ...env },
    });
    bench.later(() => running.kill('SIGKILL'));
    return running;
  }

  it('loses nothing on a connection that is cut and stalls', async () => {
    const { daemon, out } = await bench.startDaemon({ endpoint: TCP });
    const network = await networkTo(daemon);
    const running = simulate(network.endpoint, bench.dirs.make());
    await running.printed('tracing');
    for (let i = 0; i < 3; i++) {
      await delay(40);
      network.cut();
      await delay(40);
      network.stall();
      await delay(60);
      network.flow();
    }
    expect((await running.ended).status).toBe(0);
    expect(await contentsOf(join(out, 'core0.uscope'))).toMatchObject({
      cycles: 6000,
      problem: null,
      status: 'closed',
    });
  });

  it('comes in with a key from `uscope keygen`, and not without', async () => {
    const keys = bench.dirs.make();
    const { keyFile } = await import('../../sdk/src/bridge/wire/key-files.js');
    const { writeFileSync } = await import('node:fs');
    const server = makeKeyPair();
    const client = makeKeyPair();
    writeFileSync(join(keys, 'server.pub'), `public ${server.publicKey}\n`);
    writeFileSync(join(keys, 'client'), keyFile(client), { mode: 0o600 });
    const clientKeys = new Set([client.publicKey]);
    const { daemon, out } = await bench.startDaemon({ endpoint: TCP, keys: { ...server, clientKeys } });
    const env = {
      USCOPE_SERVER_KEY_FILE: join(keys, 'server.pub'),
      USCOPE_KEY_FILE: join(keys, 'client'),
    };
    expect((await simulate(daemon.endpoint, keys, env).ended).status).toBe(0);
    expect((await contentsOf(join(out, 'core0.uscope'))).cycles).toBe(6000);
    const without = await simulate(daemon.endpoint, keys, { USCOPE_OPEN_TIMEOUT_MS: '1000' }).ended;
    expect([without.status, without.stderr]).toEqual([4, expect.stringContaining('BRIDGE_NO_DAEMON')]);
    const half = { ...env, USCOPE_KEY_FILE: '' };
    const wrong = await simulate(daemon.endpoint, keys, half).ended;
    expect([wrong.status, wrong.stderr]).toEqual([4, expect.stringContaining('BRIDGE_KEY')]);
    spawnSync('chmod', ['644', join(keys, 'client')]);
    const open = await simulate(daemon.endpoint, keys, env).ended;
    expect([open.status, open.stderr]).toEqual([4, expect.stringContaining('others may read')]);
  });
});
