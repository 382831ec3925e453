/**
 * Plays the client's part of a recorded conversation to a daemon of today, and holds the daemon's answers against those recorded. The client's bytes
 * are sent as they are, but for what the daemon chooses anew (trace number, epoch) and the process, which is no more.
 */
import { join } from 'node:path';
import { Dealer } from 'zeromq';
import { Daemon } from '../../sdk/src/bridge/daemon/daemon.js';
import { decodeDaemonMessage } from '../../sdk/src/bridge/wire/codec.js';
import type { DaemonMessage } from '../../sdk/src/bridge/wire/protocol.js';
import { createCpuSummarizer } from '../../sdk/src/writer/summary/cpu-summarizer.js';
import type { BridgeBench } from '../support/bridge-peer.js';
import { type ConversationEntry, Entry, readConversation } from './frames.mjs';

/** For an answer that never comes. */
const PATIENCE_MS = 60_000;
const LIVING_PROCESS = { pid: process.pid, start: 0 };
/** Flags of a data header (docs/reference/bridge-protocol.md#data-header). */
const TRACE_AT = 8;
const EPOCH_AT = 12;

type Of<T extends DaemonMessage['t']> = Extract<DaemonMessage, { t: T }>;

export class Conversation {
  private readonly entries: readonly ConversationEntry[];
  private readonly out: string;
  private dealer = new Dealer({ linger: 0 });
  private daemon: Daemon | null = null;
  private opened: Of<'opened'> | null = null;
  private acked = 0n;

  constructor(
    path: string,
    private readonly bench: BridgeBench,
  ) {
    this.entries = readConversation(path);
    this.out = join(bench.dirs.make(), 'out');
  }

  /** Everything up to the end; the path of the trace. */
  async replay(): Promise<string> {
    this.bench.later(() => this.stop());
    await this.start();
    for (const [index, { kind, parts }] of this.entries.entries()) {
      if (kind === Entry.CLIENT) await this.dealer.send(this.renew(parts).map((part) => Buffer.from(part)));
      else if (kind === Entry.DAEMON) await this.answer(decodeDaemonMessage(parts[0]));
      else await this.restart(index);
    }
    return this.opened!.path;
  }

  private async start(): Promise<void> {
    const endpoint = `ipc://${this.bench.dirs.make()}/d.sock`;
    this.daemon = await Daemon.start({
      endpoint,
      outputDirectory: this.out,
      summarizer: createCpuSummarizer,
    });
    this.dealer = new Dealer({ linger: 0, immediate: true, receiveTimeout: PATIENCE_MS });
    this.dealer.connect(endpoint);
  }

  private async stop(): Promise<void> {
    this.dealer.close();
    await this.daemon?.stop();
    this.daemon = null;
  }

  /** The client sends again from the frame that the first daemon had made durable: the second must have them. */
  private async restart(index: number): Promise<void> {
    const reopened = this.entries
      .slice(index)
      .filter(({ kind }) => kind === Entry.DAEMON)
      .map(({ parts }) => decodeDaemonMessage(parts[0]))
      .find((message) => message.t === 'opened');
    if (reopened?.t === 'opened') await this.durable(reopened.frames);
    await this.stop();
    await this.start();
  }

  /** A message of the client's as it has to be today. */
  private renew([control, payload]: readonly Uint8Array[]): Uint8Array[] {
    const { opened } = this;
    if (payload) {
      const header = Buffer.from(control);
      header.writeUInt32LE(opened!.trace, TRACE_AT);
      header.writeUInt32LE(opened!.epoch, EPOCH_AT);
      return [header, payload];
    }
    const type = stringAfter(control, 't');
    if (type === 'hello')
      return [withUint(withUint(control, 'pid', LIVING_PROCESS.pid), 'start', LIVING_PROCESS.start)];
    if (!opened || type === 'open') return [control];
    return [withUint(withUint(control, 'trace', opened.trace), 'epoch', opened.epoch)];
  }

  /** What a daemon of today says where that of the recording said this. */
  private async answer(recorded: DaemonMessage): Promise<void> {
    if (recorded.t === 'ack') return this.durable(recorded.frames);
    if (recorded.t === 'pong' || recorded.t === 'stalled') return;
    const answer = await this.next();
    if (answer.t !== recorded.t)
      throw new Error(`the daemon answered ${answer.t} where it used to answer ${recorded.t}`);
    if (answer.t === 'opened') this.takeOpened(answer, recorded as Of<'opened'>);
    if (answer.t === 'closed') checkClosed(answer, recorded as Of<'closed'>);
  }

  private takeOpened(answer: Of<'opened'>, recorded: Of<'opened'>): void {
    this.opened = answer;
    this.acked = answer.frames;
    const isSame =
      Buffer.from(answer.schema).equals(recorded.schema) &&
      answer.req === recorded.req &&
      answer.frames === recorded.frames &&
      answer.strings === recorded.strings &&
      answer.interval_ps === recorded.interval_ps &&
      answer.credit === recorded.credit &&
      answer.lanes === recorded.lanes;
    if (!isSame)
      throw new Error(
        'opened differs from the one recorded: schema, frames, strings, interval, credit or lanes',
      );
  }

  private async durable(frames: bigint): Promise<void> {
    while (this.acked < frames) {
      const message = await this.next(true);
      if (message.t !== 'ack')
        throw new Error(`the daemon answered ${message.t} instead of acknowledging ${frames} frames`);
    }
  }

  /** The next message; acknowledgements are counted, and passed over unless they are asked for. */
  private async next(acksToo = false): Promise<DaemonMessage> {
    for (;;) {
      const [bytes] = await this.dealer.receive();
      const message = decodeDaemonMessage(bytes);
      if (message.t === 'ack') {
        if (message.frames > this.acked) this.acked = message.frames;
        if (acksToo) return message;
      } else if (message.t !== 'pong' && message.t !== 'stalled') return message;
    }
  }
}

function checkClosed({ stats }: Of<'closed'>, recorded: Of<'closed'>): void {
  for (const key of ['status', 'frames', 'items', 'strings', 'total_time_ps', 'rejected', 'lost'] as const) {
    if (stats[key] === recorded.stats[key]) continue;
    throw new Error(`closed: ${key} is ${stats[key]}, and was ${recorded.stats[key]}`);
  }
}

/** The place after a key of a msgpack map: keys are short strings. */
function placeBehind(bytes: Uint8Array, key: string): number {
  const pattern = Buffer.from([0xa0 | key.length, ...Buffer.from(key)]);
  const at = Buffer.from(bytes).indexOf(pattern);
  return at < 0 ? -1 : at + pattern.length;
}

function stringAfter(bytes: Uint8Array, key: string): string {
  const at = placeBehind(bytes, key);
  return Buffer.from(bytes.subarray(at + 1, at + 1 + (bytes[at] & 0x1f))).toString();
}

/** Bytes of an unsigned integer in msgpack, its type byte included. */
function uintSize(type: number): number {
  if (type < 0x80) return 1;
  return { 204: 2, 205: 3, 206: 5, 207: 9 }[type] ?? 0;
}

/** The message with another unsigned 32-bit value at a key it has. */
function withUint(bytes: Uint8Array, key: string, value: number): Uint8Array {
  const at = placeBehind(bytes, key);
  if (at < 0) return bytes;
  const size = uintSize(bytes[at]);
  if (size === 0) throw new Error(`the value of ${key} is not an unsigned integer`);
  const number = Buffer.alloc(5, 0xce);
  number.writeUInt32BE(value, 1);
  return Buffer.concat([bytes.subarray(0, at), number, bytes.subarray(at + size)]);
}
