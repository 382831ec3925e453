/** Geometry: points stay where they are, moves can be undone, and the trace cannot be lost. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  clampView,
  cycleAtX,
  type Diagonal,
  drag,
  type Extent,
  fit,
  fitScale,
  goToCycle,
  goToRow,
  MAX_ROW_HEIGHT,
  MAX_SCALE,
  moveRows,
  reveal,
  rowAtY,
  rowHeight,
  type View,
  yOfRow,
  zoomAbout,
} from './view.js';

const size = { width: 1200, height: 800 };
const extent: Extent = { firstCycle: 0, lastCycle: 100_000, rows: 70_000 };
/** One instruction every 10/7 cycles. */
const diagonal: Diagonal = {
  cycleOf: (row) => (Math.max(0, row) * 10) / 7,
  rowAt: (cycle) => Math.max(0, Math.min(70_000, (cycle * 7) / 10)),
};

const views = fc.record({
  x: fc.double({ min: 0, max: 99_000, noNaN: true }),
  y: fc.double({ min: 0, max: 69_000, noNaN: true }),
  scale: fc.double({ min: fitScale(size, extent), max: MAX_SCALE, noNaN: true }),
  aspect: fc.double({ min: 0.1, max: 4, noNaN: true }),
});
const points = fc.record({
  x: fc.double({ min: 0, max: size.width, noNaN: true }),
  y: fc.double({ min: 0, max: size.height, noNaN: true }),
});
const factors = fc.double({ min: 0.1, max: 10, noNaN: true });

const xOfCycle = (view: View, cycle: number): number => (cycle - view.x) * view.scale;

/** Pixels between two places of the trace on the screen. */
const distance = (view: View, cycle: number, row: number, at: { x: number; y: number }): number =>
  Math.hypot(xOfCycle(view, cycle) - at.x, yOfRow(view, row) - at.y);

describe('zoom', () => {
  it('keeps cycle and row at the point where they are, within half a pixel', () => {
    fc.assert(
      fc.property(
        views,
        points,
        factors,
        fc.constantFrom('both' as const, 'time' as const),
        (view, at, factor, axis) => {
          const [cycle, row] = [cycleAtX(view, at.x), rowAtY(view, at.y)];
          const zoomed = zoomAbout(view, factor, at, size, extent, axis);
          expect(distance(zoomed, cycle, row, at)).toBeLessThan(0.5);
        },
      ),
    );
  });

  it('in and out again returns to the start', () => {
    fc.assert(
      fc.property(views, points, fc.double({ min: 1, max: 10, noNaN: true }), (view, at, factor) => {
        fc.pre(view.scale * factor <= MAX_SCALE);
        const back = zoomAbout(zoomAbout(view, factor, at, size, extent), 1 / factor, at, size, extent);
        expect(Math.abs(back.x - view.x) * view.scale).toBeLessThan(0.5);
        expect(Math.abs(back.y - view.y) * rowHeight(view)).toBeLessThan(0.5);
        expect(back.scale).toBeCloseTo(view.scale, 6);
      }),
    );
  });

  it('of the time axis alone leaves the height of rows', () => {
    const view = { x: 10, y: 5, scale: 10, aspect: 1 };
    const zoomed = zoomAbout(view, 2, { x: 0, y: 0 }, size, extent, 'time');
    expect(zoomed.scale).toBe(20);
    expect(rowHeight(zoomed)).toBe(10);
  });

  it('stops at one cycle and at the whole trace', () => {
    const view = { x: 10, y: 5, scale: 10, aspect: 1 };
    const at = { x: 1, y: 1 };
    expect(zoomAbout(view, 1e9, at, size, extent).scale).toBe(MAX_SCALE);
    expect(zoomAbout(view, 1e-9, at, size, extent).scale).toBe(fitScale(size, extent));
    expect(rowHeight(zoomAbout(view, 1e9, at, size, extent))).toBe(MAX_ROW_HEIGHT);
  });
});

