/** A place that is gone to before its instructions are here is in the end the one that is gone to with all of them here. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TraceInfo } from '../data/protocol.js';
import { NO_STAGE, type RowBlock, RowFlag } from '../model/blocks.js';
import type { Command } from '../model/commands.js';
import { DEFAULT_ASPECT, DEFAULT_SCALE, EVERY_ROW, rowAtY, type View, type Yielding } from '../model/view.js';
import { Classic } from './forms/classic.js';
import { Folded } from './forms/folded.js';
import type { Form, Point } from './forms/form.js';
import type { Ground } from './forms/ground.js';
import { type Navigated, Navigator } from './navigator.js';
import { RowStore } from './row-store.js';
import { ShownLines } from './rows/shown-lines.js';

const PLOT = { width: 900, height: 600 };

interface Recording {
  /** Of each segment: its cycles, and the births in it. */
  readonly segments: readonly { readonly cycles: number; readonly births: readonly number[] }[];
  readonly squashed: number;
}

const recordings: fc.Arbitrary<Recording> = fc.record({
  segments: fc.array(
    fc.integer({ min: 20, max: 400 }).chain((cycles) =>
      fc.record({
        cycles: fc.constant(cycles),
        births: fc.array(fc.nat(cycles - 1), { maxLength: 300 }).map((all) => all.sort((a, b) => a - b)),
      }),
    ),
    { minLength: 3, maxLength: 12 },
  ),
  squashed: fc.integer({ min: 2, max: 9 }),
});

class Trace {
  readonly blocks: RowBlock[] = [];
  readonly info: TraceInfo;
  rows = 0;

  /** What an index says is true at some places only: here at the ends of every third segment. */
  constructor({ segments, squashed }: Recording) {
    const starts = [0];
    const diagonal = { cycles: [0], rows: [0] };
    for (const [segment, { cycles, births }] of segments.entries()) {
      const baseCycle = starts.at(-1)!;
      const count = births.length;
      const flags = Uint8Array.from(births, (_, row) => (row % squashed === 0 ? RowFlag.SQUASHED : 0));
      const birth = Uint32Array.from(births);
      const id = Uint32Array.from(births, (_, row) => row % 16);
      const end = Uint32Array.from(births, (cycle) => cycle + 3);
      this.blocks.push({
        ...{ segment, firstRow: this.rows, count, baseCycle, birth, end, flags, id },
        ...{ thread: new Uint8Array(count), code: new Uint32Array(count), statics: new Uint32Array(3) },
        ...{
          stageStart: new Uint32Array(count + 1),
          stage: Uint8Array.of(NO_STAGE),
          stageCycle: new Uint32Array(1),
        },
        dependencies: {
          row: new Uint32Array(),
          producer: new Float64Array(),
          type: new Uint16Array(),
          cycle: new Uint32Array(),
        },
        notes: {
          row: new Uint32Array(),
          kind: new Uint8Array(),
          cycle: new Uint32Array(),
          text: new Uint32Array(),
        },
        ...{ stalls: { cycle: new Uint32Array(), reason: new Uint16Array() }, names: [] },
      });
      this.rows += count;
      starts.push(baseCycle + cycles);
      if (segment % 3 === 2 || segment === segments.length - 1) {
        diagonal.cycles.push(baseCycle + cycles);
        diagonal.rows.push(this.rows);
      }
    }
    this.info = {
      segmentCycles: Float64Array.from(starts),
      diagonal: { cycles: Float64Array.from(diagonal.cycles), rows: Float64Array.from(diagonal.rows) },
    } as unknown as TraceInfo;
  }

  get cycles(): number {
    return this.info.segmentCycles.at(-1)!;
  }
}

/** A scene without a picture. */
class Stage implements Navigated {
  view: View = { x: 0, y: 0, scale: DEFAULT_SCALE, aspect: DEFAULT_ASPECT };
  selected: number | null = null;
  readonly store: RowStore;
  readonly navigator = new Navigator(this);
  private readonly collapsed: ShownLines;

  constructor(
    trace: Trace,
    readonly form: Form,
    private readonly isCollapsed: boolean,
  ) {
    this.store = new RowStore(trace.info);
    this.store.index(trace.rows, trace.info.diagonal!);
    this.collapsed = new ShownLines(this.store);
  }

  get ground(): Ground {
    const lines = this.isCollapsed ? this.collapsed : EVERY_ROW;
    return { view: this.view, plot: PLOT, store: this.store, lines, sort: 'fetch' } as unknown as Ground;
  }

  plotPoint(at: Point | null): Point {
    return at ?? { x: PLOT.width / 2, y: PLOT.height / 2 };
  }

