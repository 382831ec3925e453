import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { bytesOf, framesFrom, RawPeer, SCHEMA, TempDirs } from '../../../test/support/bridge-peer.js';
import { decodeFile } from '../../../test/support/decode-file.js';
import { decodeSchemaPayload } from '../format/schema-chunk.js';
import { SessionStatus } from '../format/session-chunk.js';
import { Action } from '../format/types.js';
import { RecordBatch } from '../writer/record-batch.js';
import { processStart } from './client-process.js';
import { Daemon, type DaemonOptions } from './daemon.js';
import type { ErrorMessage } from './protocol.js';

const VECTORS = new URL('../../../test/vectors/bridge/', import.meta.url);
const dirs = new TempDirs();
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  dirs.cleanUp();
});

async function startDaemon(more: Partial<DaemonOptions> = {}): Promise<{ daemon: Daemon; out: string }> {
  const out = more.outputDirectory ?? join(dirs.make(), 'out');
  const endpoint = more.endpoint ?? `ipc://${dirs.make()}/d.sock`;
  const daemon = await Daemon.start({ endpoint, outputDirectory: out, ...more });
  cleanups.push(async () => {
    await daemon.finalize();
    await daemon.stop();
  });
  return { daemon, out };
}

function peerOf(daemon: Daemon): RawPeer {
  const peer = new RawPeer(daemon.endpoint);
  cleanups.push(() => peer.close());
  return peer;
}

async function greetedPeer(daemon: Daemon): Promise<RawPeer> {
  const peer = peerOf(daemon);
  await peer.hello();
  return peer;
}

const session = (n: number): Uint8Array => new Uint8Array(16).fill(n);
const close = (id: Uint8Array, trace: number, frames: number, strings = 0) =>
  ({ t: 'close', trace, session: id, frames: BigInt(frames), strings: BigInt(strings) }) as const;

/** Values of all frames of a file, in order: what `framesFrom` put there. */
function valuesOf(path: string): number[] {
  return decodeFile(path)
    .segments.flatMap(({ frames }) => frames)
    .flatMap(({ items }) => items.map((item) => (item.kind === 'op' ? Number(item.value) : -1)));
}
const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

describe('connection', () => {
  it('hello is answered by welcome with the version of the protocol', async () => {
    const { daemon } = await startDaemon();
    const welcome = await peerOf(daemon).hello();
    expect(welcome).toMatchObject({ v: 1, pid: process.pid });
    expect(welcome.daemon).toMatch(/^uscope \d/);
  });

  it('a client of another version is told which one is spoken here', async () => {
    const { daemon } = await startDaemon();
    const peer = peerOf(daemon);
    await peer.control({ t: 'hello', v: 2, client: 'future', pid: 1, start: 0n });
    expect(await peer.next('error')).toMatchObject({ code: 'BRIDGE_VERSION', v: 1 });
  });

  it('what cannot be read is answered by BRIDGE_MESSAGE and changes nothing', async () => {
    const { daemon } = await startDaemon();
    const peer = await greetedPeer(daemon);
    for (const parts of [
      [Uint8Array.of(0xc1)],
      [new Uint8Array(0)],
      [new Uint8Array(5), new Uint8Array(16)],
    ]) {
      await peer.send(...parts);
      expect((await peer.next('error')).code).toBe('BRIDGE_MESSAGE');
    }
    await peer.send(new Uint8Array(1), new Uint8Array(1), new Uint8Array(1));
    expect((await peer.next('error')).code).toBe('BRIDGE_MESSAGE');
    await peer.open({ session: session(1) });
  });

  it('the default kind of socket is for its owner only', async () => {
    const directory = join(dirs.make(), 'private');
    await startDaemon({ endpoint: `ipc://${directory}/d.sock` });
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, 'd.sock')).mode & 0o777).toBe(0o600);
  });

  it('works over tcp on a loopback address', async () => {
    const { daemon } = await startDaemon({ endpoint: 'tcp://127.0.0.1:*' });
    expect(daemon.endpoint).toMatch(/^tcp:\/\/127\.0\.0\.1:\d+$/);
    const peer = await greetedPeer(daemon);
    const opened = await peer.open({ session: session(1) });
    await peer.data(opened, 0n, 0n, framesFrom(0, 5));
    await peer.control(close(session(1), opened.trace, 5));
    expect((await peer.next('closed')).stats.frames).toBe(5n);
  });
});

