/** A hand-driven peer of the daemon, and what tests of the bridge need around it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Dealer } from 'zeromq';
import { Daemon, type DaemonOptions } from '../../sdk/src/bridge/daemon/daemon.js';
import { decodeDaemonMessage, encodeControl } from '../../sdk/src/bridge/wire/codec.js';
import type {
  ClientMessage,
  CloseMessage,
  DaemonMessage,
  OpenedMessage,
  OpenMessage,
} from '../../sdk/src/bridge/wire/protocol.js';
import { Action } from '../../sdk/src/format/types.js';
import { RecordBatch } from '../../sdk/src/writer/records/record-batch.js';
import { encodeDataHeader } from './data-header.js';
import type { DecodedFile } from './decode-file.js';

/** One dense storage with a u64 field, one event with a string. */
export const SCHEMA = `uscope: 1
clocks: {clk: 1000 ps}
storages:
  regs: {slots: 16, kind: dense, fields: {value: u64}}
events:
  note: {text: string}
`;

/** A directory that is gone when `cleanUp` has been called. */
export class TempDirs {
  private readonly made: string[] = [];

  make(): string {
    const directory = mkdtempSync(join(tmpdir(), 'uscope-test-'));
    this.made.push(directory);
    return directory;
  }

  cleanUp(): void {
    for (const directory of this.made.splice(0)) rmSync(directory, { recursive: true, force: true });
  }
}

/** Daemons, peers and directories of one test file; `cleanUp` after every test. */
export class BridgeBench {
  readonly dirs = new TempDirs();
  private readonly cleanups: (() => unknown)[] = [];

  /** Done before everything that was registered earlier. */
  later(cleanup: () => unknown): void {
    this.cleanups.push(cleanup);
  }

  async cleanUp(): Promise<void> {
    for (const cleanup of this.cleanups.splice(0).reverse()) await cleanup();
    this.dirs.cleanUp();
  }

  /** By default on a separate socket and with a separate output directory. */
  async startDaemon(more: Partial<DaemonOptions> = {}): Promise<{ daemon: Daemon; out: string }> {
    const out = more.outputDirectory ?? join(this.dirs.make(), 'out');
    const endpoint = more.endpoint ?? `ipc://${this.dirs.make()}/d.sock`;
    const daemon = await Daemon.start({ endpoint, outputDirectory: out, ...more });
    this.later(async () => {
      await daemon.finalize();
      await daemon.stop();
    });
    return { daemon, out };
  }

  peerOf(daemon: Daemon): RawPeer {
    const peer = new RawPeer(daemon.endpoint);
    this.later(() => peer.close());
    return peer;
  }

  /** A peer that has said hello. */
  async greetedPeer(daemon: Daemon): Promise<RawPeer> {
    const peer = this.peerOf(daemon);
    await peer.hello();
    return peer;
  }
}

/** A session id. */
export const sessionId = (n: number): Uint8Array => new Uint8Array(16).fill(n);

export function closeMessage(id: Uint8Array, trace: number, frames: number, strings = 0): CloseMessage {
  return { t: 'close', trace, session: id, frames: BigInt(frames), strings: BigInt(strings) };
}

/** Values of all ops of a file (-1 for an event), in order: what `framesFrom` put there. */
export function valuesOf({ segments }: DecodedFile): number[] {
  return segments
    .flatMap(({ frames }) => frames)
    .flatMap(({ items }) => items.map((item) => (item.kind === 'op' ? Number(item.value) : -1)));
}

export const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** Frames `first` up to `end`: at time ordinal * 1000 ps, `items` SETs of slot (i mod 16) to the ordinal. */
export function framesFrom(first: number, end: number, items = 1): Uint8Array {
  const batch = new RecordBatch();
  for (let ordinal = first; ordinal < end; ordinal++) {
    batch.begin(BigInt(ordinal) * 1000n);
    for (let i = 0; i < items; i++) batch.op(Action.SET, 0, i % 16, 0, ordinal, 0);
    batch.end(items, ordinal);
  }
  return bytesOf(batch);
}

/** A copy of the batch's records. */
export function bytesOf(batch: RecordBatch): Uint8Array {
  return new Uint8Array(batch.words.slice(0, batch.length).buffer);
}

type Of<T extends DaemonMessage['t']> = Extract<DaemonMessage, { t: T }>;

/** Sends the given messages, right or wrong, and returns the answers. */
export class RawPeer {
  private readonly dealer = new Dealer({ linger: 0, immediate: true, receiveTimeout: 60_000 });

  constructor(endpoint: string) {
    this.dealer.connect(endpoint);
  }

  async send(...parts: Uint8Array[]): Promise<void> {
    await this.dealer.send(parts.map((part) => Buffer.from(part)));
  }

  control(message: ClientMessage): Promise<void> {
    return this.send(encodeControl(message));
  }

  async hello(process: { pid: number; start: bigint } = { pid: 1, start: 0n }): Promise<Of<'welcome'>> {
    await this.control({ t: 'hello', v: 1, client: 'test peer', ...process });
    return this.next('welcome');
  }

  async open(message: Partial<OpenMessage> & { session: Uint8Array }): Promise<OpenedMessage> {
    await this.control({ t: 'open', req: 1, name: 'trace', schema: SCHEMA, credit: 1 << 20, ...message });
    return this.next('opened');
  }

  /** A data message for an opened trace; the header's fields can be overridden. */
  data(
    opened: OpenedMessage,
    seq: bigint,
    firstFrame: bigint,
    payload: Uint8Array,
    more: { trace?: number; epoch?: number; flags?: number } = {},
  ): Promise<void> {
    const { trace, epoch } = opened;
    const header = encodeDataHeader({
      flags: 0,
      trace,
      epoch,
      seq,
      firstFrame,
      payloadSize: payload.length,
      ...more,
    });
    return this.send(header, payload);
  }

  /** The next message, which must be of type `t`; others of the types in `skip` are passed over. */
  async next<T extends DaemonMessage['t']>(
    t: T,
    skip: readonly DaemonMessage['t'][] = ['ack'],
  ): Promise<Of<T>> {
    for (;;) {
      const [bytes] = await this.dealer.receive();
      const message = decodeDaemonMessage(bytes);
      if (message.t === t) return message as Of<T>;
      if (!skip.includes(message.t)) throw new Error(`expected ${t}, got ${describe(message)}`);
    }
  }

  /** Acknowledgements until frames below `frames` are durable. */
  async acked(frames: bigint): Promise<void> {
    while ((await this.next('ack')).frames < frames);
  }

  /** Nothing came before the answer to a ping. */
  async nothingElse(): Promise<void> {
    await this.control({ t: 'ping' });
    await this.next('pong');
  }

  close(): void {
    this.dealer.close();
  }
}

function describe(message: DaemonMessage): string {
  return JSON.stringify(message, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}
