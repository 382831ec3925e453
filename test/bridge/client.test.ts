import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { Router } from 'zeromq';
import { Daemon } from '../../sdk/src/bridge/daemon/daemon.js';
import { encodeControl } from '../../sdk/src/bridge/wire/codec.js';
import { BridgeClient } from '../support/bridge-client/client.js';
import { BridgeBench, framesFrom, SCHEMA, upTo, valuesOf } from '../support/bridge-peer.js';
import { decodeFile } from '../support/decode-file.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';

// Daemons are started, killed, and waited for.
limitOfFile(PROCESSES_MS);

const bench = new BridgeBench();
const { dirs } = bench;
afterEach(() => bench.cleanUp());

async function connect(endpoint: string, timeoutMs = 20_000): Promise<BridgeClient> {
  const client = await BridgeClient.connect(endpoint, { timeoutMs });
  bench.later(() => client.close());
  return client;
}

/** Not finalized at the end: these daemons are made to vanish. */
async function startDaemon(endpoint: string, outputDirectory: string): Promise<Daemon> {
  const daemon = await Daemon.start({ endpoint, outputDirectory });
  bench.later(() => daemon.stop());
  return daemon;
}

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
    for (const name of ['a', 'b'])
      expect(valuesOf(decodeFile(join(directory, `${name}.uscope`)))).toEqual(upTo(100));
  });

  it('learns why a trace is refused', async () => {
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

  it('continues when the daemon dies and another one takes its place', async () => {
    const directory = dirs.make();
    const endpoint = `ipc://${directory}/d.sock`;
    const first = await startDaemon(endpoint, directory);
    const client = await connect(endpoint);
    const trace = await client.open({ name: 'x', schema: SCHEMA });
    for (let i = 0; i < 10; i++) await trace.send(framesFrom(i * 10, i * 10 + 10));
    await trace.flushed();
    const frame = framesFrom(100, 101, 20);
    await trace.send(frame.slice(0, 160)); // the daemon ends inside a frame
    await delay(50);
    await first.stop();
    await trace.send(frame.slice(160));
    await trace.send(framesFrom(101, 110));
    await startDaemon(endpoint, directory);
    for (let i = 11; i < 20; i++) await trace.send(framesFrom(i * 10, i * 10 + 10));
    expect(await trace.close()).toMatchObject({ frames: 200n, items: 219n, lost: 0n });
    const extra = new Array(19).fill(100);
    expect(valuesOf(decodeFile(trace.path))).toEqual([...upTo(100), ...extra, ...upTo(200).slice(100)]);
  });

  it('continues with a trace that a daemon finalized on its way out', async () => {
    const directory = dirs.make();
    const endpoint = `ipc://${directory}/d.sock`;
    const first = await startDaemon(endpoint, directory);
    const client = await connect(endpoint);
    const secret = new Uint8Array(32).fill(7);
    const trace = await client.open({ name: 'x', schema: SCHEMA, secret });
    await trace.send(framesFrom(0, 50));
    await trace.flushed();
    await first.finalize();
    await first.stop();
    await expect(trace.close()).rejects.toMatchObject({ code: 'BRIDGE_FINALIZED' }); // so it was told
    await startDaemon(endpoint, directory);
    const again = await client.open({ name: 'x', schema: SCHEMA, secret });
    expect(again.durableFrames).toBe(50n);
  });

  it('learns that nobody answers', async () => {
    const endpoint = `ipc://${dirs.make()}/nobody.sock`;
    await expect(BridgeClient.connect(endpoint, { timeoutMs: 500 })).rejects.toMatchObject({
      code: 'BRIDGE_NO_DAEMON',
    });
  });

  it('learns that the daemon is lost and does not come back', async () => {
    const directory = dirs.make();
    const daemon = await startDaemon(`ipc://${directory}/d.sock`, directory);
    const client = await connect(`ipc://${directory}/d.sock`, 3000);
    const trace = await client.open({ name: 'x', schema: SCHEMA });
    await daemon.stop();
    await trace.send(framesFrom(0, 10));
    await expect(trace.close()).rejects.toMatchObject({ code: 'BRIDGE_LOST' });
  });

  it('learns that the daemon speaks another version', async () => {
    const endpoint = `ipc://${dirs.make()}/d.sock`;
    const router = new Router({ linger: 0 });
    bench.later(() => router.close());
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
