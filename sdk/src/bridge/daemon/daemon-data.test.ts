import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import {
  BridgeBench,
  bytesOf,
  closeMessage,
  framesFrom,
  type RawPeer,
  SCHEMA,
  sessionId,
  upTo,
  valuesOf,
} from '../../../../test/support/bridge-peer.js';
import { decodeFile } from '../../../../test/support/decode-file.js';
import { limitOfFile, PROCESSES_MS } from '../../../../test/support/limits.js';
import { UscopeError } from '../../base/errors.js';
import { SessionStatus } from '../../format/session-chunk.js';
import { Action } from '../../format/types.js';
import {
  type OpenOutput,
  openNodeOutput,
  RecordWriter,
  resumeTrace,
  type WriterOptions,
} from '../../writer/index.js';
import { RecordBatch } from '../../writer/records/record-batch.js';

// Daemons sync files, and are waited for.
limitOfFile(PROCESSES_MS);

const VECTORS = new URL('../../../../test/vectors/bridge/', import.meta.url);
const bench = new BridgeBench();
afterEach(() => bench.cleanUp());

describe('data', () => {
  it('is in the file after close, and was acknowledged', async () => {
    const { daemon } = await bench.startDaemon();
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1) });
    const batch = new RecordBatch();
    batch.string(0, Buffer.from('hällo'));
    batch.begin(100_000n);
    const { view, offset } = batch.event(0, 4);
    view.setUint32(offset, 0, true);
    batch.end(1, 100);
    await peer.data(opened, 0n, 0n, framesFrom(0, 60));
    await peer.data(opened, 1n, 60n, framesFrom(60, 100));
    await peer.data(opened, 2n, 100n, bytesOf(batch));
    await peer.acked(101n);
    await peer.control({
      ...closeMessage(sessionId(1), opened.trace, 101, 1),
      rejected: 2n,
      reasons: [['OP_SLOT', 2n]],
    });
    const { stats } = await peer.next('closed');
    const file = decodeFile(opened.path);
    expect(stats).toMatchObject({
      path: opened.path,
      status: SessionStatus.CLOSED,
      frames: 101n,
      items: 101n,
      strings: 1n,
      total_time_ps: 100_000n,
      rejected: 2n,
      lost: 0n,
      bytes: BigInt(file.bytes.length),
    });
    expect(valuesOf(decodeFile(opened.path))).toEqual([...upTo(100), -1]);
    expect(file.strings).toEqual(['hällo']);
    expect(file.preamble.session).toMatchObject({ status: SessionStatus.CLOSED, rejected: 2n });
  });

  it('may split a frame between messages, at any record', async () => {
    const { daemon } = await bench.startDaemon();
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1) });
    const records = framesFrom(0, 3, 2);
    for (let i = 0; i * 16 < records.length; i++) {
      await peer.data(opened, BigInt(i), BigInt(Math.floor(i / 4)), records.slice(i * 16, i * 16 + 16));
    }
    await peer.control(closeMessage(sessionId(1), opened.trace, 3));
    await peer.next('closed');
    expect(valuesOf(decodeFile(opened.path))).toEqual([0, 0, 1, 1, 2, 2]);
  });

  it('that comes twice is recorded once', async () => {
    const { daemon } = await bench.startDaemon();
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1) });
    for (const seq of [0n, 0n, 1n, 0n, 1n])
      await peer.data(opened, seq, seq * 10n, framesFrom(Number(seq) * 10, Number(seq) * 10 + 10));
    await peer.control(closeMessage(sessionId(1), opened.trace, 20));
    await peer.next('closed');
    expect(valuesOf(decodeFile(opened.path))).toEqual(upTo(20));
  });

  const gaps: [
    string,
    (peer: RawPeer, opened: Awaited<ReturnType<RawPeer['open']>>) => Promise<void>,
    string,
  ][] = [
    [
      'a message left out',
      (peer, opened) => peer.data(opened, 2n, 10n, framesFrom(10, 20)),
      'BRIDGE_SEQUENCE',
    ],
    ['frames left out', (peer, opened) => peer.data(opened, 1n, 11n, framesFrom(11, 20)), 'BRIDGE_SEQUENCE'],
    ['frames going back', (peer, opened) => peer.data(opened, 1n, 9n, framesFrom(9, 20)), 'BRIDGE_SEQUENCE'],
    [
      'a wrong magic',
      (peer, { trace }) => {
        const header = Buffer.alloc(48);
        header.writeUInt32LE(trace, 8);
        return peer.send(header, framesFrom(10, 20));
      },
      'BRIDGE_MESSAGE',
    ],
    [
      'a payload cut short',
      (peer, opened) => {
        const header = readFileSync(new URL('data-header.bin', VECTORS));
        header.writeUInt32LE(opened.trace, 8);
        header.writeUInt32LE(opened.epoch, 12);
        return peer.send(header, framesFrom(10, 20));
      },
      'BRIDGE_MESSAGE',
    ],
  ];
  it.each(gaps)(
    'with %s is dropped until the trace is opened again; nothing is harmed',
    async (_, spoil, code) => {
      const { daemon } = await bench.startDaemon();
      const peer = await bench.greetedPeer(daemon);
      const opened = await peer.open({ session: sessionId(1) });
      await peer.data(opened, 0n, 0n, framesFrom(0, 10));
      await spoil(peer, opened);
      await peer.data(opened, 3n, 20n, framesFrom(20, 30));
      expect(await peer.next('error')).toMatchObject({
        code,
        trace: opened.trace,
        epoch: opened.epoch,
        retry: true,
      });
      const again = await peer.open({ session: sessionId(1) });
      expect(again.epoch).not.toBe(opened.epoch);
      expect(again.frames).toBe(10n);
      await peer.data(opened, 4n, 10n, framesFrom(10, 15)); // of the old epoch: dropped without a word
      await peer.data(again, 0n, 10n, framesFrom(10, 30));
      await peer.control(closeMessage(sessionId(1), again.trace, 30));
      expect((await peer.next('closed')).stats).toMatchObject({ frames: 30n, lost: 0n });
      expect(valuesOf(decodeFile(again.path))).toEqual(upTo(30));
    },
  );

  it('for a trace that is not open here is answered by BRIDGE_UNKNOWN_TRACE, once', async () => {
    const { daemon } = await bench.startDaemon();
    const [owner, stranger] = [await bench.greetedPeer(daemon), await bench.greetedPeer(daemon)];
    const opened = await owner.open({ session: sessionId(1) });
    await stranger.data(opened, 0n, 0n, framesFrom(0, 5));
    await stranger.data(opened, 1n, 5n, framesFrom(5, 9));
    expect(await stranger.next('error')).toMatchObject({
      code: 'BRIDGE_UNKNOWN_TRACE',
      trace: opened.trace,
      retry: true,
    });
    await stranger.nothingElse();
    await owner.data(opened, 0n, 0n, framesFrom(0, 3));
    await owner.control(closeMessage(sessionId(1), opened.trace, 3));
    expect((await owner.next('closed')).stats.frames).toBe(3n);
  });

  const broken = readdirSync(VECTORS).filter((file) => /^bad-records-.*\.bin$/.test(file));
  it.each(broken)('%s ends its trace; the frames before it and other traces stay', async (file) => {
    const { daemon } = await bench.startDaemon();
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1) });
    const other = await peer.open({ session: sessionId(2), name: 'other' });
    const bytes = readFileSync(new URL(file, VECTORS));
    const { flags = 0 } = JSON.parse(
      readFileSync(new URL(file.replace(/bin$/, 'json'), VECTORS), 'utf8'),
    ) as { flags?: number };
    await peer.data(opened, 0n, 0n, bytes, { flags });
    expect(await peer.next('error')).toMatchObject({ trace: opened.trace, code: 'BRIDGE_RECORD' });
    await peer.data(other, 0n, 0n, framesFrom(0, 4));
    await peer.control(closeMessage(sessionId(2), other.trace, 4));
    expect((await peer.next('closed')).stats).toMatchObject({ frames: 4n, lost: 0n });
    await peer.control(closeMessage(sessionId(1), opened.trace, 1));
    expect((await peer.next('closed')).stats.lost).toBeGreaterThan(0n);
    expect(decodeFile(opened.path).preamble.session).toMatchObject({ status: SessionStatus.CLOSED });
  });

  it('that violates the schema counts what is lost', async () => {
    const { daemon } = await bench.startDaemon();
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1) });
    const batch = new RecordBatch();
    batch.begin(50_000n);
    batch.op(Action.SET, 0, 99, 0, 1, 0);
    batch.end(1, 50);
    await peer.data(opened, 0n, 0n, Buffer.concat([framesFrom(0, 50), bytesOf(batch), framesFrom(51, 60)]));
    expect((await peer.next('error')).msg).toContain('slot 99 of "regs"');
    await peer.control(closeMessage(sessionId(1), opened.trace, 60));
    expect((await peer.next('closed')).stats).toMatchObject({ frames: 50n, items: 50n, lost: 10n });
    expect(valuesOf(decodeFile(opened.path))).toEqual(upTo(50));
  });

  it('beyond the credit ends the trace', async () => {
    const { daemon } = await bench.startDaemon();
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1), credit: 4096 });
    // One frame that does not end: nothing can be committed, so nothing acknowledged.
    await peer.control({ t: 'ping' });
    const batch = new RecordBatch();
    for (let i = 0; i < 60_000; i++) batch.op(Action.SET, 0, 0, 0, i, 0);
    const ops = bytesOf(batch);
    const begin = framesFrom(0, 1).slice(0, 16);
    await peer.data(opened, 0n, 0n, begin);
    for (let i = 1; i < 20; i++) await peer.data(opened, BigInt(i), 0n, ops);
    const error = await peer.next('error', ['ack', 'pong']);
    expect(['BRIDGE_LIMIT', 'BRIDGE_RECORD']).toContain(error.code);
  });
});

