/** Traces of one run: what says that they belong together, names that clash, and what is reported of them in the end. */
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  BridgeBench,
  closeMessage,
  framesFrom,
  type RawPeer,
  SCHEMA,
  sessionId,
} from '../../../../test/support/bridge-peer.js';
import { decodeFile } from '../../../../test/support/decode-file.js';
import { SessionStatus } from '../../format/session-chunk.js';
import { accountOf, type TraceStats } from '../../writer/index.js';
import { processStart } from '../../writer/output/process-name.js';
import { Connection } from '../daemon/connections.js';
import { Runs, runEnvironment, runOfEnvironment } from '../daemon/run-identity.js';
import { runJson } from './run-json.js';
import { runLines } from './run-table.js';
import type { TraceReport } from './summary.js';

const bench = new BridgeBench();
afterEach(() => bench.cleanUp());

const HERE = { pid: process.pid, start: processStart(process.pid)! };
const dutOf = (path: string): Record<string, string> => Object.fromEntries(decodeFile(path).preamble.dut);
const runIdOf = (path: string): string =>
  Buffer.from(decodeFile(path).preamble.session!.runId).toString('hex');

describe('traces of one run', () => {
  it('carry its id, its start and their core as DUT properties, and the id in the session', async () => {
    const id = sessionId(7);
    const { daemon } = await bench.startDaemon({
      run: { id, startTimeMs: Date.UTC(2026, 0, 2, 3, 4, 5, 6) },
    });
    const peer = await bench.greetedPeer(daemon);
    const a = await peer.open({ session: sessionId(1), name: 'a', core: 0 });
    const b = await peer.open({ session: sessionId(2), name: 'b', core: 11 });
    const c = await peer.open({ session: sessionId(3), name: 'c', dut: [['uscope.run_id', 'mine']] });
    const common = { 'uscope.run_id': '07'.repeat(16), 'uscope.start_time': '2026-01-02T03:04:05.006Z' };
    expect(dutOf(a.path)).toEqual({ ...common, 'uscope.core': '0' });
    expect(dutOf(b.path)).toEqual({ ...common, 'uscope.core': '11' });
    expect(dutOf(c.path)).toEqual(common);
    expect(runIdOf(b.path)).toBe('07'.repeat(16));
  });

  it('keep the id that their client gives', async () => {
    const { daemon } = await bench.startDaemon({ run: { id: sessionId(7), startTimeMs: 1000 } });
    const [one, two] = [await bench.greetedPeer(daemon), await bench.greetedPeer(daemon)];
    const a = await one.open({ session: sessionId(1), name: 'a', run: sessionId(9) });
    await new Promise((resolve) => setTimeout(resolve, 5));
    const b = await two.open({ session: sessionId(2), name: 'b', run: sessionId(9) });
    expect(dutOf(a.path)['uscope.run_id']).toBe('09'.repeat(16));
    // The run began with its first trace.
    expect(dutOf(b.path)).toEqual(dutOf(a.path));
  });

  it('are those of one process where nobody says more, also after its connection or the daemon was lost', async () => {
    const first = await bench.startDaemon();
    const peer = bench.peerOf(first.daemon);
    await peer.hello(HERE);
    const a = await peer.open({ session: sessionId(1), name: 'a' });
    const { daemon } = await bench.startDaemon();
    const [again, other] = [bench.peerOf(daemon), await bench.greetedPeer(daemon)];
    await again.hello(HERE);
    const b = await again.open({ session: sessionId(2), name: 'b' });
    const c = await other.open({ session: sessionId(3), name: 'c' });
    const d = await other.open({ session: sessionId(4), name: 'd' });
    expect(runIdOf(b.path)).toBe(runIdOf(a.path));
    expect(runIdOf(c.path)).not.toBe(runIdOf(a.path));
    expect(dutOf(d.path)).toEqual(dutOf(c.path));
  });

  it('have the same properties after a resume by another daemon', async () => {
    const out = join(bench.dirs.make(), 'out');
    const first = await bench.startDaemon({ outputDirectory: out });
    const peer = await bench.greetedPeer(first.daemon);
    const opened = await peer.open({ session: sessionId(1), core: 2 });
    await peer.data(opened, 0n, 0n, framesFrom(0, 5));
    await peer.control({ t: 'flush', trace: opened.trace, epoch: opened.epoch });
    await peer.acked(5n);
    const before = dutOf(opened.path);
    await first.daemon.stop();
    const { daemon } = await bench.startDaemon({
      outputDirectory: out,
      run: { id: sessionId(8), startTimeMs: 5 },
    });
    const again = await bench.greetedPeer(daemon);
    const resumed = await again.open({ session: sessionId(1), core: 2 });
    expect(resumed.frames).toBe(5n);
    // A client takes nothing but the same bytes when it comes back.
    expect(resumed.schema).toEqual(opened.schema);
    await again.control(closeMessage(sessionId(1), resumed.trace, 5));
    await again.next('closed');
    expect(dutOf(resumed.path)).toEqual(before);
  });

  it('are remembered for a bounded number of runs', () => {
    let now = 0;
    const runs = new Runs(null, () => now++);
    const client = new Connection(Buffer.of(1), 'x', null, 1);
    const id = (n: number): Uint8Array =>
      new Uint8Array(Buffer.from(n.toString(16).padStart(32, '0'), 'hex'));
    expect(runs.of(id(1), client).startTimeMs).toBe(0);
    for (let n = 2; n < 5000; n++) runs.of(id(n), client);
    expect(runs.of(id(4999), client).startTimeMs).toBe(4998);
    expect(runs.of(id(1), client).startTimeMs).toBe(4999);
  });

  it('pass through the environment', () => {
    const run = { id: sessionId(0xab), startTimeMs: 1_700_000_000_123 };
    expect(runOfEnvironment(runEnvironment(run))).toEqual(run);
    expect(runOfEnvironment({ USCOPE_RUN_ID: 'ab'.repeat(16), USCOPE_RUN_START_MS: '-1' })).toBeNull();
    expect(runOfEnvironment({ USCOPE_RUN_ID: 'x', USCOPE_RUN_START_MS: '1' })).toBeNull();
  });
});

