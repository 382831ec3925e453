/** Sessions that read their records out of a client's memory, which here is a real file. */
import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { framesFrom, SCHEMA, sessionId, TempDirs, upTo } from '../../../../test/support/bridge-peer.js';
import { CHUNKS_AT, makeMemory } from '../../../../test/support/client-memory.js';
import { decodeFile } from '../../../../test/support/decode-file.js';
import { cases } from '../../../../test/support/effort.js';
import { gate, SlowSink } from '../../../../test/support/slow-sink.js';
import { UscopeError } from '../../base/errors.js';
import { SessionStatus } from '../../format/session-chunk.js';
import { Action } from '../../format/types.js';
import { parseSchema } from '../../schema/index.js';
import { RecordWriter } from '../../writer/index.js';
import { RecordBatch } from '../../writer/records/record-batch.js';
import { CONTINUES, IN_MEMORY } from '../wire/data-header.js';
import type { DaemonMessage } from '../wire/protocol.js';
import { ClientMemory } from './client-memory.js';
import { Session } from './session.js';
import type { TraceSink } from './sink.js';

const ID = sessionId(1);
const FRAME_BYTES = 48;
/** Of one message: more than what is read when it is its turn. */
const LARGE = 3000;
const CREDIT = 1 << 24;
const dirs = new TempDirs();
let directory: string;

beforeEach(() => {
  directory = dirs.make();
  vi.stubEnv('USCOPE_SHM_DIR', directory);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  dirs.cleanUp();
});

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const until = (condition: () => boolean): Promise<boolean> =>
  vi.waitUntil(condition, { interval: 1, timeout: 15_000 });

function openSession(sink: TraceSink): {
  session: Session;
  sent: DaemonMessage[];
  open(epoch: number): void;
} {
  const session = new Session(
    { id: ID, name: 'x', intervalPs: 1n, credit: CREDIT },
    { onEnd: () => {}, onStall: () => {} },
  );
  const sent: DaemonMessage[] = [];
  session.attach(sink, false);
  const open = (epoch: number): void =>
    session.open(1, { trace: 1, epoch, send: (message) => sent.push(message) }, true);
  return { session, sent, open };
}

type Bench = Awaited<ReturnType<typeof begin>>;

/** A session of epoch 7 on a sink with three windows, whose client has all frames of `messages` messages in its memory. */
async function begin(messages: number, windows = 3) {
  const sink = new SlowSink();
  sink.windows = Array.from({ length: windows }, () => new Uint8Array(1 << 20));
  const { session, sent, open } = openSession(sink);
  const path = makeMemory(directory, ID, framesFrom(0, messages * LARGE));
  open(7);
  await settle();
  return {
    session,
    sink,
    sent,
    path,
    /** Message `seq`, of LARGE frames: it begins with frame `seq` * LARGE. */
    announce: (seq: number, { epoch = 7, offset }: { epoch?: number; offset?: number } = {}): void => {
      const at = seq * LARGE;
      session.receive(
        {
          flags: IN_MEMORY,
          trace: 1,
          epoch,
          seq: BigInt(seq),
          firstFrame: BigInt(at),
          payloadSize: LARGE * FRAME_BYTES,
          memoryOffset: offset ?? CHUNKS_AT + at * FRAME_BYTES,
        },
        null,
      );
    },
    /** The client's, which counts this number of messages. */
    close: (count: number): void =>
      session.close(
        { t: 'close', trace: 1, session: ID, frames: BigInt(count * LARGE), strings: 0n },
        (answer) => sent.push(answer),
      ),
    reopen: open,
    received: (count: number): Promise<boolean> => until(() => sent.length >= count),
  };
}

/** Lets reads of this number and later ones (the first is 0) wait, for real, until they are let through. */
function holdReads(from: number): { open(): void; results(): Promise<PromiseSettledResult<unknown>[]> } {
  const { hold, open } = gate();
  const { read } = ClientMemory.prototype;
  const spy = vi.spyOn(ClientMemory.prototype, 'read');
  let count = 0;
  spy.mockImplementation(async function (this: ClientMemory, ...args) {
    if (count++ >= from) await hold;
    return read.apply(this, args);
  });
  return { open, results: () => Promise.allSettled(spy.mock.results.map(({ value }) => value)) };
}

