/** Sessions whose clients fold items into lane records: what they write is what plain records would have made. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sessionId, TempDirs } from '../../../../test/support/bridge-peer.js';
import { CHUNKS_AT, makeMemory } from '../../../../test/support/client-memory.js';
import { decodeFile } from '../../../../test/support/decode-file.js';
import { cases } from '../../../../test/support/effort.js';
import { COUNTERS, LANE_SCHEMA, LaneStream, type Mark, SLOTS } from '../../../../test/support/lane-stream.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { UscopeError } from '../../base/errors.js';
import { SessionStatus } from '../../format/session-chunk.js';
import { Action } from '../../format/types.js';
import { parseSchema } from '../../schema/index.js';
import { RecordWriter } from '../../writer/index.js';
import { CONTINUES, IN_MEMORY, LANES } from '../wire/data-header.js';
import type { DaemonMessage } from '../wire/protocol.js';
import { ClientMemory } from './client-memory.js';
import { MappedFile } from './mapped-file.js';
import { Session } from './session.js';

// Properties of whole traces, from memory and from messages.
limitOfFile(MANY_CASES_MS);

const ID = sessionId(1);
const KERNELS = ['native', 'wasm', 'typescript'] as const;
type Kernel = (typeof KERNELS)[number];
const dirs = new TempDirs();
let directory: string;

beforeEach(() => {
  directory = dirs.make();
  vi.stubEnv('USCOPE_SHM_DIR', directory);
  vi.spyOn(Date, 'now').mockReturnValue(1_700_000_000_000); // or else the files' times would differ
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  dirs.cleanUp();
});

/** Records of a stream from one mark up to another. */
interface Message {
  readonly first: number;
  readonly end: number;
}

/** One form of a stream, and how it is sent. */
interface Sending {
  readonly bytes: Uint8Array;
  readonly marks: readonly Mark[];
  readonly messages: readonly Message[];
  readonly flags: number;
  readonly kernel: Kernel;
  readonly fromMemory: boolean;
}

/** Messages of this number of records each, the last of the rest. */
function split(marks: readonly Mark[], sizes: readonly number[]): Message[] {
  const messages: Message[] = [];
  for (let first = 0, i = 0; first < marks.length; i++) {
    const end = Math.min(marks.length, first + sizes[i % sizes.length]);
    messages.push({ first, end });
    first = end;
  }
  return messages;
}

/** A session on a new file, for a client that sends this. */
class Bench {
  readonly sent: DaemonMessage[] = [];
  private epoch = 7;
  private seq = 0n;

  static async begin(sending: Sending): Promise<Bench> {
    const path = join(dirs.make(), 'x.uscope');
    const { schema } = parseSchema(LANE_SCHEMA);
    const { kernel } = sending;
    const options = { sessionId: ID, maxDelayMs: 0, checkpointIntervalPs: 100_000n, kernel };
    const writer = await RecordWriter.create({ path, schema, ...options });
    if (sending.fromMemory) makeMemory(directory, ID, sending.bytes);
    // With windows, as where there is no addon: records are copied.
    if (kernel === 'wasm') vi.spyOn(MappedFile, 'open').mockReturnValue(null);
    const bench = new Bench(sending, writer, path);
    await bench.open();
    return bench;
  }

  readonly session = new Session(
    { id: ID, name: 'x', intervalPs: 1n, credit: 1 << 26 },
    { onEnd: () => {}, onStall: () => {} },
  );

  private constructor(
    private readonly sending: Sending,
    writer: RecordWriter,
    readonly path: string,
  ) {
    this.session.attach(writer, false);
  }

  /** For the first time, or again. */
  async open(): Promise<DaemonMessage> {
    this.epoch++;
    this.seq = 0n;
    const { epoch, sent } = this;
    const link = { trace: 1, epoch, send: (message: DaemonMessage) => sent.push(message) };
    const before = sent.length;
    this.session.open(1, link, this.sending.fromMemory);
    await vi.waitUntil(() => sent.length > before, { interval: 1, timeout: 15_000 });
    return sent[before];
  }

