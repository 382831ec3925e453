import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { Router } from 'zeromq';
import { framesFrom, SCHEMA, TempDirs } from '../../../test/support/bridge-peer.js';
import { decodeFile } from '../../../test/support/decode-file.js';
import { BridgeClient } from './client.js';
import { encodeControl } from './codec.js';
import { Daemon } from './daemon.js';

const dirs = new TempDirs();
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  dirs.cleanUp();
});

async function connect(endpoint: string, timeoutMs = 20_000): Promise<BridgeClient> {
  const client = await BridgeClient.connect(endpoint, { timeoutMs });
  cleanups.push(() => client.close());
  return client;
}

async function startDaemon(endpoint: string, outputDirectory: string): Promise<Daemon> {
  const daemon = await Daemon.start({ endpoint, outputDirectory });
  cleanups.push(() => daemon.stop());
  return daemon;
}

function valuesOf(path: string): number[] {
  return decodeFile(path)
    .segments.flatMap(({ frames }) => frames)
    .flatMap(({ items }) => items.map((item) => (item.kind === 'op' ? Number(item.value) : -1)));
}
const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

describe('a client', () => {
  it('writes traces through the daemon, several over one connection', async () => {
    const directory = dirs.make();
    await startDaemon(`ipc://${directory}/d.sock`, directory);
    const client = await connect(`ipc://${directory}/d.sock`);
    const traces = await Promise.all(['a', 'b'].map((name) => client.open({ name, schema: SCHEMA })));
    for (let i = 0; i < 10; i++)
      for (const trace of traces) await trace.send(framesFrom(i * 10, i * 10 + 10));
    await traces[0].flushed();
    expect(traces[0].durableFrames).toBe(100n);
    const stats = await Promise.all(traces.map((trace) => trace.close()));
    expect(stats.map(({ frames, lost }) => [frames, lost])).toEqual([
      [100n, 0n],
      [100n, 0n],
    ]);
    for (const name of ['a', 'b']) expect(valuesOf(join(directory, `${name}.uscope`))).toEqual(upTo(100));
  });

  it('is told why a trace is refused', async () => {
    const directory = dirs.make();
    await startDaemon(`ipc://${directory}/d.sock`, directory);
    const client = await connect(`ipc://${directory}/d.sock`);
    await expect(client.open({ name: '../x', schema: SCHEMA })).rejects.toMatchObject({
      code: 'BRIDGE_NAME',
    });
    await client.open({ name: 'x', schema: SCHEMA });
  });

  it('waits for acknowledgements when its credit is used up', async () => {
    const directory = dirs.make();
    await startDaemon(`ipc://${directory}/d.sock`, directory);
    const client = await connect(`ipc://${directory}/d.sock`);
    const trace = await client.open({ name: 'x', schema: SCHEMA, credit: 64 * 1024 });
    for (let i = 0; i < 100; i++) await trace.send(framesFrom(i * 100, i * 100 + 100));
    expect(trace.durableFrames).toBeGreaterThan(8000n);
    expect((await trace.close()).frames).toBe(10_000n);
  });

  it('goes on when the daemon dies and another one takes its place', async () => {
    const directory = dirs.make();
    const endpoint = `ipc://${directory}/d.sock`;
    const first = await startDaemon(endpoint, directory);
    const client = await connect(endpoint);
    const trace = await client.open({ name: 'x', schema: SCHEMA });
    for (let i = 0; i < 10; i++) await trace.send(framesFrom(i * 10, i * 10 + 10));
    await trace.flushed();
    const half = framesFrom(100, 110);
    await trace.send(half.slice(0, half.length / 2 + 16)); // the daemon ends inside a frame
    await delay(50);
    await first.stop();
    await trace.send(half.slice(half.length / 2 + 16));
    await startDaemon(endpoint, directory);
    for (let i = 11; i < 20; i++) await trace.send(framesFrom(i * 10, i * 10 + 10));
    expect(await trace.close()).toMatchObject({ frames: 200n, items: 200n, lost: 0n });
    expect(valuesOf(trace.path)).toEqual(upTo(200));
  });

  it('learns the statistics of a trace whose daemon died before it could tell them', async () => {
    const directory = dirs.make();
    const endpoint = `ipc://${directory}/d.sock`;
    const first = await startDaemon(endpoint, directory);
    const client = await connect(endpoint);
    const trace = await client.open({ name: 'x', schema: SCHEMA });
    await trace.send(framesFrom(0, 50));
    await trace.flushed();
    await first.finalize();
    await first.stop();
    // The trace was failed by the daemon's farewell; a client with the same session learns the rest.
    await startDaemon(endpoint, directory);
    const again = await client.open({ name: 'x', schema: SCHEMA, session: trace.session });
    expect(again.durableFrames).toBe(50n);
  });

  it('is told when nobody answers', async () => {
    const endpoint = `ipc://${dirs.make()}/nobody.sock`;
    await expect(BridgeClient.connect(endpoint, { timeoutMs: 500 })).rejects.toMatchObject({
      code: 'BRIDGE_NO_DAEMON',
    });
  });

  it('is told when the daemon is lost and does not come back', async () => {
    const directory = dirs.make();
    const daemon = await startDaemon(`ipc://${directory}/d.sock`, directory);
    const client = await connect(`ipc://${directory}/d.sock`, 700);
    const trace = await client.open({ name: 'x', schema: SCHEMA });
    await daemon.stop();
    await trace.send(framesFrom(0, 10));
    await expect(trace.close()).rejects.toMatchObject({ code: 'BRIDGE_LOST' });
  });

  it('is told when the daemon speaks another version', async () => {
    const endpoint = `ipc://${dirs.make()}/d.sock`;
    const router = new Router({ linger: 0 });
    cleanups.push(() => router.close());
    await router.bind(endpoint);
    const answering = (async () => {
      const [id] = await router.receive();
      await router.send([
        id,
        encodeControl({ t: 'error', code: 'BRIDGE_VERSION', msg: 'this is version 2', v: 2 }),
      ]);
    })();
    const connecting = BridgeClient.connect(endpoint, { timeoutMs: 5000 });
    await expect(connecting).rejects.toMatchObject({ code: 'BRIDGE_VERSION' });
    await answering;
  });
});
