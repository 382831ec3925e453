/** What remains when a pixel holds many cycles: lanes over time. Every column of pixels is the exact sum over its cycles. */
import type { Frame } from '../frame.js';
import { PixelColumns } from '../strip/columns.js';
import { type Lane, lanesOf } from '../strip/lanes.js';
import { paintLanes, rasterLanes } from '../strip/paint.js';
import type { SumsChoice } from '../strip/sources.js';
import type { AxisSpec, Form, Hit, Needs, Point } from './form.js';
import type { Ground } from './ground.js';
import { timeMoves } from './time-moves.js';

export class Strip implements Form {
  readonly name = 'strip';
  readonly hasRows = false;
  readonly moves = timeMoves;
  private readonly columns = new PixelColumns();
  private lanes: readonly Lane[] = [];
  private chosen: { readonly for: Frame; readonly choice: SumsChoice } | null = null;

  axis({ view }: Ground): AxisSpec {
    return { from: view.x, origin: 'trace' };
  }

  needs(frame: Frame): Needs {
    const { missing, range, isUnfinished } = this.choose(frame);
    const hasAny = frame.sums.overview !== null || frame.store.isComplete;
    return {
      missing,
      soon: [],
      sums: range,
      isWaiting: range !== null || isUnfinished || !hasAny,
      isUnfinished,
    };
  }

  raster(frame: Frame): void {
    const { view, plot, ratio, store } = frame;
    const width = Math.round(plot.width * ratio);
    this.columns.fill(width, view.x, view.scale * ratio, this.choose(frame).layers, store.extent);
    this.lanes = lanesOf(frame, this.columns);
    rasterLanes(frame, this.lanes, this.columns);
  }

  paint(frame: Frame): void {
    paintLanes(frame, this.lanes, this.columns);
  }

  hit({ view }: Frame, at: Point): Hit {
    return { row: null, cycle: Math.floor(view.x + at.x / view.scale) };
  }

  private choose(frame: Frame): SumsChoice {
    if (this.chosen?.for === frame) return this.chosen.choice;
    const choice = frame.sums.choose(frame, frame.store);
    this.chosen = { for: frame, choice };
    return choice;
  }
}
