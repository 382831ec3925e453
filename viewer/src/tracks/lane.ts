/** What a lane of a track is: its name in the gutter, and its picture on the axis of time. */
import type { Theme } from '../model/palette.js';
import type { LaneBox, LaneCanvas } from './lane-canvas.js';

export interface Lane {
  readonly key: string;
  readonly name: string;
  /** Of the name: where it is, what it means. */
  readonly title?: string;
  /** CSS pixels. */
  readonly height: number;
  readonly colour?: (theme: Theme) => string;
  draw?(canvas: LaneCanvas, box: LaneBox): void;
  /** At a cycle: for the gutter. */
  valueAt?(cycle: number): string;
  /** For a tooltip: lines about what is at a cycle. @param slack cycles that the pointer may be off */
  describe?(cycle: number, slack: number, y: number): readonly string[];
}

/** Paths without the core that is shown: its name is known anyway. */
export const shortName = (name: string, core: string | null): string =>
  core !== null && name.startsWith(`${core}/`) ? name.slice(core.length + 1) : name;

/** Lanes under each other. @param scrolled CSS pixels of them that are above the canvas */
export function drawLanes(canvas: LaneCanvas, lanes: readonly Lane[], scrolled: number): void {
  const { width, height, grid } = canvas;
  const { ratio } = canvas.view;
  let top = -scrolled;
  for (const lane of lanes) {
    const begin = Math.round(top * ratio);
    top += lane.height;
    const box = { top: begin, height: Math.round(top * ratio) - begin };
    if (box.top + box.height <= 0) continue;
    if (box.top >= height) break;
    lane.draw?.(canvas, box);
    canvas.raster.fill(0, box.top + box.height - 1, width, box.top + box.height, grid);
  }
}
