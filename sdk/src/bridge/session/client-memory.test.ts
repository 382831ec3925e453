import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  BridgeBench,
  closeMessage,
  framesFrom,
  sessionId,
  upTo,
  valuesOf,
} from '../../../../test/support/bridge-peer.js';
import { CHUNKS_AT, makeMemory, memoryPath } from '../../../../test/support/client-memory.js';
import { encodeDataHeader } from '../../../../test/support/data-header.js';
import { decodeFile } from '../../../../test/support/decode-file.js';
import { limitOfFile, PROCESSES_MS } from '../../../../test/support/limits.js';
import { UscopeError } from '../../base/errors.js';
import { SessionStatus } from '../../format/session-chunk.js';
import { RecordWriter, resumeTrace } from '../../writer/index.js';
import { lockPath, type PathLock } from '../../writer/output/path-lock.js';
import { processStart } from '../../writer/output/process-name.js';
import type { DaemonEvents } from '../daemon/daemon.js';
import { IN_MEMORY } from '../wire/data-header.js';
import type { OpenedMessage } from '../wire/protocol.js';
import { ClientMemory } from './client-memory.js';
import { fileSinks, type SinkFactory } from './sink.js';

// Clients die, and daemons wait for that.
limitOfFile(PROCESSES_MS);

const bench = new BridgeBench();
let directory: string;

beforeEach(() => {
  directory = bench.dirs.make();
  vi.stubEnv('USCOPE_SHM_DIR', directory);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await bench.cleanUp();
});

const pathOf = (session: Uint8Array): string => memoryPath(directory, session);
const make = (session: Uint8Array, content: Uint8Array, mode?: number): string =>
  makeMemory(directory, session, content, mode);

function place(
  opened: OpenedMessage,
  seq: bigint,
  firstFrame: bigint,
  offset: number,
  size: number,
): Uint8Array {
  const { trace, epoch } = opened;
  return encodeDataHeader({
    flags: IN_MEMORY,
    trace,
    epoch,
    seq,
    firstFrame,
    payloadSize: size,
    memoryOffset: offset,
  });
}