  send({ first, end }: Message, flags = this.sending.flags): void {
    const { bytes, marks, fromMemory } = this.sending;
    const { at, frame, continues } = marks[first];
    const size = (marks[end]?.at ?? bytes.length) - at;
    this.session.receive(
      {
        flags: flags | (fromMemory ? IN_MEMORY : 0) | (continues ? CONTINUES : 0),
        trace: 1,
        epoch: this.epoch,
        seq: this.seq++,
        firstFrame: BigInt(frame),
        payloadSize: size,
        ...(fromMemory ? { memoryOffset: CHUNKS_AT + at } : {}),
      },
      fromMemory ? null : bytes.slice(at, at + size),
    );
  }

  /** From the message on in which a frame begins. */
  sendFrom(frame: number): void {
    const { messages, marks } = this.sending;
    const begin = marks.findIndex((mark) => mark.frame === frame);
    for (const message of messages) if (message.end > begin) this.send(message);
  }

  /** The file's bytes. */
  async finish(): Promise<Buffer> {
    await this.session.finalize(SessionStatus.CLOSED, new UscopeError('BRIDGE_FINALIZED', 'enough'));
    expect(this.session.failure).toBeNull();
    const bytes = readFileSync(this.path);
    // How many frames the client completed: with its memory that is known, without it is not.
    const session = bytes.indexOf(ID) - 8;
    bytes.fill(0, session + 112, session + 124);
    // The checksum of the session, in the chunk after it.
    return bytes.fill(0, session + 144, session + 148);
  }
}

const folded = (
  stream: LaneStream,
  sizes: readonly number[],
  kernel: Kernel,
  fromMemory = false,
): Sending => {
  const { bytes, marks } = stream.folded;
  return { bytes, marks, messages: split(marks, sizes), flags: LANES, kernel, fromMemory };
};

const plain = (stream: LaneStream, messages: (marks: readonly Mark[]) => Message[]): Sending => {
  const { bytes, marks } = stream.plain;
  return { bytes, marks, messages: messages(marks), flags: 0, kernel: 'typescript', fromMemory: false };
};

const inLargeMessages = (marks: readonly Mark[]): Message[] => split(marks, [40_000]);

async function sendAll(sending: Sending): Promise<Buffer> {
  const bench = await Bench.begin(sending);
  for (const message of sending.messages) bench.send(message);
  return bench.finish();
}

/** Cycles of a machine with counters, slots and stages, by numbers that look random. */
function streamOf(frames: number, seed: number): LaneStream {
  const stream = new LaneStream();
  let state = seed + 1;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const bytes = () => Array.from({ length: 8 }, () => below(256));
  for (let frame = 0; frame < frames; frame++) {
    if (below(50) === 0) stream.string(below(40));
    stream.begin(frame * 1000);
    const first = below(COUNTERS);
    stream.addLanes(first, BigInt.asUintN(COUNTERS - first, (BigInt(below(2 ** 32)) << 32n) | 5n));
    if (below(3) > 0) stream.setLanes(below(256), 0, below(SLOTS - 7), below(2), bytes());
    if (below(3) > 0) stream.eventLanes(below(256), 0, 2, 8, bytes());
    for (let i = below(4); i > 0; i--) stream.op(Action.SET, 0, below(SLOTS), 0, below(2 ** 32), below(2));
    if (below(20) === 0) stream.wideEvent(frame);
    if (below(20) === 0) stream.string(below(40));
    stream.end();
  }
  return stream;
}

