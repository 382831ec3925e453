import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import {
  BridgeBench,
  closeMessage,
  framesFrom,
  RawPeer,
  SCHEMA,
  sessionId,
  upTo,
  valuesOf,
} from '../../../../test/support/bridge-peer.js';
import { decodeFile } from '../../../../test/support/decode-file.js';
import { freePort } from '../../../../test/support/free-port.js';
import { limitOfFile, PROCESSES_MS } from '../../../../test/support/limits.js';
import { decodeSchemaPayload } from '../../format/schema-chunk.js';
import { SessionStatus } from '../../format/session-chunk.js';
import { processStart } from '../../writer/output/process-name.js';
import type { ErrorMessage } from '../wire/protocol.js';
import { newSessionKey } from '../wire/session-secret.js';

// Clients die, and daemons wait for that.
limitOfFile(PROCESSES_MS);

const VECTORS = new URL('../../../../test/vectors/bridge/', import.meta.url);
const bench = new BridgeBench();
afterEach(() => bench.cleanUp());

const refused = async (peer: RawPeer, message: Parameters<RawPeer['open']>[0]): Promise<ErrorMessage> => {
  await peer.control({ t: 'open', req: 4, name: 'trace', schema: SCHEMA, credit: 1 << 20, ...message });
  const error = await peer.next('error');
  expect(error.req).toBe(4);
  return error;
};

describe('connection', () => {
  it('hello is answered by welcome with the version of the protocol', async () => {
    const { daemon } = await bench.startDaemon();
    const welcome = await bench.peerOf(daemon).hello();
    expect(welcome).toMatchObject({ v: 1, pid: process.pid });
    expect(welcome.daemon).toMatch(/^uscope \d/);
  });

  it('a client of another version learns which one is spoken here', async () => {
    const { daemon } = await bench.startDaemon();
    const peer = bench.peerOf(daemon);
    await peer.control({ t: 'hello', v: 2, client: 'future', pid: 1, start: 0n });
    expect(await peer.next('error')).toMatchObject({ code: 'BRIDGE_VERSION', v: 1 });
  });

  it('what cannot be read is answered by BRIDGE_MESSAGE and changes nothing', async () => {
    const { daemon } = await bench.startDaemon();
    const peer = await bench.greetedPeer(daemon);
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
    await peer.open({ session: sessionId(1) });
  });

  it('the default kind of socket is for its owner only', async () => {
    const directory = join(bench.dirs.make(), 'private');
    await bench.startDaemon({ endpoint: `ipc://${directory}/d.sock` });
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, 'd.sock')).mode & 0o777).toBe(0o600);
  });

  it('works over tcp on a loopback address', async () => {
    const { daemon } = await bench.startDaemon({ endpoint: 'tcp://127.0.0.1:*' });
    expect(daemon.endpoint).toMatch(/^tcp:\/\/127\.0\.0\.1:\d+$/);
    const peer = await bench.greetedPeer(daemon);
    const own = newSessionKey();
    const opened = await peer.open(own);
    await peer.data(opened, 0n, 0n, framesFrom(0, 5));
    await peer.control(closeMessage(own.session, opened.trace, 5));
    expect((await peer.next('closed')).stats.frames).toBe(5n);
  });

  it('gives a session to nobody else: its id, which is in the file, is not enough', async () => {
    const { daemon } = await bench.startDaemon({ endpoint: 'tcp://127.0.0.1:*' });
    const owner = await bench.greetedPeer(daemon);
    const own = newSessionKey();
    const opened = await owner.open(own);
    await owner.data(opened, 0n, 0n, framesFrom(0, 5));
    const other = await bench.greetedPeer(daemon);
    const { session } = own;
    for (const secret of [undefined, new Uint8Array(32), newSessionKey().secret]) {
      expect((await refused(other, { session, secret })).code).toBe('BRIDGE_SESSION');
    }
    await other.control(closeMessage(session, opened.trace, 5));
    expect((await other.next('error')).code).toBe('BRIDGE_UNKNOWN_TRACE');
    await owner.data(opened, 1n, 5n, framesFrom(5, 10));
    await owner.control(closeMessage(session, opened.trace, 10));
    expect((await owner.next('closed')).stats).toMatchObject({ frames: 10n, lost: 0n });
  });

  it('gives it to its owner again, also when the daemon is another one', async () => {
    const own = newSessionKey();
    const endpoint = `tcp://127.0.0.1:${await freePort()}`;
    const outputDirectory = bench.dirs.make();
    const first = await bench.startDaemon({ endpoint, outputDirectory });
    const peer = await bench.greetedPeer(first.daemon);
    const opened = await peer.open(own);
    await peer.data(opened, 0n, 0n, framesFrom(0, 5));
    await peer.control({ t: 'flush', trace: opened.trace, epoch: opened.epoch });
    await peer.next('ack');
    await first.daemon.stop();
    const second = await bench.startDaemon({ endpoint, outputDirectory });
    const thief = await bench.greetedPeer(second.daemon);
    expect((await refused(thief, { session: own.session })).code).toBe('BRIDGE_SESSION');
    const again = await bench.greetedPeer(second.daemon);
    expect((await again.open(own)).frames).toBe(5n);
  });
});