describe('opening a trace', () => {
  it('answers with the schema, the interval, the credit and the path', async () => {
    const { daemon, out } = await startDaemon({ maxCreditBytes: 100_000 });
    const peer = await greetedPeer(daemon);
    const opened = await peer.open({ session: session(1), name: 'soc/core-0', interval_ps: 5000n, req: 77 });
    expect(opened).toMatchObject({ req: 77, frames: 0n, strings: 0n, interval_ps: 5000n, credit: 100_000 });
    expect(opened.path).toBe(join(out, 'soc', 'core-0.uscope'));
    expect(decodeSchemaPayload(opened.schema, 3).storages.map(({ name }) => name)).toEqual(['regs']);
    expect(decodeFile(opened.path).preamble.checkpointIntervalPs).toBe(5000n);
  });

  it("uses the daemon's schema and interval for a client that brings none, and adds its DUT properties", async () => {
    const text = SCHEMA.replace('clocks:', 'dut: {dut_name: a, rev: "1"}\nclocks:');
    const { daemon } = await startDaemon({ schema: { text, file: 'd.yaml' }, checkpointIntervalPs: 7000n });
    const peer = await greetedPeer(daemon);
    const run = session(9);
    const dut = [
      ['rev', '2'],
      ['board', 'x'],
    ] as const;
    const opened = await peer.open({ session: session(1), schema: undefined, dut, run, core: 3 });
    const { preamble } = decodeFile(opened.path);
    expect(preamble.dut).toEqual([
      ['dut_name', 'a'],
      ['rev', '2'],
      ['board', 'x'],
    ]);
    expect(preamble.checkpointIntervalPs).toBe(7000n);
    expect(preamble.session).toMatchObject({ sessionId: session(1), runId: run, coreIndex: 3 });
  });

  it('binds the variable "core" to the core index', async () => {
    const { daemon } = await startDaemon();
    const peer = await greetedPeer(daemon);
    const schema = `${SCHEMA}variables: {core: 0}\nscopes: {"core\${core}": {}}\n`;
    const opened = await peer.open({ session: session(1), schema, core: 5 });
    expect(decodeSchemaPayload(opened.schema, 3).scopes.map(({ name }) => name)).toContain('core5');
  });

  const refused = async (peer: RawPeer, message: Parameters<RawPeer['open']>[0]): Promise<ErrorMessage> => {
    await peer.control({ t: 'open', req: 4, name: 'trace', schema: SCHEMA, credit: 1 << 20, ...message });
    const error = await peer.next('error');
    expect(error.req).toBe(4);
    return error;
  };

  it('is refused without a schema, with a wrong one, and before hello', async () => {
    const { daemon, out } = await startDaemon();
    const stranger = peerOf(daemon);
    expect((await refused(stranger, { session: session(1) })).code).toBe('BRIDGE_MESSAGE');
    const peer = await greetedPeer(daemon);
    expect((await refused(peer, { session: session(1), schema: undefined })).code).toBe('BRIDGE_NO_SCHEMA');
    const wrong = await refused(peer, {
      session: session(1),
      schema: SCHEMA.replace('slots: 16', 'slots: many'),
      schema_name: 'cpu.yaml',
    });
    expect(wrong.code).toMatch(/^SCHEMA_/);
    expect(wrong.msg).toMatch(/^cpu\.yaml:4/);
    expect(readdirSync(out)).toEqual([]);
  });

  it('is refused when too many are open', async () => {
    const { daemon } = await startDaemon({ maxTraces: 1 });
    const peer = await greetedPeer(daemon);
    await peer.open({ session: session(1) });
    expect((await refused(peer, { session: session(2), name: 'b' })).code).toBe('BRIDGE_LIMIT');
  });

  it.each([
    '',
    '/etc/x',
    '../x',
    'a/../b',
    'a//b',
    'a/',
    '.hidden',
    'a/.b',
    'a\\b',
    'a\0b',
    'é',
    'a b',
    '-x',
    'x'.repeat(201),
  ])('refuses the name %j', async (name) => {
    const { daemon, out } = await startDaemon();
    const peer = await greetedPeer(daemon);
    expect((await refused(peer, { session: session(1), name })).code).toBe('BRIDGE_NAME');
    expect(readdirSync(out)).toEqual([]);
  });

  it('never follows a symbolic link out of the output directory', async () => {
    const { daemon, out } = await startDaemon();
    const outside = dirs.make();
    mkdirSync(join(out, 'real'));
    symlinkSync(outside, join(out, 'away'));
    symlinkSync(join(out, 'real'), join(out, 'inside'));
    symlinkSync(join(outside, 'f.uscope'), join(out, 'file.uscope'));
    const peer = await greetedPeer(daemon);
    for (const name of ['away/x', 'away/deep/x', 'file']) {
      expect((await refused(peer, { session: session(1), name })).code).toBe('BRIDGE_NAME');
    }
    expect(readdirSync(outside)).toEqual([]);
    const opened = await peer.open({ session: session(1), name: 'inside/x' });
    expect(opened.path).toBe(join(out, 'real', 'x.uscope'));
  });

  it('a name belongs to one live session; to the next one when that is closed', async () => {
    const { daemon } = await startDaemon();
    const [first, second] = [await greetedPeer(daemon), await greetedPeer(daemon)];
    const opened = await first.open({ session: session(1) });
    expect((await refused(second, { session: session(2) })).code).toBe('BRIDGE_NAME_BUSY');
    await first.control(close(session(1), opened.trace, 0));
    await first.next('closed');
    await second.open({ session: session(2) });
  });

  it('an output directory that cannot be written is said at the start', async () => {
    const file = join(dirs.make(), 'file');
    const started = startDaemon({ outputDirectory: join('/proc/uscope', file) });
    await expect(started).rejects.toMatchObject({ code: 'WRITER_DIRECTORY' });
  });
});