describe('lane records', () => {
  const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 300, max: 60_000 })), {
    minLength: 1,
    maxLength: 8,
  });
  const length = fc.integer({ min: 1, max: 4000 });

  it.each(KERNELS.flatMap((kernel) => [false, true].map((fromMemory) => ({ kernel, fromMemory }))))(
    'make the file that plain ones make, byte for byte ($kernel writer, from memory: $fromMemory)',
    async ({ kernel, fromMemory }) => {
      await fc.assert(
        fc.asyncProperty(length, fc.nat(), sizes, async (frames, seed, records) => {
          const stream = streamOf(frames, seed);
          const expected = await sendAll(plain(stream, inLargeMessages));
          const written = await sendAll(folded(stream, records, kernel, fromMemory));
          expect(written.equals(expected)).toBe(true);
        }),
        { numRuns: cases(2, 16) },
      );
    },
    120_000,
  );

  it('are items of the file, in the order of their lanes', async () => {
    const stream = streamOf(500, 3);
    const bench = await Bench.begin(folded(stream, [100], 'native'));
    for (const message of split(stream.folded.marks, [100])) bench.send(message);
    await bench.finish();
    const items = decodeFile(bench.path).segments.flatMap(({ frames }) =>
      frames.flatMap(({ items }) => items),
    );
    const isItem = (word: number) => (word & 0xff) === 1 || (word & 0xff) === 3;
    const { words, marks } = stream.plain;
    expect(items).toHaveLength(marks.filter(({ at }) => isItem(words[at / 4])).length);
    expect(bench.session.stats.items).toBe(BigInt(items.length));
  });

  const short = fc.record({
    frames: fc.integer({ min: 2, max: 400 }),
    seed: fc.nat(),
    records: fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 8 }),
    where: fc.nat(),
  });

  /** Sends this number of messages, and then everything again that was not durable. */
  async function sendTwice(sending: Sending, count: number): Promise<Buffer> {
    const bench = await Bench.begin(sending);
    for (const message of sending.messages.slice(0, count)) bench.send(message);
    const { frames } = (await bench.open()) as { frames: bigint };
    bench.sendFrom(Number(frames));
    return bench.finish();
  }

  it.each(KERNELS)(
    'are recorded once when the stream starts again in the middle of a frame (%s writer)',
    async (kernel) => {
      await fc.assert(
        fc.asyncProperty(short, fc.boolean(), async ({ frames, seed, records, where }, fromMemory) => {
          const stream = streamOf(frames, seed);
          const sending = folded(stream, records, kernel, fromMemory);
          const count = 1 + (where % sending.messages.length);
          const behind = sending.marks[sending.messages[count - 1].end]?.step ?? Number.POSITIVE_INFINITY;
          const before = (marks: readonly Mark[]) => marks.filter(({ step }) => step < behind).length;
          const expected = await sendTwice(
            plain(stream, (marks) => split(marks, [before(marks), marks.length])),
            1,
          );
          expect((await sendTwice(sending, count)).equals(expected)).toBe(true);
        }),
        { numRuns: cases(2, 24) },
      );
    },
    120_000,
  );

  it.each(KERNELS)(
    'that a dead client has left in its memory are taken from there (%s writer)',
    async (kernel) => {
      vi.spyOn(ClientMemory.prototype, 'isAbandoned', 'get').mockReturnValue(true);
      const remains = vi.spyOn(ClientMemory.prototype, 'remains');
      await fc.assert(
        fc.asyncProperty(short, async ({ frames, seed, records, where }) => {
          const stream = streamOf(frames, seed);
          const sending = folded(stream, records, kernel, true);
          const { bytes, marks, messages } = sending;
          const chunks = messages.map(({ first, end }) => {
            const { at } = marks[first];
            return { offset: CHUNKS_AT + at, size: (marks[end]?.at ?? bytes.length) - at };
          });
          remains.mockReturnValue(chunks);
          const expected = await sendAll(plain(stream, inLargeMessages));
          const bench = await Bench.begin(sending);
          for (const message of messages.slice(0, where % messages.length)) bench.send(message);
          expect((await bench.finish()).equals(expected)).toBe(true);
          expect(bench.session.isDrained).toBe(true);
        }),
        { numRuns: cases(2, 24) },
      );
    },
    120_000,
  );
});

