/** Every column of pixels is the exact sum over its cycles: what sources choose, compared with a count of what the model did. */
import { beforeAll, describe, expect, it } from 'vitest';
import { memorySource } from '../../sdk/src/reader/index.js';
import { indexedTrace } from '../../test/support/indexed-trace.js';
import { type Model, modelSchema, PERIOD_PS, runModel, STAGES } from '../../test/support/pipeline-model.js';
import type { IndexSums } from '../src/data/index-sums.js';
import { openTrace } from '../src/data/library.js';
import { Session } from '../src/data/session.js';
import { RowStore } from '../src/drawing/row-store.js';
import { PixelColumns } from '../src/drawing/strip/columns.js';
import { niceMax } from '../src/drawing/strip/lanes.js';
import { SumsSources } from '../src/drawing/strip/sources.js';
import { Column, reasonColumn } from '../src/model/sums.js';

const CYCLES = 24_000;
const FRAMES_PER_SEGMENT = 700;
const PLOT = { width: 60, height: 300 };
const WINDOWS = 50;

let seed = 99;
const choose = (below: number): number => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
  return (seed >>> 8) % below;
};

let model: Model;
let session: Session;
let index: IndexSums;
let store: RowStore;
let sources: SumsSources;
/** Cycle by cycle, by column. */
let truth: Map<number, Float64Array>;

beforeAll(async () => {
  model = runModel(choose, CYCLES);
  const segments = Array.from({ length: Math.ceil(model.frames.length / FRAMES_PER_SEGMENT) }, (_, at) => {
    const start = at * FRAMES_PER_SEGMENT;
    const frames = model.frames.slice(start, start + FRAMES_PER_SEGMENT);
    const end = model.frames[start + FRAMES_PER_SEGMENT]?.timePs ?? BigInt((CYCLES - 1) * PERIOD_PS);
    return { frames, end, strings: at === 0 ? model.strings : [] };
  });
  const { bytes } = await indexedTrace({ schema: modelSchema(), segments });
  const trace = await openTrace(memorySource(bytes));
  session = await Session.open(trace, 'model', { core: null, clock: null });
  index = session.sumsOf(session.ownIndex!)!;
  store = new RowStore(session.info);
  const diagonal = await index.diagonal(session.lastCycle);
  store.index(diagonal.rows.at(-1)!, diagonal);
  sources = new SumsSources(session.info);
  sources.add(await index.sums({ from: 0, to: CYCLES, intervals: 4096 }), true);
  truth = countedByModel();
});

function countedByModel(): Map<number, Float64Array> {
  const found = new Map<number, Float64Array>();
  const add = (column: number, from: number, to = from + 1): void => {
    const values = found.get(column) ?? new Float64Array(CYCLES + 64);
    for (let cycle = from; cycle < to; cycle++) values[cycle]! += 1;
    found.set(column, values);
  };
  const once = (column: number, cycles: Iterable<number>): void => {
    for (const cycle of new Set(cycles)) add(column, cycle);
  };
  for (const one of model.instructions) {
    // The trace ends with the last cycle: no time passes in it.
    const cleared = Math.min(one.end ?? CYCLES, CYCLES - 1);
    add(Column.BORN, one.birth);
    add(Column.IN_FLIGHT, one.birth, cleared);
    // Shown as squashed from the flush on; freed then or later.
    if (one.flush) add(Column.SQUASHED, one.flush.cycle);
    else if (one.end !== null) add(Column.RETIRED, one.end);
  }
  once(
    Column.FLUSHES,
    model.instructions.flatMap(({ flush }) => (flush ? [flush.cycle] : [])),
  );
  once(
    Column.STALLED,
    model.stalls.map(({ cycle }) => cycle),
  );
  session.info.reasons.forEach((name, reason) => {
    const cycles = model.stalls.filter((stall) => stall.reason === name).map(({ cycle }) => cycle);
    once(reasonColumn(session.info.sums, reason), cycles);
  });
  STAGES.forEach((name, stage) => {
    for (const { stages, end, flush } of model.instructions) {
      stages.forEach((stay, at) => {
        if (stay.name !== name) return;
        add(Column.STAGES + stage, stay.cycle, stages[at + 1]?.cycle ?? flush?.cycle ?? end ?? CYCLES);
      });
    }
  });
  return found;
}

