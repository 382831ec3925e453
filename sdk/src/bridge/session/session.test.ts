import { describe, expect, it } from 'vitest';
import { framesFrom } from '../../../../test/support/bridge-peer.js';
import { gate, SlowSink } from '../../../../test/support/slow-sink.js';
import { UscopeError } from '../../base/errors.js';
import { SessionStatus } from '../../format/session-chunk.js';
import type { DaemonMessage } from '../wire/protocol.js';
import { Session } from './session.js';

interface Bench {
  readonly session: Session;
  readonly sink: SlowSink;
  readonly sent: DaemonMessage[];
  data(seq: number, first: number, end: number): void;
  sentTypes(): string[];
}

async function openSession(credit = 1 << 20): Promise<Bench> {
  const session = new Session(
    { id: new Uint8Array(16), name: 'x', intervalPs: 1n, credit },
    { onEnd: () => {}, onStall: () => {} },
  );
  const sink = new SlowSink();
  const sent: DaemonMessage[] = [];
  session.attach(sink, false);
  session.open(1, { trace: 1, epoch: 7, send: (message) => sent.push(message) });
  await settle();
  const data = (seq: number, first: number, end: number): void => {
    const payload = framesFrom(first, end);
    session.receive(
      {
        flags: 0,
        trace: 1,
        epoch: 7,
        seq: BigInt(seq),
        firstFrame: BigInt(first),
        payloadSize: payload.length,
      },
      payload,
    );
  };
  return { session, sink, sent, data, sentTypes: () => sent.map(({ t }) => t) };
}

/** Lets promises that wait for nothing run. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a session', () => {
  it('waits for its writer without making another session wait', async () => {
    const [slow, quick] = [await openSession(), await openSession()];
    const { hold, open } = gate();
    slow.sink.hold = hold;
    for (const bench of [slow, quick]) for (let i = 0; i < 5; i++) bench.data(i, i * 10, i * 10 + 10);
    await settle();
    expect(quick.sink.nextFrame).toBe(50n);
    expect(slow.sink.nextFrame).toBe(10n);
    slow.sink.hold = null;
    open();
    await settle();
    expect(slow.sink.nextFrame).toBe(50n);
  });

  it('keeps what its writer cannot take yet up to the credit, and ends a client that sends more', async () => {
    const { session, sink, data, sent } = await openSession(1000);
    const { hold, open } = gate();
    sink.hold = hold;
    for (let i = 0; i < 30; i++) data(i, i * 1000, i * 1000 + 1000); // 48,000 bytes each: more than credit + 1 MiB
    expect(sent.some(({ t }) => t === 'error')).toBe(false);
    sink.hold = null;
    open();
    await session.ended;
    expect(sent.find(({ t }) => t === 'error')).toMatchObject({ code: 'BRIDGE_LIMIT', trace: 1, epoch: 7 });
    expect(sink.ended).toMatchObject({ status: SessionStatus.CLOSED });
  });

  it('acknowledges what is durable, with the epoch of the connection', async () => {
    const { session, sent } = await openSession();
    session.onDurable(12n, 3n);
    expect(sent.at(-1)).toEqual({ t: 'ack', trace: 1, epoch: 7, frames: 12n });
  });

  it('lets a client that is too fast wait earlier while somebody looks on, until the daemon has taken what it sent', async () => {
    const { session, sink, data, sent } = await openSession(1 << 20);
    const { hold, open } = gate();
    sink.hold = hold;
    session.hasten();
    for (let i = 0; i < 20; i++) data(i, i * 1000, i * 1000 + 1000); // 48,000 bytes each
    await settle();
    expect(sink.nextFrame).toBe(1000n);
    sink.hold = null;
    open();
    await settle();
    expect(sink.nextFrame).toBe(20_000n);
    const acks = () => sent.flatMap((message) => (message.t === 'ack' ? [message.frames] : []));
    // Half of the credit is as much as it may send beyond what has been taken.
    for (const frames of [1000n, 8000n, 10_000n, 11_000n, 12_000n]) session.onDurable(frames, 0n);
    expect(acks()).toEqual([1000n, 8000n, 10_000n]);
    session.flush(7);
    await settle();
    expect(acks()).toEqual([1000n, 8000n, 10_000n, 12_000n]);
  });

  it('tells its client that the disk is full', async () => {
    const { session, sent } = await openSession();
    session.onStall(new UscopeError('WRITER_DISK_FULL', 'no room'));
    expect(sent.at(-1)).toMatchObject({ t: 'stalled', trace: 1, code: 'WRITER_DISK_FULL' });
    expect(session.stalled?.code).toBe('WRITER_DISK_FULL');
    session.onStall(null);
    expect(session.stalled).toBeNull();
  });

  it('ends when its writer has failed; later messages and a close change nothing', async () => {
    const { session, sink, data, sent, sentTypes } = await openSession();
    sink.failure = new UscopeError('WRITER_IO', 'the disk is gone');
    data(0, 0, 10);
    await session.ended;
    data(1, 10, 20);
    expect(session.failure?.code).toBe('WRITER_IO');
    expect(sent.at(-1)).toMatchObject({ t: 'error', code: 'WRITER_IO', trace: 1 });
    const answers: DaemonMessage[] = [];
    const close = { t: 'close', trace: 1, session: new Uint8Array(16), frames: 20n, strings: 0n } as const;
    session.close(close, (answer) => answers.push(answer));
    await settle();
    expect(answers).toMatchObject([{ t: 'closed', stats: { status: SessionStatus.OPEN } }]);
    expect(sentTypes().filter((t) => t === 'error')).toHaveLength(1);
  });

  it('that has failed refuses to be opened again, with the reason', async () => {
    const { session, sink, data } = await openSession();
    sink.failure = new UscopeError('OP_SLOT', 'slot 9 of "rob" is not below 4');
    data(0, 0, 10);
    await session.ended;
    const answers: DaemonMessage[] = [];
    session.open(2, { trace: 1, epoch: 8, send: (message) => answers.push(message) });
    await settle();
    expect(answers).toMatchObject([{ t: 'error', req: 2, code: 'BRIDGE_RECORD' }]);
    expect(sink.ended?.lost).toBe(10n);
  });

  it('is finalized after everything that came before', async () => {
    const { session, sink, data } = await openSession();
    const { hold, open } = gate();
    sink.hold = hold;
    data(0, 0, 10);
    data(1, 10, 20);
    const done = session.finalize(SessionStatus.CLIENT_LOST, new UscopeError('BRIDGE_CLIENT_LOST', 'gone'));
    sink.hold = null;
    open();
    await done;
    expect(sink.nextFrame).toBe(20n);
    expect(session.stats.status).toBe(SessionStatus.CLIENT_LOST);
  });
});