describe('data', () => {
  it('is in the file after close, and was acknowledged', async () => {
    const { daemon } = await startDaemon();
    const peer = await greetedPeer(daemon);
    const opened = await peer.open({ session: session(1) });
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
      ...close(session(1), opened.trace, 101, 1),
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
    expect(valuesOf(opened.path)).toEqual([...upTo(100), -1]);
    expect(file.strings).toEqual(['hällo']);
    expect(file.preamble.session).toMatchObject({ status: SessionStatus.CLOSED, rejected: 2n });
  });

  it('may split a frame between messages, at any record', async () => {
    const { daemon } = await startDaemon();
    const peer = await greetedPeer(daemon);
    const opened = await peer.open({ session: session(1) });
    const records = framesFrom(0, 3, 2);
    for (let i = 0; i * 16 < records.length; i++) {
      await peer.data(opened, BigInt(i), BigInt(Math.floor(i / 4)), records.slice(i * 16, i * 16 + 16));
    }
    await peer.control(close(session(1), opened.trace, 3));
    await peer.next('closed');
    expect(valuesOf(opened.path)).toEqual([0, 0, 1, 1, 2, 2]);
  });

  it('that comes twice is recorded once', async () => {
    const { daemon } = await startDaemon();
    const peer = await greetedPeer(daemon);
    const opened = await peer.open({ session: session(1) });
    for (const seq of [0n, 0n, 1n, 0n, 1n])
      await peer.data(opened, seq, seq * 10n, framesFrom(Number(seq) * 10, Number(seq) * 10 + 10));
    await peer.control(close(session(1), opened.trace, 20));
    await peer.next('closed');
    expect(valuesOf(opened.path)).toEqual(upTo(20));
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
      const { daemon } = await startDaemon();
      const peer = await greetedPeer(daemon);
      const opened = await peer.open({ session: session(1) });
      await peer.data(opened, 0n, 0n, framesFrom(0, 10));
      await spoil(peer, opened);
      await peer.data(opened, 3n, 20n, framesFrom(20, 30));
      expect(await peer.next('error')).toMatchObject({
        code,
        trace: opened.trace,
        epoch: opened.epoch,
        retry: true,
      });
      const again = await peer.open({ session: session(1) });
      expect(again.epoch).not.toBe(opened.epoch);
      expect(again.frames).toBe(10n);
      await peer.data(opened, 4n, 10n, framesFrom(10, 15)); // of the old epoch: dropped without a word
      await peer.data(again, 0n, 10n, framesFrom(10, 30));
      await peer.control(close(session(1), again.trace, 30));
      expect((await peer.next('closed')).stats).toMatchObject({ frames: 30n, lost: 0n });
      expect(valuesOf(again.path)).toEqual(upTo(30));
    },
  );

  it('for a trace that is not open here is answered by BRIDGE_UNKNOWN_TRACE, once', async () => {
    const { daemon } = await startDaemon();
    const [owner, stranger] = [await greetedPeer(daemon), await greetedPeer(daemon)];
    const opened = await owner.open({ session: session(1) });
    await stranger.data(opened, 0n, 0n, framesFrom(0, 5));
    await stranger.data(opened, 1n, 5n, framesFrom(5, 9));
    expect(await stranger.next('error')).toMatchObject({
      code: 'BRIDGE_UNKNOWN_TRACE',
      trace: opened.trace,
      retry: true,
    });
    await stranger.nothingElse();
    await owner.data(opened, 0n, 0n, framesFrom(0, 3));
    await owner.control(close(session(1), opened.trace, 3));
    expect((await owner.next('closed')).stats.frames).toBe(3n);
  });

  const broken = readdirSync(VECTORS).filter((file) => /^bad-records-.*\.bin$/.test(file));
  it.each(broken)('%s ends its trace; the frames before it and other traces stay', async (file) => {
    const { daemon } = await startDaemon();
    const peer = await greetedPeer(daemon);
    const opened = await peer.open({ session: session(1) });
    const other = await peer.open({ session: session(2), name: 'other' });
    const bytes = readFileSync(new URL(file, VECTORS));
    await peer.data(opened, 0n, 0n, bytes);
    expect(await peer.next('error')).toMatchObject({ trace: opened.trace, code: 'BRIDGE_RECORD' });
    await peer.data(other, 0n, 0n, framesFrom(0, 4));
    await peer.control(close(session(2), other.trace, 4));
    expect((await peer.next('closed')).stats).toMatchObject({ frames: 4n, lost: 0n });
    await peer.control(close(session(1), opened.trace, 1));
    expect((await peer.next('closed')).stats.lost).toBeGreaterThan(0n);
    expect(decodeFile(opened.path).preamble.session).toMatchObject({ status: SessionStatus.CLOSED });
  });

  it('that violates the schema counts what is lost', async () => {
    const { daemon } = await startDaemon();
    const peer = await greetedPeer(daemon);
    const opened = await peer.open({ session: session(1) });
    const batch = new RecordBatch();
    batch.begin(50_000n);
    batch.op(Action.SET, 0, 99, 0, 1, 0);
    batch.end(1, 50);
    await peer.data(opened, 0n, 0n, Buffer.concat([framesFrom(0, 50), bytesOf(batch), framesFrom(51, 60)]));
    expect((await peer.next('error')).msg).toContain('slot 99 of "regs"');
    await peer.control(close(session(1), opened.trace, 60));
    expect((await peer.next('closed')).stats).toMatchObject({ frames: 50n, items: 50n, lost: 10n });
    expect(valuesOf(opened.path)).toEqual(upTo(50));
  });

  it('beyond the credit ends the trace', async () => {
    const { daemon } = await startDaemon();
    const peer = await greetedPeer(daemon);
    const opened = await peer.open({ session: session(1), credit: 4096 });
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
  it('on a new connection goes on where the file ends, and skips what is sent again', async () => {
    const { daemon } = await startDaemon();
    const before = await greetedPeer(daemon);
    const opened = await before.open({ session: session(1) });
    await before.data(opened, 0n, 0n, framesFrom(0, 10));
    await before.data(opened, 1n, 10n, framesFrom(10, 20, 2).slice(0, 16 * 4 * 3 + 32)); // ends inside frame 13
    await before.acked(13n);
    before.close();
    const after = await greetedPeer(daemon);
    const again = await after.open({ session: session(1) });
    expect(again.frames).toBe(13n);
    await after.data(again, 0n, 5n, framesFrom(5, 9));
    await after.data(again, 1n, 9n, framesFrom(9, 10).slice(0, 16));
    await after.data(again, 2n, 9n, Buffer.concat([framesFrom(9, 10).slice(16), framesFrom(10, 12, 2)]), {
      flags: 1,
    });
    await after.data(again, 3n, 12n, framesFrom(12, 20, 2));
    await after.data(again, 4n, 20n, framesFrom(20, 25));
    await after.control(close(session(1), again.trace, 25));
    await after.next('closed');
    const twice = upTo(20)
      .slice(10)
      .flatMap((n) => [n, n]);
    expect(valuesOf(again.path)).toEqual([...upTo(10), ...twice, 20, 21, 22, 23, 24]);
  });

  it('does not take frames beyond those that are due', async () => {
    const { daemon } = await startDaemon();
    const peer = await greetedPeer(daemon);
    const opened = await peer.open({ session: session(1) });
    await peer.data(opened, 0n, 0n, framesFrom(0, 10));
    const again = await peer.open({ session: session(1) });
    await peer.data(again, 0n, 11n, framesFrom(11, 20));
    expect(await peer.next('error')).toMatchObject({ code: 'BRIDGE_SEQUENCE', retry: true });
  });

  it('is refused for a session that writes another name', async () => {
    const { daemon } = await startDaemon();
    const peer = await greetedPeer(daemon);
    await peer.open({ session: session(1) });
    await peer.control({ t: 'open', req: 2, name: 'b', schema: SCHEMA, session: session(1), credit: 1 });
    expect(await peer.next('error')).toMatchObject({ req: 2, code: 'BRIDGE_MESSAGE' });
  });
});

describe('close', () => {
  it('asked again gives the same answer, also on another connection', async () => {
    const { daemon } = await startDaemon();
    const peer = await greetedPeer(daemon);
    const opened = await peer.open({ session: session(1) });
    await peer.data(opened, 0n, 0n, framesFrom(0, 10));
    await peer.control(close(session(1), opened.trace, 10));
    await peer.control(close(session(1), opened.trace, 10));
    const [first, second] = [await peer.next('closed'), await peer.next('closed')];
    expect(second).toEqual(first);
    const other = await greetedPeer(daemon);
    const again = await other.open({ session: session(1) });
    expect(again).toMatchObject({ frames: 10n, path: opened.path });
    await other.control(close(session(1), again.trace, 10));
    expect((await other.next('closed')).stats).toEqual(first.stats);
  });

  it('before all data has come asks the client to send it again', async () => {
    const { daemon } = await startDaemon();
    const peer = await greetedPeer(daemon);
    const opened = await peer.open({ session: session(1) });
    await peer.data(opened, 0n, 0n, framesFrom(0, 10));
    await peer.control(close(session(1), opened.trace, 12));
    expect(await peer.next('error')).toMatchObject({ code: 'BRIDGE_SEQUENCE', retry: true });
    const again = await peer.open({ session: session(1) });
    await peer.data(again, 0n, 10n, framesFrom(10, 12));
    await peer.control(close(session(1), again.trace, 12));
    expect((await peer.next('closed')).stats.frames).toBe(12n);
  });

  it('of an unknown session is answered by BRIDGE_UNKNOWN_TRACE', async () => {
    const { daemon } = await startDaemon();
    const peer = await greetedPeer(daemon);
    await peer.control(close(session(1), 5, 0));
    expect(await peer.next('error')).toMatchObject({ code: 'BRIDGE_UNKNOWN_TRACE', trace: 5, retry: true });
  });
});

describe('the end', () => {
  it('a daemon that is told to finalize keeps what has come and tells its clients', async () => {
    const { daemon } = await startDaemon();
    const peer = await greetedPeer(daemon);
    const opened = await peer.open({ session: session(1) });
    await peer.data(opened, 0n, 0n, framesFrom(0, 10));
    await peer.nothingElse();
    await daemon.finalize();
    expect(await peer.next('error')).toMatchObject({ trace: opened.trace, code: 'BRIDGE_LOST' });
    expect(decodeFile(opened.path).preamble.session?.status).toBe(SessionStatus.CLIENT_LOST);
    expect(valuesOf(opened.path)).toEqual(upTo(10));
  });

  it('a trace whose client has died is finalized, and its name is free at once', async () => {
    const { daemon } = await startDaemon();
    const child = spawn('sleep', ['60']);
    const { pid = 0 } = child;
    const peer = peerOf(daemon);
    await peer.hello({ pid, start: processStart(pid) ?? 0n });
    const opened = await peer.open({ session: session(1) });
    await peer.data(opened, 0n, 0n, framesFrom(0, 10));
    const left = await peer.open({ session: session(2), name: 'left' });
    await peer.nothingElse();
    child.kill('SIGKILL');
    await once(child, 'exit');
    const next = await greetedPeer(daemon);
    await next.open({ session: session(3) });
    expect(existsSync(opened.path)).toBe(true);
    expect((await peer.next('error')).code).toBe('BRIDGE_LOST');
    expect((await peer.next('error')).trace).toBe(left.trace);
    expect(decodeFile(left.path).preamble.session?.status).toBe(SessionStatus.CLIENT_LOST);
  });
});

describe('hostile peers', () => {
  it('random messages never stop the daemon', async () => {
    const { daemon } = await startDaemon();
    const peer = await greetedPeer(daemon);
    const opened = await peer.open({ session: session(1) });
    const goldens = readdirSync(VECTORS)
      .filter((file) => file.endsWith('.bin'))
      .map((file) => readFileSync(new URL(file, VECTORS)));
    const attacker = new RawPeer(daemon.endpoint);
    cleanups.push(() => attacker.close());
    const part = fc.oneof(fc.constantFrom(...goldens), fc.uint8Array({ maxLength: 200 }));
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 3 }), (parts) => attacker.send(...parts)),
      { numRuns: 300 },
    );
    await peer.data(opened, 0n, 0n, framesFrom(0, 10));
    await peer.control(close(session(1), opened.trace, 10));
    expect((await peer.next('closed')).stats.frames).toBe(10n);
  });
});
