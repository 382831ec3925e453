/** The lanes of what a window of time holds: occupancy of buffers, events, values of slots, counters, transactions in flight. */
import { rateOver } from '../model/counter-series.js';
import { fillOf, lineOf, type Theme } from '../model/palette.js';
import { grouped } from '../model/ticks.js';
import { type Described, slotFieldName, slotFieldOf } from '../model/track-lists.js';
import {
  type CounterColumns,
  columnOf,
  type EventColumns,
  type EventMarks,
  type OccupancyColumns,
  REPLAY_CYCLES,
  type ValueChanges,
  type WindowAnswer,
} from '../model/window.js';
import type { PlottedCounter } from './counter-plot.js';
import { drawEvents } from './event-lane.js';
import { type Lane, shortName } from './lane.js';
import { bandOf, drawOccupancy, scaleOf } from './occupancy-lane.js';
import { drawValues, valueAt } from './value-lane.js';

const NAME_HEIGHT = 18;
const EVENT_HEIGHT = 20;
const VALUE_HEIGHT = 22;
const BUFFER_HEIGHT = 30;
const FLIGHT_HEIGHT = 40;
const MAX_LINES = 12;

const paletteColour =
  (index: number) =>
  (theme: Theme): string =>
    fillOf(theme, index);

/** What the lanes are of, and what is known of the time shown; null: nothing yet. */
export interface LaneWindow {
  readonly trace: Described;
  readonly found: WindowAnswer | null;
}

export function occupancyLanes(buffers: readonly string[], { trace, found }: LaneWindow): Lane[] {
  return buffers.map((name, index): Lane => {
    const id = trace.storageNames.indexOf(name);
    const columns = found?.buffers.find((one) => one.id === id);
    const slots = trace.schema.storages[id]?.numSlots ?? 0;
    const colour = paletteColour(index);
    return {
      key: name,
      name: shortName(name, trace.core),
      title: `${name}: ${grouped(slots)} slots${columns ? `, drawn up to ${grouped(scaleOf(columns, slots))}` : ''}`,
      height: BUFFER_HEIGHT,
      colour,
      draw: (canvas, box) => columns && drawOccupancy(canvas, box, columns, slots, colour(canvas.theme)),
      valueAt: (cycle) => (columns ? occupancyText(columns, cycle, slots) : ''),
    };
  });
}

const rounded = (value: number): string => (Number.isInteger(value) ? String(value) : value.toFixed(1));

function occupancyText(columns: OccupancyColumns, cycle: number, slots: number): string {
  const column = columnOf(columns, cycle);
  const band = column < 0 ? null : bandOf(columns, column, column + 1);
  if (!band) return '';
  const value = band.min === band.max ? rounded(band.min) : `${rounded(band.mean)} (${band.min}–${band.max})`;
  return `${value} / ${slots}`;
}

export function eventLanes(events: readonly string[], { trace, found }: LaneWindow): Lane[] {
  const marks = found?.marks ?? null;
  return events.map((name, index): Lane => {
    const id = trace.eventNames.indexOf(name);
    const columns = found?.events.find((one) => one.id === id);
    const colour = paletteColour(index);
    return {
      key: name,
      name: shortName(name, trace.core),
      title: name,
      height: EVENT_HEIGHT,
      colour,
      draw: (canvas, box) => columns && drawEvents(canvas, box, columns, marks, colour(canvas.theme)),
      valueAt: (cycle) => (columns ? countText(columns, cycle) : ''),
      describe: (cycle, slack) => (columns ? eventLines(name, columns, marks, cycle, slack) : []),
    };
  });
}

function countText(events: EventColumns, cycle: number): string {
  const column = columnOf(events, cycle);
  const count = column < 0 ? 0 : events.counts[column]!;
  return count === 0 ? '' : grouped(count);
}

/** The events themselves where they are known, else how many there are. */
function eventLines(
  name: string,
  events: EventColumns,
  marks: EventMarks | null,
  cycle: number,
  slack: number,
): string[] {
  if (!marks) {
    const column = columnOf(events, cycle);
    const count = column < 0 ? 0 : events.counts[column]!;
    const first = events.from + column * events.step;
    const last = first + events.step - 1;
    return count === 0 ? [] : [`${grouped(count)}× ${name}`, `cycles ${grouped(first)} to ${grouped(last)}`];
  }
  const lines: string[] = [];
  for (let index = 0; index < marks.type.length; index++) {
    const at = marks.cycle[index]!;
    if (at > cycle + slack) break;
    if (marks.type[index] !== events.id || at + 1 + slack < cycle || at - slack > cycle) continue;
    lines.push(`${grouped(at)}  ${marks.texts[index]}`);
  }
  const more = lines.length - MAX_LINES;
  if (lines.length === 0) return [];
  return [name, ...lines.slice(0, MAX_LINES), ...(more > 0 ? [`and ${grouped(more)} more`] : [])];
}

