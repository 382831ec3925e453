/** Peers that mean harm, or do it without meaning to: they cost bounded memory, and the trace of an honest client is whole. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Dealer } from 'zeromq';
import { encodeControl } from '../../sdk/src/bridge/wire/codec.js';
import { LANES } from '../../sdk/src/bridge/wire/data-header.js';
import { type ClientMessage, MAX_CONTROL_BYTES } from '../../sdk/src/bridge/wire/protocol.js';
import { RecordKind } from '../../sdk/src/format/record.js';
import {
  BridgeBench,
  closeMessage,
  framesFrom,
  RawPeer,
  SCHEMA,
  sessionId,
  upTo,
  valuesOf,
} from '../support/bridge-peer.js';
import { encodeDataHeader } from '../support/data-header.js';
import { decodeFile } from '../support/decode-file.js';
import { COUNTERS, LANE_SCHEMA } from '../support/lane-stream.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { BIN, buildSdk, Running, until } from '../support/processes.js';
import { generator } from '../torture/scenarios.mjs';

// Daemons and simulators are started, and waited for.
limitOfFile(PROCESSES_MS);

/** More than a daemon needs for one honest trace, less than any of these attacks would like to have. */
const MAX_MEMORY_MB = 700;
const bench = new BridgeBench();
beforeAll(() => buildSdk());
afterEach(() => bench.cleanUp());

interface Target {
  readonly endpoint: string;
  readonly out: string;
  readonly daemon: Running;
}

async function serve(): Promise<Target> {
  const directory = bench.dirs.make();
  const endpoint = `ipc://${directory}/d.sock`;
  const out = join(directory, 'out');
  const args = [BIN, 'serve', '--endpoint', endpoint, '--out', out, '--max-traces', '50'];
  const daemon = new Running(process.execPath, args, { cwd: directory });
  bench.later(async () => {
    daemon.kill('SIGKILL');
    await daemon.ended;
  });
  await daemon.printed('listening');
  return { endpoint, out, daemon };
}

