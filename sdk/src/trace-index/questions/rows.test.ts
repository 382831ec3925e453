/** Levels of rows, and the segments that a search has to read, against the instructions themselves. */
import { describe, expect, it } from 'vitest';
import { TRIES_ALL } from '../../../../test/support/effort.js';
import { type IndexedTrace, indexedTrace } from '../../../../test/support/indexed-trace.js';
import { limitOfFile, MANY_CASES_MS } from '../../../../test/support/limits.js';
import { dut, generator, record, schemaWithBuffer } from '../../../../test/support/recorded-run.js';
import type { IndexContainer } from '../../format/index-container.js';
import { IndexPart } from '../../format/index-container.js';
import { memorySource, openTrace, type Trace } from '../../reader/index.js';
import { findCores } from '../../semantics/cpu/cores.js';
import { instructions } from '../../semantics/instructions/instructions.js';
import { DIRECTORY_SECTION } from '../directory/format.js';
import type { RowLevel } from '../rows/row-levels.js';
import type { RowsChunk } from '../rows/row-table.js';
import { openIndex } from './open-index.js';
import type { TraceIndex } from './trace-index.js';

// Every row of every level is computed a second time.
limitOfFile(MANY_CASES_MS);

const PER_SEGMENT = 80;
const recorded = record(generator(21), 3000).frames;
const segments = Array.from({ length: Math.ceil(recorded.length / PER_SEGMENT) }, (_, index) => ({
  frames: recorded.slice(index * PER_SEGMENT, (index + 1) * PER_SEGMENT),
}));

type State = 'finalized' | 'open';
type ChangeContainer = (made: IndexContainer, index: number) => IndexContainer;

const make = (state: State, change?: ChangeContainer): Promise<IndexedTrace> =>
  indexedTrace({
    ...{ schema: schemaWithBuffer(), dut, segments, state },
    ...(change && { container: change }),
  });
/** Those that nothing is changed in: made once. */
const plain = new Map<State, Promise<IndexedTrace>>();

async function opened(state: State, change?: ChangeContainer) {
  const made = change ? make(state, change) : (plain.get(state) ?? make(state));
  if (!change) plain.set(state, made);
  const { bytes, directory } = await made;
  return { bytes, directory, trace: await openTrace(memorySource(bytes)) };
}

async function chunksOf(level: RowLevel): Promise<RowsChunk[]> {
  const chunks: RowsChunk[] = [];
  for await (const chunk of level.load(0, level.length)) chunks.push(chunk);
  return chunks;
}

const sum = (values: Iterable<number>): number => [...values].reduce((a, b) => a + b, 0);

/** Of all levels: what must not depend on how instructions are grouped. */
function totals(chunks: readonly RowsChunk[]) {
  const of = (pick: (chunk: RowsChunk) => Float64Array) => sum(chunks.map((chunk) => sum(pick(chunk))));
  const first = chunks[0]!;
  return {
    rows: of(({ rows }) => rows),
    retired: of(({ retired }) => retired),
    flushed: of(({ flushed }) => flushed),
    ended: of(({ ended }) => ended),
    unknown: of(({ unknown }) => unknown),
    time: first.stageTime.map((_, stage) => of(({ stageTime }) => stageTime[stage]!)),
    longest: first.longest.map((_, stage) =>
      Math.max(...chunks.flatMap(({ longest }) => [...longest[stage]!])),
    ),
    lastEnd: Math.max(...chunks.flatMap(({ lastEnd }) => [...lastEnd])),
  };
}

async function scanned(trace: Trace) {
  const [core] = findCores(trace);
  const found = [];
  for await (const one of instructions(trace, core!)) found.push(one);
  return found;
}

