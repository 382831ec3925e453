import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  BridgeBench,
  bytesOf,
  closeMessage,
  framesFrom,
  sessionId,
  valuesOf,
} from '../../../../test/support/bridge-peer.js';
import { coreSchema } from '../../../../test/support/build-trace.js';
import { decodeFile } from '../../../../test/support/decode-file.js';
import { limitOfFile, PROCESSES_MS } from '../../../../test/support/limits.js';
import { SessionStatus } from '../../format/index.js';
import { processStart } from '../../writer/output/process-name.js';
import { RecordBatch } from '../../writer/records/record-batch.js';
import { ringSinks } from './ring-sink.js';
import { parseTrigger, triggerSource } from './trigger-pattern.js';

// Daemons sync files, and are waited for.
limitOfFile(PROCESSES_MS);

const bench = new BridgeBench();
afterEach(() => bench.cleanUp());

const sinks = () => ringSinks({ span: { cycles: 30n }, triggers: [] });
const me = { pid: process.pid, start: processStart(process.pid)! };
const checkpointIntervalPs = 10_000n;
/** The daemon puts it after the events of the schema, of which the tests' has one. */
const CONTROL = 1;
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

describe('a flight recorder in the daemon', () => {
  it('continues with the next daemon when its client outlives the first', async () => {
    const { daemon, out } = await bench.startDaemon({ sinks: sinks(), checkpointIntervalPs });
    const peer = bench.peerOf(daemon);
    await peer.hello(me);
    const opened = await peer.open({ session: sessionId(1) });
    await peer.data(opened, 0n, 0n, framesFrom(0, 100));
    await peer.control({ t: 'flush', trace: opened.trace, epoch: opened.epoch });
    await peer.acked(100n);
    await daemon.finalize();
    await daemon.stop();
    expect(readdirSync(out).sort()).toEqual(['trace.ring', 'trace.uscope']);
    expect(decodeFile(join(out, 'trace.uscope')).preamble.session?.status).toBe(SessionStatus.CLIENT_LOST);

    const next = await bench.startDaemon({ sinks: sinks(), checkpointIntervalPs, outputDirectory: out });
    const again = bench.peerOf(next.daemon);
    await again.hello(me);
    const reopened = await again.open({ session: sessionId(1) });
    expect(reopened.frames).toBe(100n);
    await again.data(reopened, 0n, 100n, framesFrom(100, 150));
    await again.control(closeMessage(sessionId(1), reopened.trace, 150));
    expect((await again.next('closed')).stats).toMatchObject({
      frames: 150n,
      items: 150n,
      status: SessionStatus.RING,
    });
    const values = valuesOf(decodeFile(join(out, 'trace.uscope')));
    expect(values).toEqual(range(values[0], 150));
    expect(values.length).toBeGreaterThanOrEqual(30);
    expect(values.length).toBeLessThanOrEqual(60);
    expect(existsSync(join(out, 'trace.ring'))).toBe(false);
  });

  it('tells a client that did not hear of the end how far its trace is', async () => {
    const { daemon, out } = await bench.startDaemon({ sinks: sinks(), checkpointIntervalPs });
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1) });
    await peer.data(opened, 0n, 0n, framesFrom(0, 100));
    await peer.control(closeMessage(sessionId(1), opened.trace, 100));
    const { stats } = await peer.next('closed');
    const next = await bench.startDaemon({ sinks: sinks(), checkpointIntervalPs, outputDirectory: out });
    const again = await bench.greetedPeer(next.daemon);
    const reopened = await again.open({ session: sessionId(1) });
    expect(reopened.frames).toBe(100n);
    await again.control(closeMessage(sessionId(1), reopened.trace, 100));
    expect((await again.next('closed')).stats).toEqual(stats);
  });

  it('makes a file at the control event of the stream, under its label', async () => {
    const { daemon, out } = await bench.startDaemon({ sinks: sinks(), checkpointIntervalPs });
    const peer = await bench.greetedPeer(daemon);
    const opened = await peer.open({ session: sessionId(1) });
    const batch = new RecordBatch();
    batch.string(0, new TextEncoder().encode(''));
    batch.string(1, new TextEncoder().encode('watchdog'));
    for (const [ordinal, action] of [3, 4, 2].entries()) {
      batch.begin(BigInt(ordinal) * 1000n);
      const { view, offset } = batch.event(CONTROL, 10);
      view.setUint8(offset, action);
      view.setUint32(offset + 6, 1, true);
      batch.end(1, ordinal);
    }
    await peer.data(opened, 0n, 0n, bytesOf(batch));
    await peer.control(closeMessage(sessionId(1), opened.trace, 3, 2));
    await peer.next('closed');
    expect(readdirSync(out).sort()).toEqual(['trace.trigger-1.uscope', 'trace.uscope']);
    const { preamble, segments } = decodeFile(join(out, 'trace.trigger-1.uscope'));
    expect(new Map(preamble.dut).get('uscope.trigger')).toBe('watchdog');
    expect(new Map(preamble.dut).get('uscope.trigger_time_ps')).toBe('1000');
    expect(segments.flatMap(({ frames }) => frames)).toHaveLength(2);
  });
});

describe('a trigger pattern', () => {
  const resolved = (text: string) => triggerSource([parseTrigger(text)])(coreSchema);

  it('names an event, fields, labels and texts of the schema', () => {
    const stage = { offset: 4, size: 1, lo: 1, hi: 0 };
    expect(resolved('stage_transition stage=execute')).toMatchObject([{ eventType: 0, tests: [stage] }]);
    expect(resolved('core0/stage_transition  stage=0x1 entity_id=7')).toMatchObject([
      { eventType: 0, tests: [stage, { offset: 0, size: 4, lo: 7, hi: 0 }] },
    ]);
    expect(resolved('annotate text="two words"')).toMatchObject([
      { tests: [{ offset: 4, size: 4, text: 'two words' }] },
    ]);
  });

  it('that cannot be is refused, with what there is', () => {
    expect(() => resolved('panic')).toThrow(/BRIDGE_TRIGGER.*no event "panic".*core0\/stage_transition/);
    expect(() => resolved('annotate code=1')).toThrow(/no field "code"; it has: entity_id, text/);
    expect(() => resolved('stage_transition stage=retire')).toThrow(
      /write a label \(fetch, execute\) or a number/,
    );
    expect(() => resolved('annotate entity_id=-1')).toThrow(/-1 does not fit the 32 bits/);
    for (const text of ['', 'a b', '=1', 'a =1', 'a b="c'])
      expect(() => parseTrigger(text)).toThrow('BRIDGE_TRIGGER');
  });
});