/** Most memory the daemon ever had, in MB. */
function peakMemory({ daemon }: Target): number {
  const [, kib] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${daemon.pid}/status`, 'latin1')) ?? [];
  return Number(kib) / 1024;
}

/** Sends as fast as it can and reads only on request. */
class Hostile {
  readonly dealer: Dealer;

  constructor(endpoint: string) {
    this.dealer = new Dealer({ linger: 0, sendHighWaterMark: 100 });
    this.dealer.connect(endpoint);
    bench.later(() => this.dealer.close());
  }

  send(...parts: Uint8Array[]): Promise<void> {
    return this.dealer.send(parts.map((part) => Buffer.from(part)));
  }

  control(message: ClientMessage): Promise<void> {
    return this.send(encodeControl(message));
  }

  hello(): Promise<void> {
    return this.control({ t: 'hello', v: 1, client: 'hostile', pid: 1, start: 0n });
  }
}

/** An honest client traces while `attack` runs; then the daemon must be well, its memory bounded, the trace whole. */
async function withstands(attack: (target: Target) => Promise<unknown>): Promise<void> {
  const target = await serve();
  const honest = new RawPeer(target.endpoint);
  bench.later(() => honest.close());
  await honest.hello();
  const opened = await honest.open({ session: sessionId(1) });
  await honest.data(opened, 0n, 0n, framesFrom(0, 100));
  await attack(target);
  await honest.data(opened, 1n, 100n, framesFrom(100, 200));
  await honest.control(closeMessage(sessionId(1), opened.trace, 200));
  await honest.next('closed', ['ack']);
  expect(valuesOf(decodeFile(opened.path))).toEqual(upTo(200));
  expect(peakMemory(target)).toBeLessThan(MAX_MEMORY_MB);
}

const open = (more: Partial<Extract<ClientMessage, { t: 'open' }>>): ClientMessage => ({
  t: 'open',
  req: 1,
  name: 'evil',
  session: crypto.getRandomValues(new Uint8Array(16)),
  schema: SCHEMA,
  credit: 1 << 20,
  ...more,
});

it('a daemon ends with no words of its message library, the code that has not read what it was sent', async () => {
  const { endpoint, daemon } = await serve();
  const peer = new Hostile(endpoint);
  await peer.hello();
  for (let i = 0; i < 20_000; i++) await peer.control({ t: 'ping' });
  await new Promise((resolve) => setTimeout(resolve, 500));
  daemon.kill('SIGTERM');
  expect(await daemon.ended).toMatchObject({ status: 0 });
  expect(daemon.stderr).not.toContain('ZeroMQ');
});

describe('a daemon withstands', () => {
  it('names that would rule the terminal its lines are printed on', () =>
    withstands(async ({ endpoint, daemon }) => {
      const evil = '\x1b[2J\rx\nuscope: core0: 1 frame';
      const peer = new RawPeer(endpoint);
      bench.later(() => peer.close());
      await peer.hello();
      await peer.control(open({ name: evil }));
      await peer.next('error');
      await peer.control(open({ req: 2, schema: `uscope: 1\n"${'\\x1b[2J'}": 3\n`, schema_name: evil }));
      await peer.next('error');
      await daemon.printed('\\x1b[2J');
      expect(daemon.stderr).not.toMatch(/^uscope: core0: 1 frame/m);
      for (const control of ['\x1b', '\r']) expect(daemon.stderr).not.toContain(control);
    }));

  it('random bytes, and messages with random bytes in them', () =>
    withstands(async ({ endpoint }) => {
      const random = generator(7);
      const peer = new Hostile(endpoint);
      const messages = [encodeControl(open({})), encodeControl(closeMessage(sessionId(9), 1, 5))];
      messages.push(
        encodeDataHeader({ flags: 0, trace: 1, epoch: 1, seq: 0n, firstFrame: 0n, payloadSize: 48 }),
      );
      for (let i = 0; i < 4000; i++) {
        const bytes = i % 4 === 0 ? new Uint8Array(random() * 200) : messages[i % 3].slice();
        const flips = i % 4 === 0 ? bytes.length : 1 + random() * 4;
        for (let flip = 0; flip < flips && bytes.length; flip++)
          bytes[Math.floor(random() * bytes.length)] = random() * 256;
        const parts = Array.from({ length: 1 + Math.floor(random() * 3) }, () => bytes);
        await (i % 500 === 0 ? peer.hello() : peer.send(...parts));
      }
    }));

  it('schemas made to explode', () =>
    withstands(async ({ endpoint }) => {
      const peer = new RawPeer(endpoint);
      bench.later(() => peer.close());
      await peer.hello();
      let laughs = 'a0: &a0 [ha,ha,ha,ha,ha,ha,ha,ha,ha]\n';
      for (let i = 1; i < 12; i++) laughs += `a${i}: &a${i} [${Array(9).fill(`*a${i - 1}`)}]\n`;
      const slots = Array.from(
        { length: 60 },
        (_, i) =>
          `  s${i}: {slots: 65535, kind: dense, fields: {${Array.from({ length: 99 }, (_, k) => `f${k}: u64`).join(', ')}}}`,
      ).join('\n');
      const bombs = [
        laughs,
        '['.repeat(390_000),
        '{a: '.repeat(90_000),
        '- '.repeat(190_000),
        'x'.repeat(MAX_CONTROL_BYTES - 1000),
        `uscope: 1\nclocks: {clk: 1ns}\nstorages:\n${slots}\n`,
      ];
      for (const [req, schema] of bombs.entries()) {
        await peer.control(open({ req, schema }));
        expect(await peer.next('error')).toMatchObject({ req, code: expect.stringMatching(/^SCHEMA_/) });
      }
    }));

  it('a flood of opens, each with as much schema as a message may have', () =>
    withstands(async ({ endpoint }) => {
      const peer = new Hostile(endpoint);
      await peer.hello();
      const schema = `${SCHEMA}#${'x'.repeat(MAX_CONTROL_BYTES - 2000)}`;
      for (let req = 0; req < 60; req++) await peer.control(open({ req, schema, name: `evil${req % 3}` }));
    }));

  it('thousands of traces: 50 are open, the others are refused with the reason', () =>
    withstands(async ({ endpoint, out }) => {
      const peer = new Hostile(endpoint);
      await peer.hello();
      for (let req = 0; req < 2000; req++)
        await peer.control(open({ req, name: `evil${req}`, credit: 2 ** 40 }));
      let refused = 0;
      peer.dealer.receiveTimeout = 20_000;
      for (let answers = 0; answers < 900; answers++) {
        const [bytes] = await peer.dealer.receive();
        if (bytes.includes('BRIDGE_LIMIT')) refused++;
      }
      expect(refused).toBeGreaterThan(800);
      const files = (): number => readdirSync(out).filter((file) => file.startsWith('evil')).length;
      await until('49 files', () => files() >= 49);
      expect(files()).toBe(49);
    }));

  it('names that lead elsewhere', () =>
    withstands(async ({ endpoint, out }) => {
      const peer = new RawPeer(endpoint);
      bench.later(() => peer.close());
      await peer.hello();
      const names = [
        '..',
        '../x',
        'a/../../x',
        '/etc/x',
        'a\0b',
        '.',
        'a//b',
        'a/',
        '',
        '~/x',
        'a'.repeat(201),
        'a\\b',
        '\u{202e}x',
      ];
      for (const [req, name] of names.entries()) {
        await peer.control(open({ req, name }));
        expect(await peer.next('error')).toMatchObject({ req, code: 'BRIDGE_NAME' });
      }
      // Of what a daemon keeps for itself the names begin with a dot.
      expect(readdirSync(out).filter((name) => !name.startsWith('.'))).toEqual(['trace.uscope']);
    }));

  it('a peer that asks and never reads, and one that sends more than it may', () =>
    withstands(async ({ endpoint }) => {
      const deaf = new Hostile(endpoint);
      deaf.dealer.receiveHighWaterMark = 1;
      await deaf.hello();
      for (let i = 0; i < 30_000; i++) await deaf.control({ t: 'ping' });
      const greedy = new Hostile(endpoint);
      await greedy.hello();
      await greedy.control(open({ name: 'greedy' }));
      const header = { flags: 0, trace: 2, epoch: 1, seq: 0n, firstFrame: 0n, payloadSize: 1 << 20 };
      const payload = new Uint8Array(1 << 20);
      for (let seq = 0n; seq < 400n; seq++) await greedy.send(encodeDataHeader({ ...header, seq }), payload);
    }));

  it('hundreds of connections that come and go', () =>
    withstands(async ({ endpoint }) => {
      for (let round = 0; round < 5; round++) {
        const peers = Array.from({ length: 60 }, () => new RawPeer(endpoint));
        await Promise.all(peers.map((peer) => peer.hello()));
        for (const peer of peers) peer.close();
        await delay(20);
      }
    }));

  it('strings as long and as many as they may be', () =>
    withstands(async ({ endpoint }) => {
      const peer = new RawPeer(endpoint);
      bench.later(() => peer.close());
      await peer.hello();
      const session = sessionId(7);
      const opened = await peer.open({ session, name: 'strings', credit: 1 << 20 });
      const size = 16 + 65_520;
      let seq = 0n;
      for (let index = 0; index < 400; index++, seq++) {
        const bytes = new Uint8Array(size + 48).fill(0x61);
        const view = new DataView(bytes.buffer);
        new Uint8Array(bytes.buffer, 0, 16).fill(0);
        view.setUint8(0, 0x12);
        view.setUint32(4, 65_520, true);
        view.setBigUint64(8, BigInt(index), true);
        view.setUint32(16, index, true);
        bytes.set(framesFrom(index, index + 1), size);
        await peer.data(opened, seq, BigInt(index), bytes);
        if (index % 8 === 7) {
          await peer.control({ t: 'flush', trace: opened.trace, epoch: opened.epoch });
          await peer.acked(BigInt(index + 1));
        }
      }
      await peer.control(closeMessage(session, opened.trace, 400, 400));
      expect((await peer.next('closed', ['ack'])).stats.strings).toBe(400n);
    }));

  it('messages of lane records that represent 64 times as much', () =>
    withstands(async ({ endpoint }) => {
      const peer = new RawPeer(endpoint);
      bench.later(() => peer.close());
      await peer.hello();
      const session = sessionId(8);
      const credit = 1 << 22;
      const opened = await peer.open({ session, name: 'lanes', schema: LANE_SCHEMA, credit });
      const [messages, frames, records] = [6, 60, 1000];
      for (let seq = 0; seq < messages; seq++) {
        const words: number[] = [];
        for (let frame = seq * frames; frame < (seq + 1) * frames; frame++) {
          words.push(RecordKind.BEGIN, 0, frame * 1000, 0);
          for (let i = 0; i < records; i++)
            words.push(RecordKind.ADD_LANES | (1 << 16), 0, 0xffff_ffff, 0xffff_ffff);
          words.push(RecordKind.END, records, frame, 0);
        }
        const bytes = new Uint8Array(Uint32Array.from(words).buffer);
        await peer.data(opened, BigInt(seq), BigInt(seq * frames), bytes, { flags: LANES });
        await peer.control({ t: 'flush', trace: opened.trace, epoch: opened.epoch });
      }
      await peer.control(closeMessage(session, opened.trace, messages * frames));
      const { stats } = await peer.next('closed', ['ack']);
      expect(stats.items).toBe(BigInt(messages * frames * records * COUNTERS));
    }));
});
