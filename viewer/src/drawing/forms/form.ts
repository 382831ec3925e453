/** A form of the picture: one way to show instructions. The scene knows forms only by this. */
import type { SumsRange } from '../../data/protocol.js';
import type { Command } from '../../model/commands.js';
import type { View, Yielding } from '../../model/view.js';
import type { Frame } from '../frame.js';
import type { FormName } from '../settings.js';
import type { Ground } from './ground.js';

/** A point of the plot, CSS pixels. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** What lies at a point. */
export interface Hit {
  /** null: no instruction is there. */
  readonly row: number | null;
  readonly cycle: number;
}

/** A view, and what of it gives way where it would lose the trace. */
export type Moved = readonly [View, Yielding];

/** What a picture is drawn from, and does not have yet. */
export interface Needs {
  /** Segments without which it is not sharp. */
  readonly missing: readonly number[];
  /** Segments that a small move would show. */
  readonly soon: readonly number[];
  /** Range of sums without which it is not sharp. */
  readonly sums: SumsRange | null;
  /** What else keeps it from being sharp is on its way. */
  readonly isWaiting: boolean;
  /** The next picture will have more of it, without anything that comes. */
  readonly isUnfinished: boolean;
}

export const NOTHING_ELSE = { sums: null, isWaiting: false, isUnfinished: false } as const;

/** The scale at the upper edge. */
export interface AxisSpec {
  /** Cycle at the left edge of the plot. */
  readonly from: number;
  /** Cycles count from the beginning of the trace, or from each instruction's fetch. */
  readonly origin: 'trace' | 'fetch';
}

/** How a form moves. Commands that mean the same in every form are not among these. */
export interface Moves {
  rows(ground: Ground, count: number, follow: boolean): Moved;
  drag(ground: Ground, dx: number, dy: number): Moved;
  zoom(ground: Ground, command: Command & { do: 'zoom' }, at: Point): Moved;
  goCycle(ground: Ground, cycle: number): Moved;
  goRow(ground: Ground, row: number): Moved;
  /** As little as brings a row onto the screen. */
  reveal(ground: Ground, row: number): Moved;
  last(ground: Ground): Moved;
  clamp(ground: Ground, yielding: Yielding): View;
}

export interface Form {
  readonly name: FormName;
  /** Instructions are seen one by one. */
  readonly hasRows: boolean;
  readonly moves: Moves;
  axis(ground: Ground): AxisSpec;
  needs(frame: Frame): Needs;
  /** Boxes, as pixels. */
  raster(frame: Frame): void;
  /** Texts and lines above them. */
  paint(frame: Frame): void;
  hit(frame: Frame, at: Point): Hit;
}
