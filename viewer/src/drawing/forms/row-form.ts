/** What the forms that show instructions one by one have in common: boxes, texts and arrows at the places that a form gives to rows. */
import { UNKNOWN } from '../../model/blocks.js';
import type { Frame } from '../frame.js';
import type { RowStore } from '../row-store.js';
import { paintArrows } from '../rows/arrows.js';
import { rasterBackground } from '../rows/background.js';
import { rasterBoxes } from '../rows/boxes.js';
import { RowLayout, type RowPlace } from '../rows/layout.js';
import { paintLabels, paintRowNumbers, paintStageNames } from '../rows/texts.js';
import { type FormName, MIN_TEXT_HEIGHT } from '../settings.js';
import type { AxisSpec, Form, Hit, Moves, Needs, Point } from './form.js';
import type { Ground } from './ground.js';

export abstract class RowForm implements Form {
  abstract readonly name: FormName;
  abstract readonly moves: Moves;
  readonly hasRows = true;
  private readonly made = new RowLayout();
  private madeFor: Frame | null = null;

  /** Puts the rows in sight into a layout. */
  protected abstract fill(frame: Frame, layout: RowLayout): void;
  protected abstract heightOf(frame: Frame): number;
  abstract axis(ground: Ground): AxisSpec;
  abstract needs(frame: Frame): Needs;
  abstract hit(frame: Frame, at: Point): Hit;
  /** null: nowhere. */
  abstract place(frame: Frame, row: number): RowPlace | null;

  raster(frame: Frame): void {
    const layout = this.layout(frame);
    this.rasterBelow(frame, layout);
    rasterBoxes(frame, layout);
    this.rasterAbove(frame, layout);
  }

  protected rasterBelow(frame: Frame, layout: RowLayout): void {
    rasterBackground(frame, layout, frame.axis.from);
  }

  protected rasterAbove(_frame: Frame, _layout: RowLayout): void {}

  paint(frame: Frame): void {
    const layout = this.layout(frame);
    if (layout.height >= MIN_TEXT_HEIGHT) paintStageNames(frame, layout);
    this.paintMargin(frame, layout);
    paintArrows(frame, layout, (row) => this.place(frame, row));
  }

  /** Left of the plot. */
  protected paintMargin(frame: Frame, layout: RowLayout): void {
    if (layout.height >= MIN_TEXT_HEIGHT) paintLabels(frame, layout);
    else paintRowNumbers(frame, layout);
  }

  protected layout(frame: Frame): RowLayout {
    if (this.madeFor === frame) return this.made;
    this.made.begin(this.heightOf(frame));
    this.fill(frame, this.made);
    this.madeFor = frame;
    return this.made;
  }
}

/** Of segments needed, those that are not here. */
export function notHere(store: RowStore, segments: Iterable<number>): number[] {
  return [...new Set(segments)].filter((segment) => !store.has(segment));
}

/** Whether an instruction is in flight in a cycle. */
export function isInFlight(store: RowStore, row: number, cycle: number): boolean {
  const place = store.locate(row);
  if (!place) return false;
  const { block, index } = place;
  const since = cycle - block.baseCycle;
  return block.birth[index]! <= since && (block.end[index] === UNKNOWN || since < block.end[index]!);
}
