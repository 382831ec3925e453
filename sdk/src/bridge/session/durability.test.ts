import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import {
  BridgeBench,
  closeMessage,
  framesFrom,
  sessionId,
  upTo,
  valuesOf,
} from '../../../../test/support/bridge-peer.js';
import { decodeFile } from '../../../../test/support/decode-file.js';
import { limitOfFile, PROCESSES_MS } from '../../../../test/support/limits.js';
import { UscopeError } from '../../base/errors.js';
import {
  type OpenOutput,
  type OutputFile,
  openNodeOutput,
  RecordWriter,
  resumeTrace,
} from '../../writer/index.js';
import { type Durability, paceOf } from './durability.js';
import type { SinkFactory } from './sink.js';

// Daemons sync files, and are waited for.
limitOfFile(PROCESSES_MS);

const bench = new BridgeBench();
afterEach(() => bench.cleanUp());

/** A file system that counts its syncs, and has no room while `isFull`. */
class Disk {
  syncs = 0;
  isFull = false;

  readonly open: OpenOutput = async (...file) => {
    const below = await openNodeOutput(...file);
    return new Proxy(below, {
      get: (target, key: keyof OutputFile) => {
        const member = target[key];
        if (typeof member !== 'function') return member;
        return (...args: never[]) => {
          if (key === 'sync') this.syncs++;
          if (key === 'write' && this.isFull)
            return Promise.reject(new UscopeError('WRITER_DISK_FULL', 'no room'));
          return (member as (...args: never[]) => unknown).apply(target, args);
        };
      },
    });
  };
}

/** Traces written through a layer of that durability over `disk`. */
function sinksOn(disk: Disk, durability: Durability): SinkFactory {
  const { openOutput } = paceOf(durability, disk.open);
  return {
    create: (options) => RecordWriter.create({ ...options, openOutput }),
    resume: (options) => resumeTrace({ ...options, openOutput }),
  };
}

describe('durability', () => {
  it('segment: acknowledged after two syncs for every group', async () => {
    const disk = new Disk();
    const { daemon } = await bench.startDaemon({ sinks: sinksOn(disk, { mode: 'segment' }) });
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1) });
    const before = disk.syncs;
    for (let i = 0; i < 5; i++) {
      await peer.data(opened, BigInt(i), BigInt(i * 10), framesFrom(i * 10, i * 10 + 10));
      await peer.control({ t: 'flush', trace: opened.trace, epoch: opened.epoch });
      await peer.acked(BigInt(i * 10 + 10));
    }
    expect(disk.syncs - before).toBe(10);
  });

  it('none: acknowledged without any sync', async () => {
    const disk = new Disk();
    const { daemon } = await bench.startDaemon({ sinks: sinksOn(disk, { mode: 'none' }) });
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1) });
    await peer.data(opened, 0n, 0n, framesFrom(0, 10));
    await peer.control({ t: 'flush', trace: opened.trace, epoch: opened.epoch });
    await peer.acked(10n);
    await peer.control(closeMessage(sessionId(1), opened.trace, 10));
    await peer.next('closed');
    expect(disk.syncs).toBe(0);
    expect(valuesOf(decodeFile(opened.path))).toEqual(upTo(10));
  });

  it('interval: one group in that time, acknowledged after its sync, however many segments there are', async () => {
    const disk = new Disk();
    const pace = paceOf({ mode: 'interval', ms: 400 }, disk.open);
    const acked: [frames: number, syncs: number][] = [];
    const { daemon } = await bench.startDaemon({
      checkpointIntervalPs: 10_000n,
      sinks: {
        create: (options) =>
          RecordWriter.create({
            ...options,
            openOutput: pace.openOutput,
            onDurable: (frames, strings) => {
              acked.push([Number(frames), disk.syncs]);
              options.onDurable?.(frames, strings);
            },
          }),
        resume: async () => null,
      },
    });
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1) });
    const before = disk.syncs;
    const start = performance.now();
    // Segments all the time, until there were two groups: 40 of them, fewer on a machine that is busy.
    for (let i = 0; acked.length < 2; i++) {
      await peer.data(opened, BigInt(i), BigInt(i * 10), framesFrom(i * 10, i * 10 + 10));
      await delay(20);
    }
    const groups = (disk.syncs - before) / 2;
    expect(groups).toBeLessThanOrEqual((performance.now() - start) / 400 + 2);
    expect(acked.length).toBeLessThanOrEqual(groups + 1);
    for (const [, syncs] of acked) expect((syncs - before) % 2).toBe(0);
    pace.end();
  });

  it('interval: nobody who waits has to wait for it', async () => {
    const { daemon } = await bench.startDaemon({ durability: { mode: 'interval', ms: 3_600_000 } });
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1), credit: 1 << 20 });
    for (let i = 0; i < 3; i++) {
      await peer.data(opened, BigInt(i), BigInt(i * 10), framesFrom(i * 10, i * 10 + 10));
      await peer.control({ t: 'flush', trace: opened.trace, epoch: opened.epoch });
      await peer.acked(BigInt(i * 10 + 10));
    }
    // a client whose credit runs out
    const size = framesFrom(0, 1000).length;
    let frames = 30;
    for (let sent = 0, seq = 3n; sent < 1 << 20; sent += size, seq++, frames += 1000)
      await peer.data(opened, seq, BigInt(frames), framesFrom(frames, frames + 1000));
    await peer.acked(31n);
    await peer.control(closeMessage(sessionId(1), opened.trace, frames));
    await peer.next('closed', ['ack']);
    expect(valuesOf(decodeFile(opened.path))).toEqual(upTo(frames));
  });
});

describe('a full disk', () => {
  it('with --on-full=stop ends the trace with a coded error; the file keeps what was committed', async () => {
    const disk = new Disk();
    const { daemon } = await bench.startDaemon({ sinks: sinksOn(disk, { mode: 'segment' }), onFull: 'stop' });
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1) });
    await peer.data(opened, 0n, 0n, framesFrom(0, 10));
    await peer.control({ t: 'flush', trace: opened.trace, epoch: opened.epoch });
    await peer.acked(10n);
    disk.isFull = true;
    await peer.data(opened, 1n, 10n, framesFrom(10, 20));
    await peer.control({ t: 'flush', trace: opened.trace, epoch: opened.epoch });
    expect(await peer.next('error')).toMatchObject({ trace: opened.trace, code: 'WRITER_DISK_FULL' });
    disk.isFull = false;
    expect(valuesOf(decodeFile(opened.path))).toEqual(upTo(10));
  });

  it('ends it also while its client sends nothing: it may wait for an acknowledgement that never comes', async () => {
    const disk = new Disk();
    const { daemon } = await bench.startDaemon({ sinks: sinksOn(disk, { mode: 'segment' }), onFull: 'stop' });
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1) });
    disk.isFull = true;
    await peer.data(opened, 0n, 0n, framesFrom(0, 10));
    expect(await peer.next('error')).toMatchObject({ trace: opened.trace, code: 'WRITER_DISK_FULL' });
  });
});