describe('the levels of rows', () => {
  it.each(['finalized', 'open'] as const)(
    'have the same instructions: of a trace that is %s',
    async (state) => {
      const { trace } = await opened(state);
      const all = await scanned(trace);
      const levels = await (await openIndex(trace))!.rowLevels(0);
      expect(levels.map(({ rowsPerGroup }) => rowsPerGroup)).toEqual([64, 256, 1024]);
      const finest = totals(await chunksOf(levels[0]!));
      expect([finest.rows, finest.retired, finest.flushed, finest.ended]).toEqual([
        all.length,
        all.filter(({ end }) => end === 'retired').length,
        all.filter(({ flush }) => flush !== null).length,
        all.filter(({ endPs }) => endPs !== null).length,
      ]);
      for (const level of levels.slice(1)) {
        const chunks = await chunksOf(level);
        expect(totals(chunks)).toEqual(finest);
        expect(await level.firstRow(0)).toBe(0);
        expect(await level.firstRow(level.length)).toBe(all.length);
        for (const [index, chunk] of chunks.entries()) {
          expect(chunk.firstRow).toBe(await level.firstRow(index));
          expect(chunk.retiredBefore).toBe(
            all.slice(0, chunk.firstRow).filter(({ end }) => end === 'retired').length,
          );
        }
      }
      expect(trace.warnings).toEqual([]);
    },
  );

  it('say which rows are not known, where a segment has no part for them', async () => {
    const drop = (made: IndexContainer, index: number): IndexContainer => {
      return index === 3
        ? { ...made, parts: made.parts.filter(({ kind }) => kind !== IndexPart.ROWS) }
        : made;
    };
    const { trace } = await opened('finalized', drop);
    const index = (await openIndex(trace))!;
    const [from, to] = [await index.birthsBefore(0, 3), await index.birthsBefore(0, 4)];
    for (const level of await index.rowLevels(0)) {
      const found = totals(await chunksOf(level));
      expect([found.unknown, found.rows]).toEqual([
        to - from,
        await index.birthsBefore(0, trace.segmentCount),
      ]);
    }
  });

  it('are not known where a chunk of the directory is damaged, and the trace warns', async () => {
    const { bytes, directory } = await opened('finalized');
    // Rows follow the levels by time: every byte of the directory is tried.
    let found = 0;
    for (let at = directory; at < bytes.length && found === 0; at += 16) {
      const flipped = bytes.slice();
      flipped[at]! ^= 0x10;
      const trace = await openTrace(memorySource(flipped)).catch(() => null);
      const index = trace && (await openIndex(trace).catch(() => null));
      if (!index) continue;
      for (const level of (await index.rowLevels(0)).slice(1)) await chunksOf(level);
      if (trace.warnings.some(({ message }) => /of rows 0 to/.test(message))) found++;
    }
    expect(found).toBe(1);
  });
});

describe('the segments with an instruction', () => {
  it.each(['finalized', 'open'] as const)(
    'contain all in which it is born: of a trace that is %s',
    async (state) => {
      const { trace } = await opened(state);
      const index = (await openIndex(trace))!;
      const all = await scanned(trace);
      const entries = await trace.segments();
      for (const { pc, birthPs } of [all[0]!, all[500]!, all.at(-1)!]) {
        const found = [];
        const statics = (lo: number, hi: number): boolean => ((BigInt(hi) << 32n) | BigInt(lo)) === pc;
        for await (const one of index.segmentsWith({ core: 0, statics })) found.push(one);
        const born = entries.findLastIndex(({ timeStartPs }) => timeStartPs <= birthPs!);
        // The pcs of the model occur once.
        expect(found).toEqual([{ segment: born, isCertain: true }]);
      }
      const none = [];
      for await (const one of index.segmentsWith({ core: 0, statics: () => false })) none.push(one);
      expect(none).toEqual([]);
    },
  );

  it('read little of a finalized trace where there are none', async () => {
    const { trace } = await opened('finalized');
    const index = (await openIndex(trace))!;
    let looked = 0;
    const statics = (): boolean => {
      looked++;
      return false;
    };
    for await (const { segment } of index.segmentsWith({ core: 0, statics })) expect(segment).toBe(-1);
    // One union of all segments.
    expect(looked).toBe((await scanned(trace)).length);
    const strings = [];
    for await (const one of index.segmentsWith({ core: 0, strings: (text) => text === 7 })) strings.push(one);
    expect(strings).toHaveLength(1);
  });

  it('are not known where a container has no set', async () => {
    const drop = (made: IndexContainer, index: number): IndexContainer => {
      return index === 2 ? { ...made, parts: made.parts.filter(({ kind }) => kind !== IndexPart.PCS) } : made;
    };
    const { trace } = await opened('finalized', drop);
    const found = [];
    const statics = (): boolean => false;
    for await (const one of (await openIndex(trace))!.segmentsWith({ core: 0, statics })) found.push(one);
    expect(found).toEqual([{ segment: 2, isCertain: false }]);
  });
});