describe('large messages in the memory of a client', () => {
  it('are read by another thread while those before them are taken, and taken in their order', async () => {
    const early = vi.spyOn(ClientMemory.prototype, 'read');
    const inTurn = vi.spyOn(ClientMemory.prototype, 'words');
    const { session, sink, announce, close } = await begin(8);
    for (let seq = 0; seq < 8; seq++) announce(seq);
    expect(early).toHaveBeenCalledTimes(2);
    close(8);
    await session.ended;
    expect(sink.ordinals).toEqual(upTo(8 * LARGE));
    expect(early).toHaveBeenCalledTimes(8);
    expect(inTurn).not.toHaveBeenCalled();
    const used = new Set(early.mock.calls.map(([, , window]) => sink.windows.indexOf(window)));
    expect([...used].sort()).toEqual([1, 2]);
  });

  it('are read when it is their turn where the sink has no windows', async () => {
    const early = vi.spyOn(ClientMemory.prototype, 'read');
    const { session, sink, announce, close } = await begin(4, 0);
    for (let seq = 0; seq < 4; seq++) announce(seq);
    close(4);
    await session.ended;
    expect(sink.ordinals).toEqual(upTo(4 * LARGE));
    expect(early).not.toHaveBeenCalled();
  });

  it('count as unacknowledged while they are read', async () => {
    const reads = holdReads(0);
    const { session, announce, close } = await begin(2);
    for (let seq = 0; seq < 2; seq++) announce(seq);
    await settle();
    expect(session.unacknowledgedBytes).toBe(BigInt(2 * LARGE * FRAME_BYTES));
    reads.open();
    close(2);
    await session.ended;
    expect(session.unacknowledgedBytes).toBe(BigInt(2 * LARGE * FRAME_BYTES));
  });

  it('of an epoch that is over are passed over, and keep no window', async () => {
    const { session, sink, announce, close, reopen } = await begin(4);
    announce(0);
    reopen(8);
    for (let seq = 0; seq < 4; seq++) announce(seq); // of epoch 7
    for (let seq = 0; seq < 4; seq++) announce(seq, { epoch: 8 });
    sink.restartStream = () => {
      sink.nextFrame = 0n; // it takes the first message again
      sink.ordinals.length = 0;
    };
    close(4);
    await session.ended;
    expect(sink.ordinals).toEqual(upTo(4 * LARGE));
  });

  it('after a message left out are dropped until the trace is opened again', async () => {
    const { session, sink, sent, announce, close, reopen, received } = await begin(5);
    announce(0);
    for (let seq = 2; seq < 5; seq++) announce(seq);
    await received(2);
    expect(sent[1]).toMatchObject({ t: 'error', code: 'BRIDGE_SEQUENCE', retry: true });
    reopen(8);
    await received(3);
    expect(sent[2]).toMatchObject({ t: 'opened', frames: BigInt(LARGE) });
    expect(sink.ordinals).toEqual(upTo(LARGE));
    session.finalize(SessionStatus.CLIENT_LOST, new UscopeError('BRIDGE_CLIENT_LOST', 'gone'));
    close(1);
    await session.ended;
  });
});

