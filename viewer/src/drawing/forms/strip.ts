/** What remains when a pixel holds many cycles: lanes over time. Every column of pixels is the sum over all of its cycles. */
import type { Frame } from '../frame.js';
import { type Lane, paintStrip, rasterStrip } from '../strip/lanes.js';
import { bucketSums, type Sums } from '../sums.js';
import type { AxisSpec, Form, Hit, Needs, Point } from './form.js';
import type { Ground } from './ground.js';
import { notHere } from './row-form.js';
import { timeMoves } from './time-moves.js';

export class Strip implements Form {
  readonly name = 'strip';
  readonly hasRows = false;
  readonly moves = timeMoves;
  private lanes: Lane[] = [];
  private sums: { readonly of: Frame; readonly sums: Sums; readonly needs: Needs } | null = null;

  axis({ view }: Ground): AxisSpec {
    return { from: view.x, origin: 'trace' };
  }

  needs(frame: Frame): Needs {
    return this.choose(frame).needs;
  }

  raster(frame: Frame): void {
    this.lanes = rasterStrip(frame, this.choose(frame).sums);
  }

  paint(frame: Frame): void {
    paintStrip(frame, this.choose(frame).sums, this.lanes);
  }

  hit({ view }: Frame, at: Point): Hit {
    return { row: null, cycle: Math.floor(view.x + at.x / view.scale) };
  }

  private choose(frame: Frame): { readonly sums: Sums; readonly needs: Needs } {
    if (this.sums?.of === frame) return this.sums;
    const { view, plot, ratio, store, fine, aggregates } = frame;
    const coarse = bucketSums(aggregates);
    const segments = store.segmentsOfCycles(view.x, view.x + plot.width / view.scale);
    const canBeFine = 1 / (view.scale * ratio) < coarse.stepCycles && fine.covers(segments);
    const missing = canBeFine ? notHere(store, segments) : [];
    const exact = canBeFine && missing.length === 0 ? fine.of(store, segments) : null;
    const isWaiting = canBeFine ? exact === null : !store.isComplete;
    const needs = { missing, soon: [], isWaiting, isUnfinished: canBeFine && missing.length === 0 && !exact };
    this.sums = { of: frame, sums: exact ?? coarse, needs };
    return this.sums;
  }
}