describe('resume', () => {
  it('on a new connection continues where the file ends, and skips what is sent again', async () => {
    const { daemon } = await bench.startDaemon();
    const before = await bench.greetedPeer(daemon);
    const opened = await before.open({ session: sessionId(1) });
    await before.data(opened, 0n, 0n, framesFrom(0, 10));
    await before.data(opened, 1n, 10n, framesFrom(10, 20, 2).slice(0, 16 * 4 * 3 + 32)); // ends inside frame 13
    await before.acked(13n);
    before.close();
    const after = await bench.greetedPeer(daemon);
    const again = await after.open({ session: sessionId(1) });
    expect(again.frames).toBe(13n);
    await after.data(again, 0n, 5n, framesFrom(5, 9));
    await after.data(again, 1n, 9n, framesFrom(9, 10).slice(0, 16));
    await after.data(again, 2n, 9n, Buffer.concat([framesFrom(9, 10).slice(16), framesFrom(10, 12, 2)]), {
      flags: 1,
    });
    await after.data(again, 3n, 12n, framesFrom(12, 20, 2));
    await after.data(again, 4n, 20n, framesFrom(20, 25));
    await after.control(closeMessage(sessionId(1), again.trace, 25));
    await after.next('closed');
    const twice = upTo(20)
      .slice(10)
      .flatMap((n) => [n, n]);
    expect(valuesOf(decodeFile(again.path))).toEqual([...upTo(10), ...twice, 20, 21, 22, 23, 24]);
  });

  it('does not take frames beyond those that are due', async () => {
    const { daemon } = await bench.startDaemon();
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1) });
    await peer.data(opened, 0n, 0n, framesFrom(0, 10));
    const again = await peer.open({ session: sessionId(1) });
    await peer.data(again, 0n, 11n, framesFrom(11, 20));
    expect(await peer.next('error')).toMatchObject({ code: 'BRIDGE_SEQUENCE', retry: true });
  });

  it('is refused for a session that writes another name', async () => {
    const { daemon } = await bench.startDaemon();
    const peer = await bench.greetedPeer(daemon);
    await peer.open({ session: sessionId(1) });
    await peer.control({ t: 'open', req: 2, name: 'b', schema: SCHEMA, session: sessionId(1), credit: 1 });
    expect(await peer.next('error')).toMatchObject({ req: 2, code: 'BRIDGE_MESSAGE' });
  });
});

