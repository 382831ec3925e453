/** Forms of the picture: what lies under a point, what a zoom keeps in its place, and where rows go that have no line. */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Model, runModel } from '../../test/support/pipeline-model.js';
import type { Form, Point } from '../src/drawing/forms/form.js';
import type { Frame } from '../src/drawing/frame.js';
import { ShownLines } from '../src/drawing/rows/shown-lines.js';
import type { Settings } from '../src/drawing/settings.js';
import { pixelOf } from '../src/model/palette.js';
import type { View } from '../src/model/view.js';
import { complete, type DrawnTrace, drawnTrace, formOf, frameOf } from './support/drawn.js';
import { chooser } from './support/served.js';

const CYCLES = 4000;
const AT_ROW = 600;

let model: Model;
let trace: DrawnTrace;
let start: number;

beforeAll(async () => {
  model = runModel(chooser(4242), CYCLES);
  trace = await drawnTrace(model, 300);
  start = model.instructions[AT_ROW]!.birth;
});

const viewOf = (scale: number, height: number): View => ({
  x: start - 3,
  y: AT_ROW,
  scale,
  aspect: height / scale,
});

async function shown(view: View, settings: Partial<Settings>): Promise<{ form: Form; frame: Frame }> {
  return { form: formOf({ view, settings }), frame: await complete(trace, { view, settings }) };
}

const lastCycleOf = (row: number): number => {
  const { flush, end, stages } = model.instructions[row]!;
  return flush ? flush.cycle : end === null ? CYCLES : Math.max(end, (stages.at(-1)?.cycle ?? -1) + 1);
};

/** The colour at a point of the plot. */
function pixelAt({ raster, left, top }: Frame, { x, y }: Point): number {
  const pixels = new Uint32Array(raster.image.data.buffer);
  return pixels[Math.floor(top + y) * raster.width + Math.floor(left + x)]!;
}

describe('what is under a point', () => {
  it.each([
    ['classic', { form: 'classic' }, 12, 14],
    ['classic without squashed rows', { form: 'classic', squashed: 'collapse' }, 12, 14],
    ['folded', { form: 'folded' }, 3, 2],
    ['straight', { form: 'straight' }, 12, 10],
    ['straight, by latency', { form: 'straight', sort: 'latency' }, 6, 4],
  ] as const)('in the form %s is what is drawn there', async (_, settings, scale, height) => {
    const { form, frame } = await shown(viewOf(scale, height), settings);
    frame.raster.clear(frame.theme.background);
    form.raster(frame);
    const { background, grid, gridStrong, stripe, flush } = frame.theme;
    const empty = new Set([background, grid, gridStrong, stripe, flush].map(pixelOf));
    let found = 0;
    for (let y = 1; y < frame.plot.height; y += 3) {
      for (let x = 1; x < frame.plot.width; x += 2) {
        if (empty.has(pixelAt(frame, { x, y }))) continue;
        found++;
        const { row, cycle } = form.hit(frame, { x: x + 0.5, y: y + 0.5 });
        const what = `row ${row}, cycle ${cycle}, at ${x}, ${y}`;
        expect(row, what).not.toBeNull();
        expect(cycle, what).toBeGreaterThanOrEqual(model.instructions[row!]!.birth);
        expect(cycle, what).toBeLessThan(lastCycleOf(row!));
      }
    }
    expect(found).toBeGreaterThan(50);
  });
});

describe('zoom', () => {
  it.each(['classic', 'folded', 'straight', 'strip'] as const)(
    'of the form %s keeps what is under the pointer within half a pixel',
    async (name) => {
      const settings = { form: name };
      await shown(viewOf(4, 4), settings);
      fc.assert(
        fc.property(
          fc.double({ min: 0.5, max: 40, noNaN: true }),
          fc.double({ min: 0.5, max: 2, noNaN: true }),
          fc.double({ min: 0, max: 360, noNaN: true }),
          fc.double({ min: 0, max: 200, noNaN: true }),
          (scale, factor, x, y) => {
            const before = frameOf(trace, { view: viewOf(scale, 10), settings });
            const form = formOf({ view: before.view, settings });
            const [view] = form.moves.zoom(before, { do: 'zoom', factor, at: null, axis: 'both' }, { x, y });
            const after = frameOf(trace, { view, settings });
            const cycleAt = ({ axis, view: one }: Frame): number => axis.from + x / one.scale;
            expect(Math.abs(cycleAt(before) - cycleAt(after)) * view.scale).toBeLessThan(0.5);
          },
        ),
        { numRuns: 50 },
      );
    },
  );
});

describe('rows without those that were squashed', () => {
  const hidden = (row: number): boolean => model.instructions[row]?.flush != null;
  const lines = (): ShownLines => new ShownLines({ rows: model.instructions.length, isSquashed: hidden });

  it('follow each other, and come back', () => {
    const kept = model.instructions.map(({ seq }) => seq).filter((row) => !hidden(row));
    fc.assert(
      fc.property(
        fc.nat(kept.length - 400),
        fc.nat(399),
        fc.double({ min: 0, max: 0.99, noNaN: true }),
        (at, count, part) => {
          const from = kept[at]! + part;
          expect(lines().below(from, count)).toBeCloseTo(kept[at + count]! + part, 9);
          expect(lines().below(kept[at + count]! + part, -count)).toBeCloseTo(from, 9);
          expect(lines().between(from, kept[at + count]!)).toBeCloseTo(count - part, 9);
          expect(lines().between(kept[at + count]!, from)).toBeCloseTo(part - count, 9);
        },
      ),
    );
  });

  it('are where the next one is that has a line', () => {
    const row = model.instructions.findIndex(({ seq }) => hidden(seq) && seq > 100);
    let next = row;
    while (hidden(next)) next++;
    expect(lines().below(row, 0)).toBe(next);
    expect(lines().between(row - 20, row)).toBe(lines().between(row - 20, next));
  });
});