describe('a large message that cannot be read', () => {
  it.each([
    ['before the chunks', CHUNKS_AT - 16],
    ['beyond their end', CHUNKS_AT + 16],
    ['far beyond it', 2 ** 52],
  ])('as it is %s is refused, and asked for again', async (_, offset) => {
    const { session, sink, sent, announce, close, reopen, received } = await begin(1);
    announce(0, { offset });
    await received(2);
    expect(sent[1]).toMatchObject({ t: 'error', code: 'BRIDGE_MESSAGE', epoch: 7, retry: true });
    expect(sent[1]).toMatchObject({ msg: expect.stringContaining("are outside the client's memory") });
    expect(sink.ordinals).toEqual([]);
    reopen(8);
    announce(0, { epoch: 8 });
    await received(3);
    announce(0, { epoch: 8 });
    close(1);
    await session.ended;
    expect(sink.ordinals).toEqual(upTo(LARGE));
    expect(session.failure).toBeNull();
  });

  it('as the file has become shorter is refused; what was read before stays', async () => {
    const { session, sink, sent, path, announce, close, received } = await begin(3);
    announce(0);
    await until(() => sink.ordinals.length === LARGE);
    truncateSync(path, CHUNKS_AT + LARGE * FRAME_BYTES + 160);
    announce(1);
    announce(2);
    await received(2);
    expect(sent[1]).toMatchObject({ code: 'BRIDGE_MESSAGE', retry: true });
    expect(sent[1]).toMatchObject({
      msg: expect.stringContaining(`only 160 of ${LARGE * FRAME_BYTES} bytes`),
    });
    expect(sink.ordinals).toEqual(upTo(LARGE));
    close(1);
    await received(3);
    session.finalize(SessionStatus.CLIENT_LOST, new UscopeError('BRIDGE_CLIENT_LOST', 'gone'));
    await session.ended;
  });
});

describe('a session that ends while messages are read ahead', () => {
  /** The sink may be closed, and the memory, only when no thread works on them. */
  async function endsBehindReads(
    { session, sink }: Bench,
    reads: ReturnType<typeof holdReads>,
  ): Promise<void> {
    for (let i = 0; i < 5; i++) await settle();
    expect(sink.ended).toBeNull();
    const atClose = vi.spyOn(ClientMemory.prototype, 'close');
    reads.open();
    await session.ended;
    expect(atClose).toHaveBeenCalledTimes(1);
    for (const { status } of await reads.results()) expect(status).toBe('fulfilled');
  }

  it('closed by its client, waits for what is under way', async () => {
    const reads = holdReads(1);
    const bench = await begin(4);
    bench.announce(0);
    bench.close(1);
    for (let seq = 1; seq < 4; seq++) bench.announce(seq); // after the close: nobody will take them
    await endsBehindReads(bench, reads);
    expect(bench.sink.ordinals).toEqual(upTo(LARGE));
    expect(await reads.results()).toHaveLength(3); // the last had no window yet
    expect(bench.sent.at(-1)).toMatchObject({ t: 'closed' });
  });

  it('finalized, waits for what is under way', async () => {
    const reads = holdReads(1);
    const bench = await begin(4);
    bench.announce(0);
    void bench.session.finalize(SessionStatus.CLIENT_LOST, new UscopeError('BRIDGE_CLIENT_LOST', 'gone'));
    for (let seq = 1; seq < 4; seq++) bench.announce(seq);
    await endsBehindReads(bench, reads);
    expect(bench.session.stats.status).toBe(SessionStatus.CLIENT_LOST);
  });

  it('failed, waits too, and counts everything that was announced as lost', async () => {
    const reads = holdReads(1);
    const bench = await begin(5);
    bench.sink.failure = new UscopeError('OP_SLOT', 'slot 9 of "rob" is not below 4');
    for (let seq = 0; seq < 5; seq++) bench.announce(seq);
    await until(() => bench.session.failure !== null);
    await endsBehindReads(bench, reads);
    expect(bench.session.failure?.code).toBe('BRIDGE_RECORD');
    expect(bench.sink.ended?.lost).toBe(BigInt(5 * LARGE));
  });

  it('does not begin to read what comes after its close', async () => {
    const early = vi.spyOn(ClientMemory.prototype, 'read');
    const bench = await begin(2);
    await settle();
    bench.close(0);
    bench.announce(0); // the first it would read: the sink is not closed yet
    await bench.session.ended;
    bench.announce(1);
    await settle();
    expect(early).not.toHaveBeenCalled();
    expect(bench.sink.ordinals).toEqual([]);
  });
});

/** Some records, where each of them begins, and the frame it belongs to or comes before. */
interface Stream {
  readonly bytes: Uint8Array;
  readonly records: { readonly at: number; readonly frame: number; readonly continues: boolean }[];
}