  rowAt(at: Point): number | null {
    const row = Math.floor(rowAtY(this.view, at.y, this.ground.lines));
    return row >= 0 && row < this.store.rows ? row : null;
  }

  clamp(yielding: Yielding): void {
    this.view = this.form.moves.clamp(this.ground, yielding);
  }

  take(block: RowBlock): void {
    this.store.add(block);
    this.navigator.resume(block.segment);
  }
}

const places = (trace: Trace): fc.Arbitrary<Command> => {
  const row = fc.nat(Math.max(0, trace.rows - 1));
  const cycle = fc.nat(trace.cycles - 1);
  return fc.oneof(
    cycle.map((at): Command => ({ do: 'goCycle', cycle: at })),
    row.map((at): Command => ({ do: 'goRow', row: at })),
    row.map((at): Command => ({ do: 'reveal', row: at })),
    row.map((at): Command => ({ do: 'align', row: at })),
    fc.record({ do: fc.constant('selectId' as const), id: fc.nat(15), cycle }),
    fc.constant<Command>({ do: 'return' }),
    fc.constant<Command>({ do: 'last' }),
    fc.record({ x: cycle, y: row }).map(
      ({ x, y }): Command => ({
        do: 'view',
        view: { x, y, scale: DEFAULT_SCALE, aspect: DEFAULT_ASPECT },
        selected: null,
      }),
    ),
  );
};

const cases = fc
  .record({ recording: recordings, isFolded: fc.boolean(), isCollapsed: fc.boolean() })
  .map((one) => ({ ...one, trace: new Trace(one.recording) }))
  .chain(({ trace, isFolded, isCollapsed }) =>
    fc.record({
      trace: fc.constant(trace),
      isFolded: fc.constant(isFolded),
      isCollapsed: fc.constant(isCollapsed && !isFolded),
      command: places(trace),
      here: fc.subarray(trace.blocks),
      choices: fc.infiniteStream(fc.nat(1000)),
    }),
  );

type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never;

function stageOf({ trace, isFolded, isCollapsed }: Case, here: readonly RowBlock[]): Stage {
  const stage = new Stage(trace, isFolded ? new Folded() : new Classic(), isCollapsed);
  for (const block of here) stage.take(block);
  return stage;
}

/** Blocks come, one of those waited for after the other. @returns how many */
function deliver(stage: Stage, { trace, choices }: Case): number {
  let delivered = 0;
  for (; stage.navigator.awaited.size > 0; delivered++) {
    const awaited = [...stage.navigator.awaited];
    expect(awaited.filter((segment) => stage.store.isHere(segment))).toEqual([]);
    stage.take(trace.blocks[awaited[choices.next().value! % awaited.length]!]!);
  }
  return delivered;
}

describe('a place', () => {
  it('is the same whatever is here when it is gone to', () => {
    let corrected = 0;
    fc.assert(
      fc.property(cases, (one) => {
        const known = stageOf(one, one.trace.blocks);
        known.navigator.run(one.command);
        const stage = stageOf(one, one.here);
        stage.navigator.run(one.command);
        const estimate = stage.view;
        deliver(stage, one);
        if (estimate.x !== stage.view.x || estimate.y !== stage.view.y) corrected++;
        expect(stage.view).toEqual(known.view);
        expect(stage.selected).toBe(known.selected);
      }),
      { numRuns: 400 },
    );
    expect(corrected).toBeGreaterThan(10);
  });

  it('is not corrected once the user has moved on', () => {
    const steps: fc.Arbitrary<Command> = fc.constantFrom(
      { do: 'drag', dx: 5, dy: -3 },
      { do: 'cycles', count: 6 },
      { do: 'rows', count: 3, follow: false },
    );
    fc.assert(
      fc.property(cases, steps, (one, step) => {
        const stage = stageOf(one, one.here);
        stage.navigator.run(one.command);
        stage.navigator.run(step);
        const { view } = stage;
        for (const block of one.trace.blocks) stage.take(block);
        expect(stage.view).toEqual(view);
      }),
      { numRuns: 100 },
    );
  });

  it('is still corrected when what is selected is selected again', () => {
    fc.assert(
      fc.property(cases, (one) => {
        const stage = stageOf(one, []);
        stage.navigator.run(one.command);
        const { awaited } = stage.navigator;
        stage.navigator.run({ do: 'select', row: stage.selected });
        expect(stage.navigator.awaited).toBe(awaited);
      }),
      { numRuns: 20 },
    );
  });

  it('of which nothing is estimated waits for nothing', () => {
    fc.assert(
      fc.property(cases, (one) => {
        const stage = stageOf(one, one.trace.blocks);
        stage.navigator.run(one.command);
        expect(stage.navigator.awaited.size).toBe(0);
      }),
      { numRuns: 50 },
    );
  });
});
