/**
 * A regression farm: many simulators open, record and close on one daemon, and some are killed. The short form runs 60 of them;
 * `USCOPE_FARM=500 npx vitest run test/bridge/farm.test.ts` runs the full one.
 */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, expect, it } from 'vitest';
import {
  BridgeBench,
  closeMessage,
  framesFrom,
  RawPeer,
  sessionId,
  upTo,
  valuesOf,
} from '../support/bridge-peer.js';
import { decodeFile } from '../support/decode-file.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { BIN, buildSdk, Running, until } from '../support/processes.js';
import { buildSimulator } from '../torture/build.mjs';

const USUAL = 60;
const SIMULATORS = Number(process.env.USCOPE_FARM ?? USUAL);
/** Simulators that run at a time: a machine starts no more of them than it has room for. */
const AT_A_TIME = 20;
const CYCLES = 3000;
const KILLED_AT = 1500;
const MAX_MEMORY_MB = 700;
/** Files that the test's own process may open: it has one end of every connection. */
const CONNECTIONS = Math.min(10_000, openFiles('self').soft - 500);

// Hundreds of processes, a few at a time.
limitOfFile(PROCESSES_MS * Math.max(1, SIMULATORS / USUAL));

const bench = new BridgeBench();
let simulator = '';
beforeAll(async () => {
  await buildSdk();
  simulator = buildSimulator();
});
afterEach(() => bench.cleanUp());

interface Farm {
  readonly directory: string;
  readonly endpoint: string;
  readonly out: string;
  readonly daemon: Running;
}

async function serve(...more: string[]): Promise<Farm> {
  const directory = bench.dirs.make();
  const endpoint = `ipc://${directory}/d.sock`;
  const out = join(directory, 'out');
  const daemon = new Running(
    process.execPath,
    [BIN, 'serve', '--endpoint', endpoint, '--out', out, ...more],
    {
      cwd: directory,
    },
  );
  bench.later(async () => {
    daemon.kill('SIGKILL');
    await daemon.ended;
  });
  await daemon.printed('listening');
  return { directory, endpoint, out, daemon };
}

function peakMemory({ daemon }: Farm): number {
  const status = readFileSync(`/proc/${daemon.pid}/status`, 'latin1');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

function openFiles(pid: number | 'self'): { soft: number; hard: number } {
  const limits = readFileSync(`/proc/${pid}/limits`, 'latin1');
  const [, soft, hard] = /Max open files\s+(\d+)\s+(\d+)/.exec(limits) ?? [];
  return { soft: Number(soft), hard: Number(hard) };
}

const isKilled = (n: number): boolean => n % 10 === 9;

/** One simulator with its traces; resolves when its process has ended. */
async function simulate({ directory, endpoint }: Farm, n: number): Promise<void> {
  const how = isKilled(n) ? [`kill@${KILLED_AT}`] : [];
  const args = [`sim${n}`, String(CYCLES), '0', join(directory, `ledger${n}`), ...how];
  const run = new Running(simulator, args, { cwd: directory, env: { USCOPE_ENDPOINT: endpoint } });
  const { status, signal, stderr } = await run.ended;
  expect({ n, status, signal, stderr }).toEqual(
    isKilled(n)
      ? { n, status: null, signal: 'SIGKILL', stderr: '' }
      : { n, status: 0, signal: null, stderr: '' },
  );
}

it(`${SIMULATORS} simulators record on one daemon, one in ten is killed: every cycle is there`, async () => {
  const farm = await serve();
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < SIMULATORS) await simulate(farm, next++);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  const ends = (): number => farm.daemon.stderr.match(/: (closed|client lost), /g)?.length ?? 0;
  await until('the end of every trace', () => ends() >= SIMULATORS);
  for (let n = 0; n < SIMULATORS; n++) {
    const { segments } = decodeFile(join(farm.out, `sim${n}.uscope`));
    const times = segments.flatMap(({ frames }) => frames.map(({ timePs }) => Number(timePs) / 1000));
    expect({ n, times }).toEqual({ n, times: upTo(isKilled(n) ? KILLED_AT : CYCLES) });
  }
  expect(peakMemory(farm)).toBeLessThan(MAX_MEMORY_MB);
});

/** Connects, and says nothing. A socket that has no room for one more in its queue takes it a moment later. */
async function silent(path: string): Promise<Socket> {
  for (;;) {
    const socket = connect({ path });
    const error = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
      socket.once('connect', () => resolve(null));
      socket.once('error', resolve);
    });
    if (error === null) return socket.on('error', () => {}); // the daemon may close it
    if (error.code !== 'EAGAIN') throw error;
    await delay(1);
  }
}

it(`${CONNECTIONS} connections that never say anything keep no client out`, async () => {
  const farm = await serve();
  const path = farm.endpoint.slice('ipc://'.length);
  const sockets: Socket[] = [];
  bench.later(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (let n = 0; n < CONNECTIONS; n += 100) {
    const more = Math.min(100, CONNECTIONS - n);
    sockets.push(...(await Promise.all(Array.from({ length: more }, () => silent(path)))));
  }
  const peer = new RawPeer(farm.endpoint);
  bench.later(() => peer.close());
  await peer.hello();
  const opened = await peer.open({ session: sessionId(1) });
  await peer.data(opened, 0n, 0n, framesFrom(0, 100));
  await peer.control(closeMessage(sessionId(1), opened.trace, 100));
  await peer.next('closed', ['ack']);
  expect(valuesOf(decodeFile(opened.path))).toEqual(upTo(100));
});
