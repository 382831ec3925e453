/** The two loops over lane records: each against what the records represent, and both against each other on records of any kind. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cases } from '../../../../test/support/effort.js';
import { LaneStream } from '../../../../test/support/lane-stream.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { RECORD_WORDS, RecordKind, recordLength } from '../../format/record.js';
import { loadAddon } from '../../native/native-addon.js';
import {
  isLaneRecord,
  MAX_UNFOLDED_WORDS,
  Unfold,
  type UnfoldLanes,
  UnfoldStop,
  unfoldLanes,
} from './unfold-lanes.js';

// Thousands of cases.
limitOfFile(MANY_CASES_MS);

const native = loadAddon()!.unfoldLanes as UnfoldLanes;
const u8 = fc.nat(255);
const u16 = fc.nat(65_535);
const u32 = fc.nat(0xffff_ffff);
const values = fc.array(u8, { minLength: 8, maxLength: 8 });
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

/** Puts something into a stream. */
const step: fc.Arbitrary<(stream: LaneStream) => void> = fc.oneof(
  fc.tuple(fc.nat(0xffff - 63), u64).map(
    ([first, lanes]) =>
      (s: LaneStream) =>
        s.addLanes(first, lanes),
  ),
  fc.tuple(u8, u16, fc.nat(0xffff - 7), u16, values).map(
    ([lanes, storage, slot, field, bytes]) =>
      (s: LaneStream) =>
        s.setLanes(lanes, storage, slot, field, bytes),
  ),
  fc.tuple(u8, u16, fc.nat(8), fc.nat(63), values).map(
    ([lanes, type, size, shift, bytes]) =>
      (s: LaneStream) =>
        s.eventLanes(lanes, type, size, shift, bytes),
  ),
  fc.tuple(u16, u32, u32).map(
    ([storage, lo, hi]) =>
      (s: LaneStream) =>
        s.op(1, storage, 1, 2, lo, hi),
  ),
  u32.map((a) => (s: LaneStream) => s.wideEvent(a)),
  fc.nat(2000).map((length) => (s: LaneStream) => s.string(length)),
);

/** Frames of such steps. */
const streams = fc.array(fc.array(step, { maxLength: 12 }), { maxLength: 8 }).map((frames) => {
  const stream = new LaneStream();
  for (const [i, steps] of frames.entries()) {
    stream.begin(i * 1000);
    for (const put of steps) put(stream);
    stream.end();
  }
  return stream;
});

const pieceSizes = fc.nat(100).map((records) => MAX_UNFOLDED_WORDS + records * RECORD_WORDS);

interface Step {
  readonly stop: UnfoldStop;
  readonly state: number[];
  readonly records: number[];
}

/** Every piece of a message, up to what is not allowed. */
function* steps(
  unfold: UnfoldLanes,
  words: Uint32Array,
  size: number,
  state = new Uint32Array(Unfold.WORDS),
): Generator<Step> {
  const piece = new Uint32Array(size);
  state[Unfold.AT] = 0;
  while (state[Unfold.AT] < words.length) {
    const stop = unfold(state, words, piece);
    const [at, length] = [state[Unfold.AT], state[Unfold.LENGTH]];
    const isApart = stop === UnfoldStop.APART;
    const records = isApart ? words.subarray(at, at + length) : piece.subarray(0, length);
    yield { stop, state: [...state], records: [...records] };
    if (stop === UnfoldStop.REFUSED) return;
    if (isApart) state[Unfold.AT] += length;
  }
}

function numRecords(words: readonly number[]): number {
  let count = 0;
  let at = 0;
  for (; at < words.length; count++) at += recordLength(Uint32Array.from(words), at);
  expect(at).toBe(words.length);
  return count;
}