const expected = (column: number, from: number, to: number): number =>
  truth
    .get(column)
    ?.slice(Math.max(0, from), to)
    .reduce((sum, value) => sum + value, 0) ?? 0;

/** What a picture of a window is made of, once everything is here. */
async function columnsOf(x: number, scale: number): Promise<PixelColumns> {
  const window = { view: { x, y: 0, scale, aspect: 1 }, plot: PLOT, ratio: 1 };
  for (;;) {
    const { layers, missing, range, isUnfinished } = sources.choose(window, store);
    for (const segment of missing) {
      const firstRow = await index.rowsBefore(segment);
      store.add(await session.block(segment, firstRow, new AbortController().signal));
    }
    if (range) sources.add(await index.sums(range), false);
    if (missing.length > 0 || range || isUnfinished) continue;
    const columns = new PixelColumns();
    columns.fill(PLOT.width, x, scale, layers, store.extent);
    return columns;
  }
}

describe('a column of pixels', () => {
  it.each([
    ['many cycles, from the index', 4, [256, 400]],
    ['few cycles, from blocks', 1, [3, 120]],
  ] as const)('of %s is the exact sum over them', async (_, least, [shortest, longest]) => {
    for (let count = 0; count < WINDOWS; count++) {
      const pixel = shortest + choose(longest - shortest);
      const x = choose(CYCLES) - (pixel * PLOT.width) / 2;
      const columns = await columnsOf(x, 1 / pixel);
      // Blocks show instructions as squashed at the flush and retired after their last cycle: the index counts when they are freed.
      const exact =
        least === 1
          ? [Column.BORN, Column.FLUSHES, Column.STALLED, Column.STAGES, Column.STAGES + 2, 10, 11]
          : [Column.BORN, Column.FLUSHES, Column.STALLED, Column.IN_FLIGHT, Column.RETIRED, 10, 11];
      for (let at = 0; at < columns.count; at++) {
        if (!columns.layers[at]) continue;
        const [from, to] = [columns.from[at]!, columns.to[at]!];
        // Its cycles are those of the pixel, to within one interval that is not longer than a pixel.
        const { step } = columns.layers[at]!;
        expect(step).toBeLessThanOrEqual(Math.max(256, pixel));
        expect(Math.abs(from - (x + at * pixel))).toBeLessThanOrEqual(step);
        for (const column of exact) {
          const what = `column ${column} of cycles ${from} to ${to}`;
          expect(columns.sum(at, column), what).toBeCloseTo(expected(column, from, to), 6);
        }
      }
    }
  });

  it('is known everywhere between the first cycle and the last, and nowhere else', async () => {
    const columns = await columnsOf(-CYCLES / 2, PLOT.width / (2 * CYCLES));
    columns.layers.forEach((layer, at) => {
      const from = -CYCLES / 2 + (at * 2 * CYCLES) / PLOT.width;
      if (from + (2 * CYCLES) / PLOT.width > 0 && from < CYCLES - 1) expect(layer).not.toBeNull();
      else if (from < 0 || from > CYCLES) expect(layer).toBeNull();
    });
  });
});

describe('the scale of a lane', () => {
  it('is a round number not below the greatest value', () => {
    for (const value of [0.01, 0.3, 1, 1.2, 7.5, 60, 513, 12_345]) {
      const max = niceMax(value, '');
      expect(max).toBeGreaterThanOrEqual(value);
      expect(max).toBeLessThanOrEqual(Math.max(0.1, value * 2));
    }
    expect(niceMax(0.3, '%')).toBe(0.5);
  });
});
