/** A track as the page's stylesheet lays it out: its title, names of lanes in the gutter, and their picture. */
import { clipTo } from '../drawing/canvas.js';
import type { Theme } from '../model/palette.js';
import type { TimeView } from '../model/time-view.js';
import { LANE_FONT, LaneCanvas } from '../tracks/lane-canvas.js';
import { type Box, type Brush, fillBox } from './brush.js';
import type { CanvasPackage } from './surroundings.js';
import type { Track } from './tracks.js';

/** Lengths of viewer/src/page/style.css. */
const HEAD_HEIGHT = 20;
const LEFT = 12;
const SWATCH = 8;
const SWATCH_ROOM = 14;
const LEGEND_GAP = 10;
const HINT_MIDDLE = 10;

export class TrackPainter {
  constructor(
    private readonly brush: Brush,
    private readonly canvases: CanvasPackage,
    private readonly theme: Theme,
    /** Width of the labels. */
    private readonly gutter: number,
  ) {}

  paint(track: Track, view: TimeView, { y, width, height }: Box): void {
    const { brush, theme, gutter } = this;
    const plot = { x: gutter, y: y + HEAD_HEIGHT, width: width - gutter, height: height - HEAD_HEIGHT };
    if (plot.height <= 0) return;
    const lanes = new LaneCanvas(plot.width, plot.height, { x: view.x, scale: view.scale, ratio: 1 }, theme);
    track.draw(lanes);
    this.paintLanes(lanes, plot);
    fillBox(brush, theme.gutter, { x: 0, y, width, height: HEAD_HEIGHT });
    fillBox(brush, theme.gutter, { x: 0, y: plot.y, width: gutter, height: plot.height });
    fillBox(brush, theme.gridStrong, { x: gutter - 1, y: plot.y, width: 1, height: plot.height });
    this.head(track, y + HEAD_HEIGHT / 2 - 1);
    this.names(track, plot);
    if (track.hint) this.text(track.hint, plot.x + LEFT, plot.y + HINT_MIDDLE, theme.dim);
  }

  paintLanes(lanes: LaneCanvas, at: Box): void {
    const part = this.canvases.createCanvas(lanes.width, lanes.height);
    lanes.paint(part.getContext('2d', { alpha: false }));
    this.brush.canvas(part, at);
  }

  private head({ title, legend }: Track, middle: number): void {
    const { brush, theme } = this;
    let x = LEFT + this.text(title, LEFT, middle, theme.text, `600 ${LANE_FONT}`) + LEGEND_GAP;
    for (const { name, colour } of legend) {
      if (colour) {
        fillBox(brush, colour, { x, y: middle - SWATCH / 2, width: SWATCH, height: SWATCH });
        x += SWATCH + 4;
      }
      x += this.text(name, x, middle, theme.dim) + LEGEND_GAP;
    }
  }

  private names({ lanes }: Track, plot: Box): void {
    const { brush, theme } = this;
    const { paint } = brush;
    paint.save();
    clipTo(paint, 0, plot.y, plot.x - 1, plot.height);
    let top = plot.y;
    for (const { name, height, colour } of lanes) {
      const middle = top + Math.floor((height - 1) / 2);
      if (colour) {
        const y = middle - SWATCH / 2;
        fillBox(brush, colour(theme), { x: LEFT, y, width: SWATCH, height: SWATCH });
      }
      this.text(name, LEFT + (colour ? SWATCH_ROOM : 0), middle, theme.text);
      top += height;
      fillBox(brush, theme.grid, { x: 0, y: top - 1, width: plot.x - 1, height: 1 });
      if (top >= plot.y + plot.height) break;
    }
    paint.restore();
  }

  /** @returns its width */
  private text(text: string, x: number, middle: number, colour: string, font = LANE_FONT): number {
    const { paint } = this.brush;
    paint.font = font;
    paint.fillStyle = colour;
    paint.textAlign = 'left';
    paint.textBaseline = 'middle';
    paint.fillText(text, x, middle);
    return paint.measureText(text).width;
  }
}
