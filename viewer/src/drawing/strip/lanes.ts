/**
 * What remains when a pixel holds many cycles: lanes over time with instructions per cycle, how many are in each stage, the share of cycles
 * with a stall, and flushes. Every column of pixels is the sum over all of its cycles.
 */
import { shownCore } from '../../data/shown-core.js';
import { Column } from '../../model/aggregates.js';
import { fillOf, mix, pixelOf, reasonColour } from '../../model/palette.js';
import { AXIS_FONT, fitted } from '../canvas.js';
import type { Frame } from '../frame.js';
import type { Sums } from '../sums.js';

export interface Lane {
  readonly title: string;
  readonly unit: string;
  /** Edges, CSS pixels of the canvas. */
  readonly y0: number;
  readonly y1: number;
  /** Values above are cut. */
  readonly max: number;
  /** Stacked from below. */
  readonly parts: readonly { readonly name: string; readonly column: number; readonly colour: string }[];
}

/** Cycles `[from, to)` of a device pixel column, in steps of the sums. */
interface Pixel {
  readonly from: number;
  readonly to: number;
}

const GAP = 10;

export function rasterStrip(frame: Frame, sums: Sums): Lane[] {
  const { raster, ratio, left, top, theme } = frame;
  const columns = pixelColumns(frame, sums.stepCycles);
  const lanes = lanesOf(frame, sums, columns);
  raster.clip(Math.round(left * ratio), Math.round(top * ratio));
  for (const lane of lanes) {
    const [y0, y1] = [Math.round(lane.y0 * ratio), Math.round(lane.y1 * ratio)];
    raster.fill(0, y0, raster.width, y1, pixelOf(theme.stripe));
    rasterLane(frame, sums, lane, columns, y0, y1);
  }
  return lanes;
}

function pixelColumns({ view, plot, ratio, store }: Frame, step: number): Pixel[] {
  const { lastCycle, firstCycle } = store.extent;
  const scale = view.scale * ratio;
  const down = (cycle: number): number => Math.floor(cycle / step) * step;
  return Array.from({ length: Math.round(plot.width * ratio) }, (_, x) => {
    const from = down(view.x + x / scale);
    const to = Math.max(down(view.x + (x + 1) / scale), from + step);
    return from < down(firstCycle) || from > lastCycle ? { from: 0, to: 0 } : { from, to };
  });
}

function lanesOf(frame: Frame, sums: Sums, columns: readonly Pixel[]): Lane[] {
  const { theme, info, top, plot } = frame;
  const { stages } = shownCore(info);
  const shape = info.aggregates;
  const stageParts = stages.map((name, index) => ({
    name,
    column: Column.STAGES + index,
    colour: fillOf(theme, index),
  }));
  const reasonParts = info.reasons.map((name, index) => ({
    name,
    column: Column.STAGES + shape.stages + index,
    colour: reasonColour(theme, index),
  }));
  const last = frame.store.extent.lastCycle;
  const seen = reasonParts.filter(({ column }) => sums.sum(column, 0, roundUp(last, sums.stepCycles)) > 0);
  const make = [
    {
      title: 'retired per cycle',
      unit: '',
      weight: 3,
      parts: [{ name: 'retired', column: Column.RETIRED, colour: theme.ipc }],
    },
    { title: 'instructions in stages', unit: '', weight: 4, parts: stageParts },
    ...(seen.length > 0 ? [{ title: 'cycles with a stall', unit: '%', weight: 3, parts: seen }] : []),
    {
      title: 'squashed per cycle',
      unit: '',
      weight: 1.5,
      parts: [{ name: 'squashed', column: Column.SQUASHED, colour: theme.flush }],
    },
  ];
  const height = plot.height - GAP * (make.length + 1);
  const weights = make.reduce((sum, { weight }) => sum + weight, 0);
  let y = top + GAP;
  return make.map(({ title, unit, weight, parts }) => {
    const y0 = y;
    const y1 = y0 + (height * weight) / weights;
    y = y1 + GAP;
    return { title, unit, parts, y0, y1, max: niceMax(largest(sums, parts, columns), unit) };
  });
}

function roundUp(value: number, step: number): number {
  return Math.ceil(value / step) * step;
}

function largest(sums: Sums, parts: Lane['parts'], columns: readonly Pixel[]): number {
  let max = 0;
  for (const { from, to } of columns) {
    if (to <= from) continue;
    let sum = 0;
    for (const { column } of parts) sum += sums.sum(column, from, to);
    max = Math.max(max, sum / (to - from));
  }
  return max;
}

/** A round number not below the value, so that the scale does not jump while the view moves. */
function niceMax(value: number, unit: string): number {
  if (unit === '%') return Math.max(1, Math.ceil(value * 4) / 4);
  const steps = [
    0.1, 0.25, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512,
  ];
  return steps.find((step) => step >= value) ?? value;
}

