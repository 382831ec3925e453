/** Lanes over time: instructions per cycle, how many are in flight or in each stage, the share of cycles with a stall, and flushes. */
import { shownCore } from '../../data/shown-core.js';
import { reasonColour } from '../../model/palette.js';
import { Column, reasonColumn } from '../../model/sums.js';
import type { Frame } from '../frame.js';
import type { PixelColumns } from './columns.js';

interface LanePart {
  readonly name: string;
  readonly column: number;
  readonly colour: string;
  /** Shown only where stages are known, or only where they are not. */
  readonly where?: 'stages' | 'no stages';
}

export interface Lane {
  readonly title: string;
  readonly unit: '' | '%';
  /** Edges, CSS pixels of the canvas. */
  readonly y0: number;
  readonly y1: number;
  /** Values above are cut. */
  readonly max: number;
  /** Stacked from below. */
  readonly parts: readonly LanePart[];
  /** By part, for each column of pixels: per cycle. */
  readonly values: readonly Float64Array[];
}

const GAP = 10;

type Draft = Pick<Lane, 'title' | 'unit' | 'parts'> & { readonly weight: number };

export function lanesOf(frame: Frame, columns: PixelColumns): Lane[] {
  const { top, plot } = frame;
  const drafts = draftsOf(frame);
  const height = plot.height - GAP * (drafts.length + 1);
  const weights = drafts.reduce((sum, { weight }) => sum + weight, 0);
  let y = top + GAP;
  return drafts.map(({ weight, ...draft }) => {
    const y0 = y;
    const y1 = y0 + (height * weight) / weights;
    y = y1 + GAP;
    const values = draft.parts.map((part) => valuesOf(part, columns));
    return { ...draft, values, y0, y1, max: niceMax(largest(values, columns.count), draft.unit) };
  });
}

function draftsOf({ theme, info, sums, store, colouring }: Frame): Draft[] {
  const { stages } = shownCore(info);
  const inFlight: LanePart = {
    name: 'in flight',
    column: Column.IN_FLIGHT,
    colour: theme.ipc,
    where: 'no stages',
  };
  const byStage = stages.map((name, index) => ({
    name,
    column: Column.STAGES + index,
    colour: colouring.ofStage(index),
    where: 'stages' as const,
  }));
  const reasons = info.reasons.map((name, index) => ({
    name,
    column: reasonColumn(info.sums, index),
    colour: reasonColour(theme, index),
  }));
  const { overview } = sums;
  const { firstCycle, lastCycle } = store.extent;
  // Reasons that never occur are not in the legend.
  const happened = overview
    ? reasons.filter(
        ({ column }) => overview.sum(column, firstCycle - (firstCycle % overview.step), overview.to) > 0,
      )
    : reasons;
  const drafts: Draft[] = [
    {
      title: 'retired per cycle',
      unit: '',
      weight: 3,
      parts: [{ name: 'retired', column: Column.RETIRED, colour: theme.ipc }],
    },
    { title: 'instructions in flight', unit: '', weight: 4, parts: [...byStage, inFlight] },
    { title: 'cycles with a stall', unit: '%', weight: 3, parts: happened },
    {
      title: 'squashed per cycle',
      unit: '',
      weight: 1.5,
      parts: [{ name: 'squashed', column: Column.SQUASHED, colour: theme.flush }],
    },
  ];
  return lastCycle > firstCycle ? drafts.filter(({ parts }) => parts.length > 0) : [];
}

/** Whether a part is shown in a column of pixels. */
export function isShownAt({ where }: LanePart, columns: PixelColumns, x: number): boolean {
  return where === undefined || (columns.layers[x]?.hasStages ?? false) === (where === 'stages');
}

function valuesOf(part: LanePart, columns: PixelColumns): Float64Array {
  const values = new Float64Array(columns.count);
  for (let x = 0; x < columns.count; x++) {
    if (isShownAt(part, columns, x)) values[x] = columns.rate(x, part.column);
  }
  return values;
}

function largest(values: readonly Float64Array[], count: number): number {
  let max = 0;
  for (let x = 0; x < count; x++) {
    let sum = 0;
    for (const part of values) sum += part[x]!;
    max = Math.max(max, sum);
  }
  return max;
}

const NICE = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];

/** A round number not below the value, so that the scale does not jump while the view moves. */
export function niceMax(value: number, unit: Lane['unit']): number {
  if (unit === '%') return Math.min(1, Math.max(0.25, Math.ceil(value * 4) / 4));
  if (!(value > 0.1)) return 0.1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * (NICE.find((step) => step * power >= value) ?? 10);
}