describe('a session', () => {
  const ones = new Array(8).fill(1);

  /** The first frame is good; the second is what `build` makes. */
  async function withFrame(
    build: (stream: LaneStream) => void,
  ): Promise<{ bench: Bench; stream: LaneStream }> {
    const stream = new LaneStream();
    for (const put of [(s: LaneStream) => s.setLanes(3, 0, 0, 0, ones), build]) {
      stream.begin(1000);
      put(stream);
      stream.end();
    }
    return { bench: await Bench.begin(folded(stream, [1], 'native')), stream };
  }

  it('says that it takes lane records', async () => {
    const { bench } = await withFrame(() => {});
    expect(bench.sent[0]).toMatchObject({ t: 'opened', lanes: true });
    await bench.finish();
  });

  it('takes the end of a frame with lane records from a message that has none', async () => {
    const { bench, stream } = await withFrame((s) => s.addLanes(1, 0xffn));
    const numMarks = stream.folded.marks.length;
    bench.send({ first: 0, end: numMarks - 1 });
    bench.send({ first: numMarks - 1, end: numMarks }, 0);
    await bench.finish();
    expect(bench.session.stats).toMatchObject({ frames: 2n, items: 10n });
  });

  it('refuses lane records in a message that is said to have none, and counts the items of each as lost', async () => {
    const { bench, stream } = await withFrame((s) => s.addLanes(1, 0xf000_0000_0000_00ffn));
    bench.send({ first: 0, end: 3 });
    bench.send({ first: 3, end: stream.folded.marks.length }, 0);
    await bench.session.ended;
    expect(bench.sent.at(-1)).toMatchObject({ t: 'error', code: 'BRIDGE_RECORD' });
    expect(bench.session.stats).toMatchObject({ frames: 1n, items: 2n, lost: 12n });
  });

  it('forgets the frame that was under way when the stream starts again', async () => {
    const { bench, stream } = await withFrame((s) => s.addLanes(1, 0xffn));
    bench.send({ first: 0, end: stream.folded.marks.length - 1 });
    await bench.open();
    bench.send({ first: 3, end: stream.folded.marks.length }, 0);
    await bench.session.ended;
    expect(bench.sent.at(-1)).toMatchObject({ t: 'error', code: 'BRIDGE_RECORD' });
  });

  it('keeps what comes before a lane record that is not allowed, and says where that is', async () => {
    const { bench, stream } = await withFrame((s) => s.eventLanes(7, 0, 2, 64, ones));
    bench.send({ first: 0, end: stream.folded.marks.length });
    await bench.session.ended;
    expect(bench.sent.at(-1)).toMatchObject({
      t: 'error',
      code: 'BRIDGE_RECORD',
      msg: expect.stringContaining('EVENT_LANES at byte 64 of its message: a shift by 64 bits'),
    });
    expect(bench.session.stats).toMatchObject({ frames: 1n, items: 2n, lost: 3n });
    expect(decodeFile(bench.path).segments.flatMap(({ frames }) => frames)).toHaveLength(1);
  });

  it('checks what lane records represent against the schema', async () => {
    const { bench, stream } = await withFrame((s) => s.setLanes(0x80, 0, SLOTS - 7, 0, ones));
    bench.send({ first: 0, end: stream.folded.marks.length });
    await bench.session.ended;
    expect(bench.sent.at(-1)).toMatchObject({
      code: 'BRIDGE_RECORD',
      msg: expect.stringContaining('slot 16 of "regs" is not below 16'),
    });
  });

  it('allows no frame more items than any, however they are written', async () => {
    const { bench, stream } = await withFrame((s) => {
      for (let i = 0; i < 1025; i++) s.addLanes(1, 2n ** 64n - 1n);
    });
    bench.send({ first: 0, end: stream.folded.marks.length });
    await bench.session.ended;
    expect(bench.session.failure?.message).toContain('a frame of 65600 items; at most 65535 are allowed');
    expect(bench.session.stats.frames).toBe(1n);
  });
});