describe('opening a trace', () => {
  it('answers with the schema, the interval, the credit and the path', async () => {
    const { daemon, out } = await bench.startDaemon({ maxCreditBytes: 100_000 });
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({
      session: sessionId(1),
      name: 'soc/core-0',
      interval_ps: 5000n,
      req: 77,
    });
    expect(opened).toMatchObject({ req: 77, frames: 0n, strings: 0n, interval_ps: 5000n, credit: 100_000 });
    expect(opened.path).toBe(join(out, 'soc', 'core-0.uscope'));
    expect(decodeSchemaPayload(opened.schema, 3).storages.map(({ name }) => name)).toEqual(['regs']);
    expect(decodeFile(opened.path).preamble.checkpointIntervalPs).toBe(5000n);
  });

  it("uses the daemon's schema and interval for a client that brings none, and adds its DUT properties", async () => {
    const text = SCHEMA.replace('clocks:', 'dut: {dut_name: a, rev: "1"}\nclocks:');
    const { daemon } = await bench.startDaemon({
      schema: { text, file: 'd.yaml' },
      checkpointIntervalPs: 7000n,
    });
    const peer = await bench.greetedPeer(daemon);
    const run = sessionId(9);
    const dut = [
      ['rev', '2'],
      ['board', 'x'],
    ] as const;
    const opened = await peer.open({ session: sessionId(1), schema: undefined, dut, run, core: 3 });
    const { preamble } = decodeFile(opened.path);
    expect(preamble.dut.slice(0, 3)).toEqual([
      ['dut_name', 'a'],
      ['rev', '2'],
      ['board', 'x'],
    ]);
    expect(preamble.checkpointIntervalPs).toBe(7000n);
    expect(preamble.session).toMatchObject({ sessionId: sessionId(1), runId: run, coreIndex: 3 });
  });

  it('binds the variable "core" to the core index', async () => {
    const { daemon } = await bench.startDaemon();
    const peer = await bench.greetedPeer(daemon);
    const schema = `${SCHEMA}variables: {core: 0}\nscopes: {"core\${core}": {}}\n`;
    const opened = await peer.open({ session: sessionId(1), schema, core: 5 });
    expect(decodeSchemaPayload(opened.schema, 3).scopes.map(({ name }) => name)).toContain('core5');
  });

  it('is refused without a schema, with a wrong one, and before hello', async () => {
    const { daemon, out } = await bench.startDaemon();
    const stranger = bench.peerOf(daemon);
    expect((await refused(stranger, { session: sessionId(1) })).code).toBe('BRIDGE_MESSAGE');
    const peer = await bench.greetedPeer(daemon);
    expect((await refused(peer, { session: sessionId(1), schema: undefined })).code).toBe('BRIDGE_NO_SCHEMA');
    const wrong = await refused(peer, {
      session: sessionId(1),
      schema: SCHEMA.replace('slots: 16', 'slots: many'),
      schema_name: 'cpu.yaml',
    });
    expect(wrong.code).toMatch(/^SCHEMA_/);
    expect(wrong.msg).toMatch(/^cpu\.yaml:4/);
    expect(readdirSync(out)).toEqual([]);
  });

  it('is refused when too many are open', async () => {
    const { daemon } = await bench.startDaemon({ maxTraces: 1 });
    const peer = await bench.greetedPeer(daemon);
    await peer.open({ session: sessionId(1) });
    expect((await refused(peer, { session: sessionId(2), name: 'b' })).code).toBe('BRIDGE_LIMIT');
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
    const { daemon, out } = await bench.startDaemon();
    const peer = await bench.greetedPeer(daemon);
    expect((await refused(peer, { session: sessionId(1), name })).code).toBe('BRIDGE_NAME');
    expect(readdirSync(out)).toEqual([]);
  });

  it('never follows a symbolic link out of the output directory', async () => {
    const { daemon, out } = await bench.startDaemon();
    const outside = bench.dirs.make();
    mkdirSync(join(out, 'real'));
    symlinkSync(outside, join(out, 'away'));
    symlinkSync(join(out, 'real'), join(out, 'inside'));
    symlinkSync(join(outside, 'f.uscope'), join(out, 'file.uscope'));
    const peer = await bench.greetedPeer(daemon);
    for (const name of ['away/x', 'away/deep/x', 'file']) {
      expect((await refused(peer, { session: sessionId(1), name })).code).toBe('BRIDGE_NAME');
    }
    expect(readdirSync(outside)).toEqual([]);
    const opened = await peer.open({ session: sessionId(1), name: 'inside/x' });
    expect(opened.path).toBe(join(out, 'real', 'x.uscope'));
  });

  it('a name belongs to one live session; to the next one when that is closed', async () => {
    const { daemon } = await bench.startDaemon();
    const [first, second] = [await bench.greetedPeer(daemon), await bench.greetedPeer(daemon)];
    const opened = await first.open({ session: sessionId(1) });
    expect((await refused(second, { session: sessionId(2) })).code).toBe('BRIDGE_NAME_BUSY');
    await first.control(closeMessage(sessionId(1), opened.trace, 0));
    await first.next('closed');
    await second.open({ session: sessionId(2) });
  });

  it('an output directory that cannot be written is said at the start', async () => {
    const file = join(bench.dirs.make(), 'file');
    const started = bench.startDaemon({ outputDirectory: join('/proc/uscope', file) });
    await expect(started).rejects.toMatchObject({ code: 'WRITER_DIRECTORY' });
  });
});