describe('retired numbers', () => {
  it.each(['finalized', 'open'] as const)('lead to rows, and back: of a trace that is %s', async (state) => {
    const { trace } = await opened(state);
    const index = (await openIndex(trace))!;
    const all = await scanned(trace);
    let retired = 0;
    for (const [row, { end }] of all.entries()) {
      if (row % 7 === 0 || row > all.length - 70) expect(await index.retiredBefore(0, row)).toBe(retired);
      if (end !== 'retired') continue;
      if (retired % 5 === 0) expect(await index.rowOfRetired(0, retired)).toBe(row);
      retired++;
    }
    expect(retired).toBeGreaterThan(100);
    expect(await index.retiredBefore(0, all.length)).toBe(retired);
    expect(await index.rowOfRetired(0, retired)).toBeNull();
  });

  it.each(['finalized', 'open'] as const)(
    'are known up to the rows that may have ended in a segment without part: of a trace that is %s',
    async (state) => {
      const missing = 3;
      const without = (made: IndexContainer, segment: number) =>
        segment === missing
          ? { ...made, parts: made.parts.filter(({ kind }) => kind !== IndexPart.ROWS) }
          : made;
      const { trace } = await opened(state, without);
      const index = (await openIndex(trace))!;
      const all = await scanned(trace);
      const { timeStartPs } = await trace.segment(missing);
      const inFlight = all.findIndex(({ endPs }) => endPs === null || endPs >= timeStartPs);
      // Groups have 64 rows, and the rows of a group are known together.
      const known = Math.floor(inFlight / 64) * 64;
      const numbers = await Promise.all(all.map((_, row) => index.retiredBefore(0, row)));
      const limit = numbers.indexOf(null);
      expect([limit > 64, limit > known - 64, limit <= inFlight + 1]).toEqual([true, true, true]);
      let retired = 0;
      for (const [row, { end }] of all.entries()) {
        expect([row, numbers[row]]).toEqual([row, row < limit ? retired : null]);
        if (end !== 'retired') continue;
        // Of the last row whose number is known, it is not known whether it retired.
        expect(await index.rowOfRetired(0, retired++)).toBe(row < limit - 1 ? row : null);
      }
      expect(await index.retiredBefore(0, all.length)).toBeNull();
    },
  );

  it('are the same where a chunk of the directory is damaged, whichever it is', async () => {
    const { bytes, directory } = await opened('finalized');
    const sound = (await openIndex(await openTrace(memorySource(bytes))))!;
    const asked = [0, 70, 400, 1000, (await sound.birthsBefore(0, sound.trace.segmentCount)) - 3];
    const numbersOf = async (index: TraceIndex) => {
      const numbers = [];
      for (const row of asked) numbers.push(await index.retiredBefore(0, row));
      const rows = [];
      for (const number of numbers) rows.push(await index.rowOfRetired(0, number ?? 0));
      return { numbers, rows };
    };
    const expected = await numbersOf(sound);
    expect(expected.numbers).not.toContain(null);
    let damaged = 0;
    // Each byte would take two minutes.
    const { size } = sound.trace.section(DIRECTORY_SECTION)!;
    for (let at = directory; at < directory + size; at += TRIES_ALL ? 13 : 151) {
      const flipped = bytes.slice();
      flipped[at]! ^= 0x10;
      const trace = await openTrace(memorySource(flipped));
      const index = await openIndex(trace);
      if (!index) continue;
      expect([at, await numbersOf(index)]).toEqual([at, expected]);
      if (trace.warnings.some(({ message }) => /of rows 0 to/.test(message))) damaged++;
    }
    expect(damaged).toBeGreaterThan(1);
  });

  it('are not known where the first segment has no part', async () => {
    const without = (made: IndexContainer, segment: number) =>
      segment === 0 ? { ...made, parts: made.parts.filter(({ kind }) => kind !== IndexPart.ROWS) } : made;
    const { trace } = await opened('finalized', without);
    const index = (await openIndex(trace))!;
    expect([await index.retiredBefore(0, 9), await index.rowOfRetired(0, 9)]).toEqual([null, null]);
    expect(await index.retiredBefore(0, 0)).toBe(0);
  });
});

describe('rows added up', () => {
  it('are those of the coarsest level that is fine enough', async () => {
    const { trace } = await opened('finalized');
    const index = (await openIndex(trace))!;
    const rows = (await scanned(trace)).length;
    for (const [most, perGroup] of [
      [10_000, 64],
      [Math.floor(rows / 300), 256],
      [1, 1024],
    ] as const) {
      const found = await index.rowGroups(0, { from: 100, to: rows }, most);
      expect(found.rowsPerGroup).toBe(perGroup);
      const [first] = found.chunks;
      expect(first!.firstRow).toBeLessThanOrEqual(100);
      const counted = sum(found.chunks.map((chunk) => sum(chunk.rows)));
      expect(first!.firstRow + counted).toBe(rows);
    }
    await expect(index.rowGroups(0, { from: 5, to: 5 }, 10)).rejects.toMatchObject({ code: 'READER_RANGE' });
  });
});