describe('moving', () => {
  it('by rows follows the pipeline: the upper row keeps its place', () => {
    const view = { x: 100, y: 70, scale: 24, aspect: 0.8 };
    const moved = moveRows(view, 7, diagonal, true);
    expect(moved.y).toBe(77);
    expect(moved.x).toBeCloseTo(110, 9);
    expect(xOfCycle(moved, diagonal.cycleOf(77))).toBeCloseTo(xOfCycle(view, diagonal.cycleOf(70)), 6);
  });

  it('by rows and back returns to the start', () => {
    fc.assert(
      fc.property(views, fc.double({ min: -50, max: 50, noNaN: true }), (view, rows) => {
        const back = moveRows(moveRows(view, rows, diagonal, true), -rows, diagonal, true);
        expect(back.x).toBeCloseTo(view.x, 6);
        expect(back.y).toBeCloseTo(view.y, 6);
      }),
    );
  });

  it('without following leaves the time', () => {
    expect(moveRows({ x: 1, y: 2, scale: 3, aspect: 1 }, 3, diagonal, false)).toEqual({
      x: 1,
      y: 5,
      scale: 3,
      aspect: 1,
    });
  });

  it('by dragging takes the picture along with the pointer', () => {
    fc.assert(
      fc.property(views, points, (view, by) => {
        const moved = drag(view, by.x, by.y);
        expect(xOfCycle(moved, cycleAtX(view, 10))).toBeCloseTo(10 + by.x, 4);
        expect(yOfRow(moved, rowAtY(view, 10))).toBeCloseTo(10 + by.y, 4);
      }),
    );
  });
});

describe('the whole run', () => {
  it('fills the plot but for a margin', () => {
    const view = fit({ x: 5, y: 5, scale: 24, aspect: 1 }, size, extent);
    expect(xOfCycle(view, extent.firstCycle)).toBeGreaterThan(0);
    expect(xOfCycle(view, extent.lastCycle)).toBeLessThan(size.width);
    expect(xOfCycle(view, extent.lastCycle) - xOfCycle(view, extent.firstCycle)).toBeGreaterThan(
      0.95 * size.width,
    );
  });
});

describe('clamping', () => {
  /** The diagonal crosses the plot: some row on the screen is born, or dies within 50 cycles, in the time on the screen. */
  const showsSomething = (view: View): boolean => {
    const rows = size.height / rowHeight(view);
    const cycles = size.width / view.scale;
    const from = diagonal.cycleOf(Math.max(0, view.y));
    const to = diagonal.cycleOf(Math.min(extent.rows, view.y + rows));
    return from <= view.x + cycles + 1e-6 && to >= view.x - 1e-6;
  };

  it('keeps the pipeline on the screen wherever it is dragged', () => {
    const wild = fc.record({
      x: fc.double({ min: -1e6, max: 1e6, noNaN: true }),
      y: fc.double({ min: -1e6, max: 1e6, noNaN: true }),
      scale: fc.double({ min: 0.1, max: MAX_SCALE, noNaN: true }),
      aspect: fc.double({ min: 0.5, max: 2, noNaN: true }),
    });
    fc.assert(
      fc.property(wild, fc.constantFrom('x' as const, 'y' as const), (view, yielding) => {
        const clamped = clampView(view, size, extent, diagonal, yielding, true);
        expect(showsSomething(clamped)).toBe(true);
      }),
    );
  });

  it('leaves alone what shows the pipeline well inside the plot', () => {
    const view = { x: 1000, y: 690, scale: 24, aspect: 0.8 };
    expect(clampView(view, size, extent, diagonal, 'x', true)).toEqual(view);
    expect(clampView(view, size, extent, diagonal, 'y', true)).toEqual(view);
  });

  it('is at rest: clamping twice changes nothing more', () => {
    fc.assert(
      fc.property(views, fc.constantFrom('x' as const, 'y' as const), (view, yielding) => {
        const once = clampView(view, size, extent, diagonal, yielding, true);
        const twice = clampView(once, size, extent, diagonal, yielding, true);
        expect(twice.x).toBeCloseTo(once.x, 6);
        expect(twice.y).toBeCloseTo(once.y, 6);
      }),
    );
  });
});

describe('going somewhere', () => {
  const view = { x: 0, y: 0, scale: 24, aspect: 0.8 };

  it('shows the cycle and the instructions fetched in it', () => {
    const there = goToCycle(view, 50_000, size, diagonal);
    expect(xOfCycle(there, 50_000)).toBe(size.width / 4);
    const y = yOfRow(there, diagonal.rowAt(50_000));
    expect(y).toBeGreaterThan(0);
    expect(y).toBeLessThan(size.height);
  });

  it('shows the row with its fetch', () => {
    const there = goToRow(view, 35_000, size, diagonal);
    expect(xOfCycle(there, diagonal.cycleOf(35_000))).toBeGreaterThanOrEqual(0);
    expect(yOfRow(there, 35_000)).toBeGreaterThan(0);
    expect(yOfRow(there, 35_000)).toBeLessThan(size.height);
  });

  it('reveals a row by the least move', () => {
    const at = { x: 990, y: 700, scale: 24, aspect: 0.8 };
    expect(reveal(at, 705, size, diagonal)).toEqual(at);
    expect(reveal(at, 699, size, diagonal).y).toBe(699);
    const rows = size.height / rowHeight(at);
    expect(reveal(at, 760, size, diagonal).y).toBeCloseTo(761 - rows, 9);
  });
});