describe('the end', () => {
  it('a daemon that has to finalize keeps what has come and informs its clients', async () => {
    const { daemon } = await bench.startDaemon();
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1) });
    await peer.data(opened, 0n, 0n, framesFrom(0, 10));
    await peer.nothingElse();
    await daemon.finalize();
    expect(await peer.next('error')).toMatchObject({ trace: opened.trace, code: 'BRIDGE_FINALIZED' });
    expect(decodeFile(opened.path).preamble.session?.status).toBe(SessionStatus.CLIENT_LOST);
    expect(valuesOf(decodeFile(opened.path))).toEqual(upTo(10));
  });

  it('a trace whose client has died is finalized, and its name is free at once', async () => {
    const { daemon } = await bench.startDaemon();
    const child = spawn('sleep', ['60']);
    const { pid = 0 } = child;
    const peer = bench.peerOf(daemon);
    await peer.hello({ pid, start: processStart(pid) ?? 0n });
    const opened = await peer.open({ session: sessionId(1) });
    await peer.data(opened, 0n, 0n, framesFrom(0, 10));
    const left = await peer.open({ session: sessionId(2), name: 'left' });
    await peer.nothingElse();
    child.kill('SIGKILL');
    await once(child, 'exit');
    const next = await bench.greetedPeer(daemon);
    await next.open({ session: sessionId(3) });
    expect(existsSync(opened.path)).toBe(true);
    expect((await peer.next('error')).code).toBe('BRIDGE_CLIENT_LOST');
    expect((await peer.next('error')).trace).toBe(left.trace);
    expect(decodeFile(left.path).preamble.session?.status).toBe(SessionStatus.CLIENT_LOST);
  });
});

describe('hostile peers', () => {
  it('random messages never stop the daemon', async () => {
    const { daemon } = await bench.startDaemon();
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1) });
    const goldens = readdirSync(VECTORS)
      .filter((file) => file.endsWith('.bin'))
      .map((file) => readFileSync(new URL(file, VECTORS)));
    const attacker = new RawPeer(daemon.endpoint);
    bench.later(() => attacker.close());
    const part = fc.oneof(fc.constantFrom(...goldens), fc.uint8Array({ maxLength: 200 }));
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 3 }), (parts) => attacker.send(...parts)),
      { numRuns: 300 },
    );
    await peer.data(opened, 0n, 0n, framesFrom(0, 10));
    await peer.control(closeMessage(sessionId(1), opened.trace, 10));
    expect((await peer.next('closed')).stats.frames).toBe(10n);
  });
});