describe('close', () => {
  it('asked again gives the same answer, also on another connection', async () => {
    const { daemon } = await bench.startDaemon();
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1) });
    await peer.data(opened, 0n, 0n, framesFrom(0, 10));
    await peer.control(closeMessage(sessionId(1), opened.trace, 10));
    await peer.control(closeMessage(sessionId(1), opened.trace, 10));
    const [first, second] = [await peer.next('closed'), await peer.next('closed')];
    expect(second).toEqual(first);
    const other = await bench.greetedPeer(daemon);
    const again = await other.open({ session: sessionId(1) });
    expect(again).toMatchObject({ frames: 10n, path: opened.path });
    await other.control(closeMessage(sessionId(1), again.trace, 10));
    expect((await other.next('closed')).stats).toEqual(first.stats);
  });

  it('before all data has come asks the client to send it again', async () => {
    const { daemon } = await bench.startDaemon();
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1) });
    await peer.data(opened, 0n, 0n, framesFrom(0, 10));
    await peer.control(closeMessage(sessionId(1), opened.trace, 12));
    expect(await peer.next('error')).toMatchObject({ code: 'BRIDGE_SEQUENCE', retry: true });
    const again = await peer.open({ session: sessionId(1) });
    await peer.data(again, 0n, 10n, framesFrom(10, 12));
    await peer.control(closeMessage(sessionId(1), again.trace, 12));
    expect((await peer.next('closed')).stats.frames).toBe(12n);
  });

  it('of an unknown session is answered by BRIDGE_UNKNOWN_TRACE', async () => {
    const { daemon } = await bench.startDaemon();
    const peer = await bench.greetedPeer(daemon);
    await peer.control(closeMessage(sessionId(1), 5, 0));
    expect(await peer.next('error')).toMatchObject({ code: 'BRIDGE_UNKNOWN_TRACE', trace: 5, retry: true });
  });
});