function rasterLane(
  { raster, ratio, left, theme }: Frame,
  sums: Sums,
  { parts, max }: Lane,
  columns: readonly Pixel[],
  y0: number,
  y1: number,
): void {
  const x0 = Math.round(left * ratio);
  const pixels = parts.map(({ colour }) => pixelOf(colour));
  const pending = pixelOf(mix(theme.stripe, theme.dim, 0.12));
  for (const [index, { from, to }] of columns.entries()) {
    if (to <= from) continue;
    const x = x0 + index;
    if (from >= sums.knownUntil) {
      raster.fill(x, y0, x + 1, y1, pending);
      continue;
    }
    let sum = 0;
    let y = y1;
    for (const [part, { column }] of parts.entries()) {
      const value = sums.sum(column, from, to);
      if (value === 0) continue;
      sum += value / (to - from);
      // What happened at all stays visible, however small its share is.
      const next = Math.min(y - 1, Math.round(y1 - ((y1 - y0) * sum) / max));
      raster.fill(x, Math.max(y0, next), x + 1, y, pixels[part]!);
      y = Math.max(y0, next);
    }
  }
}

/** Titles, scales and what the colours mean, with the values at the pointer. */
export function paintStrip(frame: Frame, sums: Sums, lanes: readonly Lane[]): void {
  const { context, theme, left, top, plot } = frame;
  context.save();
  context.beginPath();
  context.rect(0, top, left, plot.height);
  context.clip();
  context.font = AXIS_FONT;
  context.textBaseline = 'alphabetic';
  const at = pixelAtPointer(frame, sums.stepCycles);
  for (const lane of lanes) {
    context.fillStyle = theme.text;
    context.textAlign = 'left';
    context.font = `600 ${AXIS_FONT}`;
    context.fillText(lane.title, 14, lane.y0 + 13);
    context.font = AXIS_FONT;
    context.fillStyle = theme.dim;
    context.textAlign = 'right';
    context.fillText(shown(lane.max, lane.unit), left - 10, lane.y0 + 10);
    context.fillText('0', left - 10, lane.y1 - 1);
    paintLegend(frame, sums, lane, at);
  }
  context.restore();
}

function shown(value: number, unit: string): string {
  if (unit === '%') return `${(value * 100).toFixed(value > 0 && value < 0.1 ? 1 : 0)} %`;
  return value >= 100
    ? value.toFixed(0)
    : value >= 10
      ? value.toFixed(1)
      : value
          .toFixed(value < 1 ? 3 : 2)
          .replace(/0+$/, '')
          .replace(/\.$/, '');
}

function pixelAtPointer({ pointer, left, view, plot }: Frame, step: number): Pixel | null {
  if (!pointer || pointer.x < left || pointer.x > left + plot.width) return null;
  const from = Math.floor((view.x + (pointer.x - left) / view.scale) / step) * step;
  const to = Math.max(from + step, Math.floor((view.x + (pointer.x - left + 1) / view.scale) / step) * step);
  return { from, to };
}

function paintLegend(frame: Frame, sums: Sums, lane: Lane, at: Pixel | null): void {
  const { context, theme, left, view, plot, widths } = frame;
  const step = sums.stepCycles;
  const whole = {
    from: Math.max(0, Math.floor(view.x / step) * step),
    to: Math.ceil((view.x + plot.width / view.scale) / step) * step,
  };
  const { from, to } = at ?? whole;
  const cycles = Math.max(1, Math.min(to, frame.store.extent.lastCycle) - from);
  // The topmost part of the stack comes first.
  const entries = lane.parts
    .map((part) => ({ ...part, value: sums.sum(part.column, from, to) / cycles }))
    .reverse();
  const lineHeight = 16;
  const lines = Math.max(1, Math.floor((lane.y1 - lane.y0 - 18) / lineHeight));
  const columns = entries.length > lines && left > 300 ? 2 : 1;
  const width = Math.min(240, (left - 60) / columns);
  entries.slice(0, lines * columns).forEach((entry, index) => {
    const x = 14 + Math.floor(index / lines) * width;
    const y = lane.y0 + 30 + (index % lines) * lineHeight;
    context.textAlign = 'left';
    context.fillStyle = entry.colour;
    context.fillRect(x, y - 9, 10, 10);
    context.fillStyle = theme.text;
    const value = shown(entry.value, lane.unit);
    context.fillText(fitted(entry.name, width - 36 - widths.axis.of(value), widths.axis), x + 16, y);
    context.fillStyle = theme.dim;
    context.textAlign = 'right';
    context.fillText(value, x + width - 14, y);
  });
}