/** Frames of ops, texts and events in turn. */
function streamOf(frames: number, items: number): Stream {
  const batch = new RecordBatch();
  const records: Stream['records'] = [];
  let strings = 0;
  for (let frame = 0; frame < frames; frame++) {
    const note = (continues: boolean): void => {
      records.push({ at: batch.length * 4, frame, continues });
    };
    const speaks = frame % 500 === 7;
    note(false);
    if (speaks) {
      batch.string(strings, Buffer.from(`text ${strings} of ${frame}`));
      note(false);
    }
    batch.begin(frame * 1000);
    for (let i = 0; i < items; i++) {
      note(true);
      batch.op(Action.SET, 0, (frame + i) % 16, 0, frame * 31 + i, i);
    }
    note(true);
    if (speaks) {
      const { view, offset } = batch.event(0, 4);
      view.setUint32(offset, strings++, true);
      note(true);
    }
    batch.end(items + (speaks ? 1 : 0), frame);
  }
  return { bytes: new Uint8Array(batch.words.slice(0, batch.length).buffer), records };
}

interface Message {
  readonly first: number;
  readonly end: number;
}

/** Messages of this number of records each, the last of the rest. */
function split({ records }: Stream, sizes: readonly number[]): Message[] {
  const messages: Message[] = [];
  for (let first = 0, i = 0; first < records.length; i++) {
    const end = Math.min(records.length, first + sizes[i % sizes.length]);
    messages.push({ first, end });
    first = end;
  }
  return messages;
}

describe('what is written', () => {
  /** All frames of a trace that gets these messages, and its texts. */
  async function write(
    name: string,
    stream: Stream,
    messages: readonly Message[],
    fromMemory: boolean,
    kernel: 'native' | 'wasm' | 'typescript',
  ): Promise<unknown> {
    const path = join(directory, `${name}.uscope`);
    const { schema } = parseSchema(SCHEMA);
    const writer = await RecordWriter.create({ path, schema, checkpointIntervalPs: 1_000_000n, kernel });
    const { session, open } = openSession(writer);
    if (fromMemory) makeMemory(directory, ID, stream.bytes);
    open(7);
    await settle();
    for (const [seq, { first, end }] of messages.entries()) {
      const { at, frame, continues } = stream.records[first];
      const bytes = stream.bytes.slice(at, stream.records[end]?.at ?? stream.bytes.length);
      session.receive(
        {
          flags: (fromMemory ? IN_MEMORY : 0) | (continues ? CONTINUES : 0),
          trace: 1,
          epoch: 7,
          seq: BigInt(seq),
          firstFrame: BigInt(frame),
          payloadSize: bytes.length,
          ...(fromMemory ? { memoryOffset: CHUNKS_AT + at } : {}),
        },
        fromMemory ? null : bytes,
      );
    }
    await session.finalize(SessionStatus.CLOSED, new UscopeError('BRIDGE_FINALIZED', 'enough'));
    expect(session.failure).toBeNull();
    const { segments, strings } = decodeFile(path);
    return { frames: segments.flatMap(({ frames }) => frames), strings };
  }

  it.each([
    ['read ahead', 'wasm'],
    ['that is mapped', 'native'],
  ] as const)(
    'out of a memory %s, of messages of any size, is what is written of records that were sent',
    async (_, kernel) => {
      const early = vi.spyOn(ClientMemory.prototype, 'read');
      const size = fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 8192, max: 60_000 }));
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 5000, max: 16_000 }),
          fc.integer({ min: 1, max: 6 }),
          fc.array(size, { minLength: 1, maxLength: 8 }).filter((sizes) => sizes[0] > 8192),
          async (frames, items, sizes) => {
            const stream = streamOf(frames, items);
            const messages = split(stream, sizes);
            const sent = await write('sent', stream, messages, false, 'typescript');
            expect(sent).toMatchObject({ frames: { length: frames } });
            expect(await write('read', stream, messages, true, kernel)).toEqual(sent);
          },
        ),
        { numRuns: cases(2, 24) },
      );
      if (kernel === 'wasm') expect(early.mock.calls.length).toBeGreaterThanOrEqual(cases(2, 24));
      else expect(early).not.toHaveBeenCalled();
      early.mockRestore();
    },
    120_000,
  );
});