describe('records in the memory of a local client', () => {
  it('are read where the message says they are, mixed with records that are sent', async () => {
    const { daemon } = await bench.startDaemon();
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1), memory: true });
    expect(opened.memory).toBe(true);
    const [first, second] = [framesFrom(0, 10), framesFrom(10, 15)];
    make(sessionId(1), Buffer.concat([first, second])); // after `opened`, as clients do
    await peer.send(place(opened, 0n, 0n, CHUNKS_AT, first.length));
    await peer.send(place(opened, 1n, 10n, CHUNKS_AT + first.length, second.length));
    await peer.data(opened, 2n, 15n, framesFrom(15, 20));
    await peer.control(closeMessage(sessionId(1), opened.trace, 20));
    await peer.next('closed');
    expect(valuesOf(decodeFile(opened.path))).toEqual(upTo(20));
  });

  const sinksOf = (kernel: 'native' | 'wasm'): SinkFactory => ({
    ...fileSinks,
    create: (options) => RecordWriter.create({ ...options, kernel }),
    resume: (options) => resumeTrace({ ...options, kernel }),
  });

  it.each([
    ['read ahead', 'wasm'],
    ['taken where they are', 'native'],
  ] as const)(
    'of large messages are %s; one that is not where its header says is asked for again',
    async (_, kernel) => {
      const early = vi.spyOn(ClientMemory.prototype, 'read');
      const { daemon } = await bench.startDaemon({ sinks: sinksOf(kernel) });
      const peer = await bench.greetedPeer(daemon);
      const opened = await peer.open({ session: sessionId(1), memory: true });
      const large = 3000;
      const content = framesFrom(0, 5 * large);
      const size = content.length / 5;
      const place5 = async (to: OpenedMessage, first: number, shift: number): Promise<void> => {
        for (let i = first; i < 5; i++) {
          const offset = CHUNKS_AT + i * size + (i === 3 ? shift : 0);
          await peer.send(place(to, BigInt(i - first), BigInt(i * large), offset, size));
        }
      };
      make(sessionId(1), content);
      await place5(opened, 0, 2 ** 32);
      expect(await peer.next('error')).toMatchObject({ code: 'BRIDGE_MESSAGE', retry: true });
      const again = await peer.open({ session: sessionId(1), memory: true });
      expect(again.frames).toBe(BigInt(3 * large));
      await place5(again, 3, 0);
      await peer.control(closeMessage(sessionId(1), again.trace, 5 * large));
      expect((await peer.next('closed')).stats).toMatchObject({ frames: BigInt(5 * large), lost: 0n });
      expect(valuesOf(decodeFile(opened.path))).toEqual(upTo(5 * large));
      if (kernel === 'wasm') expect(early.mock.calls.length).toBeGreaterThanOrEqual(6);
      else expect(early).not.toHaveBeenCalled();
      early.mockRestore();
    },
  );

  it('that cannot be read are asked for again, and nothing is lost', async () => {
    const { daemon } = await bench.startDaemon();
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1), memory: true });
    await peer.send(place(opened, 0n, 0n, CHUNKS_AT, 160));
    expect(await peer.next('error')).toMatchObject({ code: 'BRIDGE_MEMORY', retry: true });
    const again = await peer.open({ session: sessionId(1) });
    expect(again.memory).toBeUndefined();
    await peer.data(again, 0n, 0n, framesFrom(0, 3));
    await peer.control(closeMessage(sessionId(1), again.trace, 3));
    await peer.next('closed');
    expect(valuesOf(decodeFile(again.path))).toEqual(upTo(3));
  });

  it('outside the chunks, or never agreed on, are refused without harm to the session', async () => {
    const { daemon } = await bench.startDaemon();
    const peer = await bench.greetedPeer(daemon);
    make(sessionId(1), framesFrom(0, 3));
    for (const [memory, offset] of [
      [true, 0],
      [true, CHUNKS_AT + 16],
      [true, 2 ** 52],
      [undefined, CHUNKS_AT],
    ] as const) {
      const opened = await peer.open({ session: sessionId(1), ...(memory ? { memory } : {}) });
      await peer.send(place(opened, 0n, 0n, offset, framesFrom(0, 3).length));
      expect(await peer.next('error')).toMatchObject({ code: 'BRIDGE_MESSAGE', retry: true });
    }
    const opened = await peer.open({ session: sessionId(1), memory: true });
    await peer.send(place(opened, 0n, 0n, CHUNKS_AT, framesFrom(0, 3).length));
    await peer.control(closeMessage(sessionId(1), opened.trace, 3));
    await peer.next('closed');
  });
});

describe('a memory that is mapped', () => {
  const content = framesFrom(0, 300);
  const open = (): ClientMemory => {
    make(sessionId(1), content);
    return ClientMemory.open(sessionId(1))!;
  };
  const bytesOf = ({ buffer, byteOffset, byteLength }: Uint32Array) =>
    Buffer.from(buffer, byteOffset, byteLength);

  it('hands out the records where they are, until it is closed', () => {
    const memory = open();
    const words = memory.words(CHUNKS_AT, content.length);
    expect(bytesOf(words).equals(content)).toBe(true);
    const fd = openSync(pathOf(sessionId(1)), 'r+');
    writeSync(fd, Buffer.from([1, 2, 3, 4]), 0, 4, CHUNKS_AT);
    closeSync(fd);
    expect(words[0]).toBe(0x04030201);
    memory.close();
    expect(words).toHaveLength(0);
  });

  it('copies what does not begin at a word', () => {
    const memory = open();
    const words = memory.words(CHUNKS_AT + 1, 16);
    expect(bytesOf(words).equals(content.subarray(1, 17))).toBe(true);
    memory.close();
  });

  it('that becomes shorter reads as zeros, and is refused from then on', () => {
    const memory = open();
    const words = memory.words(CHUNKS_AT, content.length);
    truncateSync(pathOf(sessionId(1)), 0);
    expect(words.every((word) => word === 0)).toBe(true);
    expect(() => memory.words(CHUNKS_AT, content.length)).toThrow('BRIDGE_MESSAGE');
    memory.close();
  });
});