export function valueLanes(values: readonly string[], { trace, found }: LaneWindow): Lane[] {
  return values.flatMap((name): Lane[] => {
    const place = slotFieldOf(name, trace);
    if (!place) return [];
    const changes = found?.values.find(
      (one) => one.storage === place.storage && one.slot === place.slot && one.field === place.field,
    );
    return [
      {
        key: name,
        name: shortName(slotFieldName(place, trace), trace.core),
        title: name,
        height: VALUE_HEIGHT,
        draw: (canvas, box) => changes && drawValues(canvas, box, changes, found!.args.to),
        valueAt: (cycle) => (changes ? textAt(changes, cycle) : ''),
        describe: (cycle) => (changes ? valueLines(name, changes, cycle) : []),
      },
    ];
  });
}

const textAt = (changes: ValueChanges, cycle: number): string => changes.texts[valueAt(changes, cycle)] ?? '';

function valueLines(name: string, changes: ValueChanges, cycle: number): string[] {
  const index = valueAt(changes, Math.floor(cycle));
  if (index < 0) return [];
  const until = changes.cycle[index + 1];
  const from = grouped(changes.cycle[index]!);
  return [
    `${name} = ${changes.texts[index] || 'free'}`,
    until === undefined ? `since ${from}` : `cycles ${from} to ${grouped(until - 1)}`,
    ...(changes.isBusy[index] === 1 ? ['more changes than fit: zoom in'] : []),
  ];
}

/** Their pictures lie over each other: `counterCurves`. */
export function counterLanes(
  counters: readonly string[],
  { trace, found }: LaneWindow,
  asTotal: boolean,
): Lane[] {
  return counters.map((name, index): Lane => {
    const columns = counterOf(name, { trace, found });
    return {
      key: name,
      name: shortName(name, trace.core),
      title: name,
      height: NAME_HEIGHT,
      colour: (theme) => lineOf(theme, index),
      valueAt: (cycle) => (columns ? valueText(columns, cycle, asTotal) : ''),
    };
  });
}

export const counterCurves = (
  counters: readonly string[],
  window: LaneWindow,
  theme: Theme,
): PlottedCounter[] =>
  counters.flatMap((name, index) => {
    const columns = counterOf(name, window);
    return columns ? [{ columns, colour: lineOf(theme, index) }] : [];
  });

const counterOf = (name: string, { trace, found }: LaneWindow): CounterColumns | null =>
  found?.counters.find(({ id }) => trace.storageNames[id] === name) ?? null;

const rateText = (value: number): string =>
  value === 0 ? '0' : Math.abs(value) >= 0.001 ? value.toFixed(3) : value.toExponential(1);

function valueText(columns: CounterColumns, cycle: number, asTotal: boolean): string {
  const column = columnOf(columns, cycle);
  if (column < 0) return '';
  return asTotal ? grouped(columns.totals[column]!) : rateText(rateOver(columns, column, column + 1));
}

/** The catalogs of the networks: how many transactions are in flight. */
export function flightLanes({ trace, found }: LaneWindow): Lane[] {
  return (found?.buffers ?? []).flatMap((columns, index): Lane[] => {
    const def = trace.schema.storages[columns.id];
    if (def?.name !== 'transactions') return [];
    const name = trace.storageNames[columns.id]!;
    const colour = paletteColour(index);
    return [
      {
        key: name,
        name,
        height: FLIGHT_HEIGHT,
        colour,
        draw: (canvas, box) => drawOccupancy(canvas, box, columns, def.numSlots, colour(canvas.theme)),
      },
    ];
  });
}

/** Why a window has nothing; null: it has. */
export const noWindowHint = (found: WindowAnswer | null): string | null =>
  found?.source === 'none'
    ? 'zoom in: the trace has no index for so long a time; `uscope index FILE` makes one'
    : null;

/** The same of values, which only replayed windows have. */
export const valuesHint = (found: WindowAnswer | null): string | null =>
  found?.source === 'index'
    ? `zoom in to ${grouped(REPLAY_CYCLES / 2)} cycles or fewer to see values`
    : noWindowHint(found);