describe('two cores that open one name', () => {
  const refusal = async (peer: RawPeer, core?: number): Promise<string> => {
    const more = { schema: SCHEMA, credit: 1 << 20, core };
    await peer.control({ t: 'open', req: 4, name: 'core0', session: sessionId(2), ...more });
    const { code, msg } = await peer.next('error');
    expect(code).toBe('BRIDGE_NAME_BUSY');
    return msg;
  };

  it('are both named, with the process that was first', async () => {
    const { daemon } = await bench.startDaemon();
    const peer = bench.peerOf(daemon);
    await peer.hello(HERE);
    await peer.open({ session: sessionId(1), name: 'core0', core: 0 });
    expect(await refusal(peer, 1)).toContain(
      `core 1 asks for the trace "core0", which core 0 of process ${process.pid} (test peer) is writing; give each core a different name`,
    );
  });

  it('are sessions where they have no index', async () => {
    const { daemon } = await bench.startDaemon();
    const [one, two] = [await bench.greetedPeer(daemon), await bench.greetedPeer(daemon)];
    await one.open({ session: sessionId(1), name: 'core0' });
    expect(await refusal(two)).toContain('which process 1 (test peer) is writing; choose another name');
  });
});

const report = (
  core: number,
  stats: Partial<TraceStats> | null = {},
  more: Partial<TraceReport> = {},
): TraceReport => ({
  name: `core${core}`,
  path: `/data/run/core${core}.uscope`,
  core,
  periodPs: 1000,
  stats: stats && {
    path: '',
    status: SessionStatus.CLOSED,
    frames: 200_000n,
    items: 1_400_000n,
    strings: 0n,
    segments: 20,
    bytes: 6_900_000n,
    totalTimePs: 199_999_000n,
    accepted: { frames: 200_000n, items: 1_400_000n, totalTimePs: 199_999_000n },
    rejected: 0n,
    lost: 0n,
    ...stats,
  },
  account:
    stats &&
    accountOf({
      stats: { frames: stats.frames ?? 200_000n, accepted: { frames: 0n, items: 0n, totalTimePs: 0n } },
      completed: { frames: (stats.frames ?? 200_000n) + (stats.lost ?? 0n), isExact: true },
    }),
  failure: null,
  reasons: [],
  ...more,
});

describe('the table of a run', () => {
  it('has a line for each core in their order, and one for all', () => {
    expect(runLines([report(10), report(2, { items: 700_000n })], 500)).toEqual([
      'trace     core   cycles   frames      items  /cycle     size  B/item  segs  status  lost  rej.',
      'core2        2  200,000  200,000    700,000    3.50  6.90 MB    9.86    20  closed     0     0',
      'core10      10  200,000  200,000  1,400,000    7.00  6.90 MB    4.93    20  closed     0     0',
      'together                 400,000  2,100,000          13.8 MB    6.57    40             0     0',
      '2 traces, 2,100,000 items in 0.50 s: 4.20 M items/s; files in /data/run',
    ]);
  });

  it('stays narrow with large numbers and long names, and tells every loss', () => {
    const big = {
      frames: 10n ** 12n,
      items: 9n * 10n ** 12n,
      totalTimePs: 10n ** 15n,
      bytes: 10n ** 13n,
      lost: 5n,
    };
    const lines = runLines([report(0, big, { name: `deep/${'x'.repeat(90)}/core0` }), report(1, null)], 0);
    for (const line of lines.slice(0, 4)) expect(line.length).toBeLessThanOrEqual(110);
    expect(lines[1]).toContain('1000 G');
    expect(lines[2]).toMatch(/^core1 .* unfinished/);
    expect(lines.slice(5).join('\n')).toMatch(
      /5 of the 1,000,000,000,005 cycles[\s\S]*core1: .*it could not be finalized/,
    );
  });

  it('leaves out what no trace knows', () => {
    const nameless = [report(0, {}, { core: null, periodPs: 0 }), report(1, {}, { core: null, periodPs: 0 })];
    expect(runLines(nameless, 10)[0]).toMatch(/^trace +frames +items +size /);
  });

  it('is there for programs', () => {
    const summary = {
      run: { id: sessionId(1), startTimeMs: 0 },
      durationMs: 1000.4,
      tracedMs: 500,
      command: ['make', 'sim'],
      simulatorStatus: 0,
      exitStatus: 3,
      reports: [report(0), report(1, null)],
      refused: new Map([['core2', 'BRIDGE_NAME_BUSY: taken']]),
    };
    expect(runJson(summary)).toMatchObject({
      runId: '01'.repeat(16),
      startTime: '1970-01-01T00:00:00.000Z',
      durationMs: 1000,
      exitStatus: 3,
      traces: [
        { name: 'core0', core: 0, cycles: 200_000n, itemsPerCycle: 7, status: 'closed', losses: [] },
        { name: 'core1', status: 'unfinished', items: null },
      ],
      totals: { traces: 2, items: 1_400_000n, itemsPerSecond: 2_800_000 },
      refused: [{ name: 'core2', reason: 'BRIDGE_NAME_BUSY: taken' }],
    });
  });
});