describe('a client that dies', () => {
  /** A process that has ended. */
  async function deadProcess(): Promise<{ pid: number; start: bigint }> {
    const child = spawn('sleep', ['60']);
    const { pid = 0 } = child;
    const start = processStart(pid) ?? 0n;
    child.kill('SIGKILL');
    await once(child, 'exit');
    return { pid, start };
  }

  /** Chunks of 4 KiB with their order in the stream and their records. */
  function leaveMemory(
    session: Uint8Array,
    owner: { pid: number; start: bigint },
    chunks: [number, Uint8Array][],
  ): void {
    const bytes = Buffer.alloc(CHUNKS_AT + chunks.length * 4096);
    bytes.writeUInt32LE(0x4d45_4d75, 0);
    bytes.writeUInt32LE(1, 4);
    bytes.set(session, 8);
    bytes.writeUInt32LE(owner.pid, 44);
    bytes.writeBigUInt64LE(owner.start, 48);
    bytes.writeUInt32LE(4096, 56);
    bytes.writeUInt32LE(chunks.length, 60);
    bytes.writeBigUInt64LE(BigInt(CHUNKS_AT), 64);
    bytes.writeUInt32LE(64, 72);
    bytes.writeUInt32LE(512, 76);
    bytes.write('trace', 96);
    chunks.forEach(([order, content], i) => {
      bytes.writeBigUInt64LE(BigInt(order), 512 + i * 64);
      bytes.writeBigUInt64LE(BigInt(content.length), 512 + i * 64 + 24);
      bytes.set(content, CHUNKS_AT + i * 4096);
    });
    writeFileSync(pathOf(session), bytes, { mode: 0o600 });
  }

  it('leaves nothing that is not in the file: what it had not sent is taken from its memory', async () => {
    const { daemon } = await bench.startDaemon();
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1), memory: true });
    await peer.data(opened, 0n, 0n, framesFrom(0, 12));
    await peer.nothingElse();
    // Chunk 3 is from long ago; 7 and 8 were sent in part; the last frame of 9 is not complete.
    const incomplete = framesFrom(30, 31).subarray(0, 32);
    leaveMemory(sessionId(1), await deadProcess(), [
      [8, framesFrom(10, 20)],
      [3, framesFrom(0, 1)],
      [9, Buffer.concat([framesFrom(20, 30), incomplete])],
      [7, framesFrom(5, 10)],
    ]);
    await daemon.finalize();
    const file = decodeFile(opened.path);
    expect(valuesOf(file)).toEqual(upTo(30));
    expect(file.preamble.session).toMatchObject({ status: SessionStatus.CLIENT_LOST, lost: 0n });
    expect(existsSync(pathOf(sessionId(1)))).toBe(false);
  });

  /** A daemon that goes as if it were killed: ten frames of a trace are durable. */
  async function killedDaemon(session: Uint8Array): Promise<{ out: string; path: string }> {
    const { daemon, out } = await bench.startDaemon();
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session, memory: true });
    await peer.data(opened, 0n, 0n, framesFrom(0, 10));
    await peer.control({ t: 'flush', trace: opened.trace, epoch: opened.epoch });
    await peer.acked(10n);
    await daemon.stop();
    return { out, path: opened.path };
  }

  it('while no daemon is there has its trace finished by the next one', async () => {
    const { out, path } = await killedDaemon(sessionId(1));
    leaveMemory(sessionId(1), await deadProcess(), [
      [4, framesFrom(5, 20)],
      [5, framesFrom(20, 25)],
    ]);
    const { daemon } = await bench.startDaemon({ outputDirectory: out });
    await daemon.finalize();
    expect(valuesOf(decodeFile(path))).toEqual(upTo(25));
    expect(decodeFile(path).preamble.session).toMatchObject({ status: SessionStatus.RECOVERED, lost: 0n });
    expect(existsSync(pathOf(sessionId(1)))).toBe(false);
  });

  it('after the next daemon has come is waited for as long as it lives', async () => {
    const { out, path } = await killedDaemon(sessionId(1));
    const client = spawn('sleep', ['60']);
    const start = processStart(client.pid ?? 0) ?? 0n;
    leaveMemory(sessionId(1), { pid: client.pid ?? 0, start }, [[1, framesFrom(0, 25)]]);
    const { daemon } = await bench.startDaemon({ outputDirectory: out });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(decodeFile(path).header.flags & 1).toBe(0);
    client.kill('SIGKILL');
    await once(client, 'exit');
    await daemon.finalize();
    expect(valuesOf(decodeFile(path))).toEqual(upTo(25));
  });

  const busy = (path: string): UscopeError =>
    new UscopeError('WRITER_BUSY', 'another process writes this trace', { file: path });
  type Told = { name: string; code: string; msg: string; orphan: string | undefined };
  const remember = (told: Told[]): DaemonEvents => ({
    onTrouble: (name, { code, msg }, orphan) => void told.push({ name, code, msg, orphan }),
  });

  it('while the file is locked has its trace finished when the lock is free', async () => {
    const { out, path } = await killedDaemon(sessionId(1));
    leaveMemory(sessionId(1), await deadProcess(), [[1, framesFrom(0, 25)]]);
    let refusals = 2;
    const lock = async (file: string): Promise<PathLock> => {
      if (refusals-- > 0) throw busy(file);
      return lockPath(file);
    };
    const told: Told[] = [];
    await bench.startDaemon({ outputDirectory: out, sinks: { ...fileSinks, lock }, events: remember(told) });
    await vi.waitFor(() => expect(existsSync(pathOf(sessionId(1)))).toBe(false), { timeout: 60_000 });
    expect(valuesOf(decodeFile(path))).toEqual(upTo(25));
    expect(decodeFile(path).preamble.session).toMatchObject({ status: SessionStatus.RECOVERED, lost: 0n });
    expect(told.map(({ code, orphan }) => [code, orphan])).toEqual([['WRITER_BUSY', 'waiting']]);
  });

  it('and whose file stays locked is reported at the end: which, where, and what to do', async () => {
    const { out, path } = await killedDaemon(sessionId(1));
    leaveMemory(sessionId(1), await deadProcess(), [[1, framesFrom(0, 25)]]);
    const told: Told[] = [];
    const lock = async (file: string): Promise<PathLock> => Promise.reject(busy(file));
    const { daemon } = await bench.startDaemon({
      outputDirectory: out,
      sinks: { ...fileSinks, lock },
      events: remember(told),
    });
    await daemon.finalize();
    await daemon.finalize();
    const left = told.filter(({ orphan }) => orphan === 'left');
    expect(left).toHaveLength(1);
    expect(left[0]).toMatchObject({ name: 'trace', code: 'WRITER_BUSY' });
    for (const word of [path, pathOf(sessionId(1)), 'uscope recover']) expect(left[0].msg).toContain(word);
    expect(existsSync(pathOf(sessionId(1)))).toBe(true);
  });

  it('of which another daemon has taken everything meanwhile is left alone', async () => {
    const { out, path } = await killedDaemon(sessionId(1));
    leaveMemory(sessionId(1), await deadProcess(), [[1, framesFrom(0, 25)]]);
    const lock = async (file: string): Promise<PathLock> => {
      rmSync(pathOf(sessionId(1)), { force: true });
      return lockPath(file);
    };
    const told: Told[] = [];
    const { daemon } = await bench.startDaemon({
      outputDirectory: out,
      sinks: { ...fileSinks, lock },
      events: remember(told),
    });
    await daemon.finalize();
    expect(valuesOf(decodeFile(path))).toEqual(upTo(10));
    expect(told).toEqual([]);
  });

  it('is found by a daemon that was there before its memory', async () => {
    const { out, path } = await killedDaemon(sessionId(1));
    const { daemon } = await bench.startDaemon({ outputDirectory: out });
    leaveMemory(sessionId(1), await deadProcess(), [[1, framesFrom(0, 25)]]);
    await vi.waitFor(() => expect(existsSync(pathOf(sessionId(1)))).toBe(false), { timeout: 60_000 });
    expect(valuesOf(decodeFile(path))).toEqual(upTo(25));
    await daemon.finalize();
  });

  it('whose file was set aside for another session loses nothing', async () => {
    const { out, path } = await killedDaemon(sessionId(1));
    const aside = path.replace('.uscope', '.01010101.unfinished.uscope');
    renameSync(path, aside);
    leaveMemory(sessionId(1), await deadProcess(), [[1, framesFrom(0, 25)]]);
    const { daemon } = await bench.startDaemon({ outputDirectory: out });
    await daemon.finalize();
    expect(valuesOf(decodeFile(aside))).toEqual(upTo(25));
    expect(existsSync(pathOf(sessionId(1)))).toBe(false);
  });

  it('does not touch the file of another session, nor its memory', async () => {
    const { out, path } = await killedDaemon(sessionId(1));
    leaveMemory(sessionId(2), await deadProcess(), [[1, framesFrom(0, 25)]]);
    const { daemon } = await bench.startDaemon({ outputDirectory: out });
    await daemon.finalize();
    expect(decodeFile(path).header.flags & 1).toBe(0);
    expect(existsSync(pathOf(sessionId(2)))).toBe(true);
  });

  it('after its close leaves nothing that is needed', async () => {
    const { daemon, out } = await bench.startDaemon();
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1), memory: true });
    await peer.data(opened, 0n, 0n, framesFrom(0, 10));
    await peer.control(closeMessage(sessionId(1), opened.trace, 10));
    await peer.next('closed');
    await daemon.stop();
    leaveMemory(sessionId(1), await deadProcess(), [[1, framesFrom(0, 10)]]);
    const next = await bench.startDaemon({ outputDirectory: out });
    await next.daemon.finalize();
    expect(decodeFile(opened.path).preamble.session?.status).toBe(SessionStatus.CLOSED);
    expect(existsSync(pathOf(sessionId(1)))).toBe(false);
  });

  it('and wrote over its memory before loses no frame that precedes the damage', async () => {
    const { out, path } = await killedDaemon(sessionId(1));
    const damaged = framesFrom(10, 20);
    damaged.fill(0xee, 48 * 5, 48 * 6);
    leaveMemory(sessionId(1), await deadProcess(), [[1, damaged]]);
    const { daemon } = await bench.startDaemon({ outputDirectory: out });
    await daemon.finalize();
    const file = decodeFile(path);
    expect(valuesOf(file)).toEqual(upTo(15));
    expect(file.preamble.session?.status).toBe(SessionStatus.RECOVERED);
    expect(file.preamble.session?.lost).toBeGreaterThan(0n);
    expect(existsSync(pathOf(sessionId(1)))).toBe(false);
  });

  it('and one that lives is left alone', async () => {
    const { daemon } = await bench.startDaemon();
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1), memory: true });
    await peer.data(opened, 0n, 0n, framesFrom(0, 3));
    await peer.nothingElse();
    leaveMemory(sessionId(1), { pid: process.pid, start: processStart(process.pid) ?? 0n }, [
      [1, framesFrom(0, 9)],
    ]);
    await daemon.finalize();
    expect(valuesOf(decodeFile(opened.path))).toEqual(upTo(3));
    expect(existsSync(pathOf(sessionId(1)))).toBe(true);
  });
});

describe('what is not a memory to be trusted', () => {
  const session = sessionId(7);
  it.each([
    ['none', () => {}],
    ['one that others may write', () => make(session, new Uint8Array(16), 0o622)],
    ['one that others may read', () => make(session, new Uint8Array(16), 0o644)],
    ['a shorter file', () => writeFileSync(pathOf(session), 'uMEM', { mode: 0o600 })],
    [
      'a link',
      () => {
        make(sessionId(8), new Uint8Array(16));
        symlinkSync(pathOf(sessionId(8)), pathOf(session));
      },
    ],
    [
      'the memory of another session',
      () => {
        make(sessionId(9), new Uint8Array(16));
        renameSync(pathOf(sessionId(9)), pathOf(session));
      },
    ],
  ])('%s', (_, prepare) => {
    prepare();
    expect(ClientMemory.open(session)).toBeNull();
  });
});