describe('a full disk', () => {
  it('is reported to the client; when there is room again nothing is lost', async () => {
    let full = false;
    const openOutput: OpenOutput = async (path, mode) => {
      const file = await openNodeOutput(path, mode);
      const write = file.write.bind(file);
      file.write = async (chunks, position) => {
        if (full) throw new UscopeError('WRITER_DISK_FULL', 'no space left', { file: path });
        await write(chunks, position);
      };
      return file;
    };
    const { daemon } = await bench.startDaemon({
      sinks: {
        create: (options) => RecordWriter.create({ ...options, openOutput }),
        resume: (options) => resumeTrace(options),
      },
    });
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1) });
    full = true;
    await peer.data(opened, 0n, 0n, framesFrom(0, 50));
    await peer.control(closeMessage(sessionId(1), opened.trace, 50));
    expect(await peer.next('stalled')).toMatchObject({ trace: opened.trace, code: 'WRITER_DISK_FULL' });
    await peer.nothingElse(); // the daemon still answers
    full = false;
    expect((await peer.next('closed')).stats).toMatchObject({ frames: 50n, lost: 0n });
    expect(valuesOf(decodeFile(opened.path))).toEqual(upTo(50));
  });

  it('asks for small files when its operator does: of the writer, also of a trace that is resumed', async () => {
    const asked: Partial<WriterOptions>[] = [];
    const { daemon } = await bench.startDaemon({
      small: true,
      sinks: {
        create: (options) => {
          asked.push(options);
          return RecordWriter.create({ ...options, compression: 'lz4' });
        },
        resume: async (options) => {
          asked.push(options);
          return null;
        },
      },
    });
    const peer = await bench.greetedPeer(daemon);
    await peer.open({ session: sessionId(1) });
    expect(asked.length).toBe(2);
    for (const { compression, coarseSummary } of asked)
      expect([compression, coarseSummary]).toEqual(['zstd', true]);
  });
});