describe.each([
  ['machine code', native],
  ['TypeScript', unfoldLanes],
])('%s', (_, unfold) => {
  it('makes of lane records what they represent, and copies all others', () => {
    fc.assert(
      fc.property(streams, pieceSizes, (stream, size) => {
        const pieces = [...steps(unfold, Uint32Array.from(stream.folded.words), size)];
        expect(pieces.flatMap(({ records }) => records)).toEqual(
          stream.plain.words.map((word) => word >>> 0),
        );
        for (const { stop, records } of pieces) {
          expect(stop).not.toBe(UnfoldStop.REFUSED);
          numRecords(records);
        }
      }),
    );
  });

  it('does so with frames that continue in other messages', () => {
    fc.assert(
      fc.property(streams, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (stream, lengths) => {
        const { words, marks } = stream.folded;
        const state = new Uint32Array(Unfold.WORDS);
        const unfolded: number[] = [];
        for (let from = 0, i = 0; from < marks.length; i++) {
          const to = from + lengths[i % lengths.length];
          const message = words.slice(marks[from].at / 4, (marks[to]?.at ?? words.length * 4) / 4);
          for (const { records } of steps(unfold, Uint32Array.from(message), 2048, state))
            unfolded.push(...records);
          from = to;
        }
        expect(unfolded).toEqual(stream.plain.words.map((word) => word >>> 0));
      }),
    );
  });

  it('leaves a record that no piece has room for where it is', () => {
    const payload = 16 * 1024;
    const words = new Uint32Array(8 + payload / 4 + 4);
    words.set([RecordKind.ADD_LANES, 0, 3, 0]);
    words.set([RecordKind.SNAPSHOT, payload, 0, payload], 4);
    words.set([RecordKind.BEGIN, 0, 0, 0], 8 + payload / 4);
    const stops = [...steps(unfold, words, 1024)].map(({ stop, records }) => [stop, records.length]);
    expect(stops).toEqual([
      [UnfoldStop.PIECE, 8],
      [UnfoldStop.APART, 4 + payload / 4],
      [UnfoldStop.PIECE, 4],
    ]);
  });
});

describe('records that make no sense', () => {
  const plainKinds = Object.values(RecordKind).filter((kind) => !isLaneRecord(kind));
  // One that claims to continue after its message ends it.
  const sizes = fc.oneof(
    { arbitrary: fc.nat(100), weight: 30 },
    { arbitrary: fc.nat(5000), weight: 30 },
    u32,
  );
  const plain = fc
    .tuple(fc.constantFrom(...plainKinds, 0x07, 0xff), u8, u16, sizes)
    .map(([kind, byte, id, word1]) => [kind, byte, id, word1]);
  const lanes = fc
    .tuple(fc.constantFrom(4, 5, 6), fc.nat(1), u16, fc.nat(8))
    .map(([kind, byte, id, word1]) => [kind, kind === 4 ? 0 : byte, id, kind === 4 ? 0 : word1]);
  const anything = fc.tuple(u8, u8, u16, u32).map((words) => [...words]);
  const record = fc
    .tuple(
      fc.oneof({ arbitrary: plain, weight: 50 }, { arbitrary: lanes, weight: 50 }, anything),
      u32,
      fc.oneof(fc.constant(0), u32),
    )
    .map(([[kind, byte, id, word1], lo, hi]) => [(kind | (byte << 8) | (id << 16)) >>> 0, word1, lo, hi]);

  it('are cut into the same pieces, and refused at the same place, by both', () => {
    const seen = new Set<UnfoldStop>();
    fc.assert(
      fc.property(fc.array(record, { maxLength: 400, size: 'max' }), pieceSizes, (records, size) => {
        const words = Uint32Array.from(records.flat());
        const natively = [...steps(native, words, size)];
        expect(natively).toEqual([...steps(unfoldLanes, words, size)]);
        for (const { stop } of natively) seen.add(stop);
      }),
      { numRuns: cases(80, 1000) },
    );
    expect([...seen].sort()).toEqual([UnfoldStop.PIECE, UnfoldStop.APART, UnfoldStop.REFUSED]);
  });

  it('streams of lane records with a word that is anything, too', () => {
    fc.assert(
      fc.property(streams, pieceSizes, fc.nat(), u32, (stream, size, at, word) => {
        const words = Uint32Array.from(stream.folded.words);
        if (words.length > 0) words[at % words.length] = word;
        expect([...steps(native, words, size)]).toEqual([...steps(unfoldLanes, words, size)]);
      }),
      { numRuns: cases(80, 1000) },
    );
  });
});
