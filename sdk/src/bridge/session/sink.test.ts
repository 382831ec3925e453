/** Records for a large state are pushed a piece at a time: others have their turn, and may use what the records are in. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { RECORD_WORDS, RecordKind, recordLength } from '../../format/record.js';
import { LaneRecords } from './lane-records.js';
import { pushInTurns, type TraceSink } from './sink.js';

afterEach(() => vi.restoreAllMocks());

/** Takes some records at a time, and is congested afterwards if `isSlow`. */
class PieceSink {
  readonly taken: number[] = [];
  congested = false;

  constructor(
    private readonly maxWords: number,
    private readonly isSlow: boolean,
  ) {}

  pushSome(words: Uint32Array, first: number, end: number): number {
    let at = first;
    while (at < end && at - first < this.maxWords) {
      const next = at + recordLength(words, at);
      if (next > end) throw new Error(`a record is torn at ${at}`);
      this.taken.push(...words.subarray(at, next));
      at = next;
    }
    this.congested = this.isSlow;
    return at;
  }

  async ready(): Promise<void> {
    await nextTurn();
    this.congested = false;
  }
}

const asSink = (sink: PieceSink): TraceSink => sink as unknown as TraceSink;

/** Ops and strings of the given sizes, each word another number. */
function recordsOf(sizes: readonly number[]): Uint32Array {
  const words: number[] = [];
  for (const size of sizes) {
    const isString = size > 0;
    words.push(isString ? RecordKind.STRING : RecordKind.OP, isString ? size : words.length, words.length, 0);
    const payload = isString ? RECORD_WORDS * Math.ceil(size / 16) : 0;
    for (let i = 0; i < payload; i++) words.push(words.length + 0x1000_0000);
  }
  return Uint32Array.from(words);
}

const sizes = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 65_520 })), {
  minLength: 1,
  maxLength: 40,
});

describe('records pushed in turns', () => {
  it('arrive as they were, no record torn, whatever else is put where they are while the sink waits', async () => {
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 1, max: 4000 }), fc.boolean(), async (list, most, isSlow) => {
        const words = recordsOf(list);
        const expected = [...words];
        const sink = new PieceSink(most, isSlow);
        let isOver = false;
        const others = (): void => {
          if (isOver) return;
          words.fill(0xdead);
          setImmediate(others);
        };
        setImmediate(others);
        await pushInTurns(asSink(sink), words);
        isOver = true;
        expect(sink.taken).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });

  it('are those of this trace when another one unfolds its own while the sink waits', async () => {
    const lanes = (value: number): Uint32Array =>
      Uint32Array.from(
        Array.from({ length: 64 }, () => [RecordKind.SET_LANES | (0xff << 8), 0, value, value]).flat(),
      );
    const [ours, theirs] = [new LaneRecords(), new LaneRecords()];
    const alone: number[] = [];
    for (const piece of new LaneRecords().unfold(lanes(0x01010101))) alone.push(...piece);
    const sink = new PieceSink(100, true);
    const turn = async (): Promise<void> => {
      await nextTurn();
      for (const piece of theirs.unfold(lanes(0x02020202))) expect(piece.length).toBeGreaterThan(0);
    };
    const [, pushed] = [
      turn(),
      (async () => {
        for (const piece of ours.unfold(lanes(0x01010101))) await pushInTurns(asSink(sink), piece);
      })(),
    ];
    await pushed;
    expect(sink.taken).toEqual(alone);
  });

  it('let others have their turn after a piece that has taken long', async () => {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 3));
    const sink = new PieceSink(Number.POSITIVE_INFINITY, false);
    let turns = 0;
    let isOver = false;
    const others = (): void => {
      turns++;
      if (!isOver) setImmediate(others);
    };
    setImmediate(others);
    await pushInTurns(asSink(sink), recordsOf(new Array(60_000).fill(0)));
    isOver = true;
    expect(turns).toBeGreaterThan(2);
    expect(sink.taken).toHaveLength(60_000 * RECORD_WORDS);
  });
});
