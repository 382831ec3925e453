/** Tracks of lanes: occupancy of buffers, events, values of slots. */
import { fillOf, type Theme } from '../model/palette.js';
import { grouped } from '../model/ticks.js';
import { slotFieldName, slotFieldOf } from '../model/track-lists.js';
import {
  columnOf,
  type EventColumns,
  type EventMarks,
  type OccupancyColumns,
  REPLAY_CYCLES,
  type ValueChanges,
} from '../model/window.js';
import { described, shown } from '../page/track-choices.js';
import { info } from '../page/store.js';
import { answer } from '../page/window-feed.js';
import { drawEvents } from '../tracks/event-lane.js';
import { bandOf, drawOccupancy, scaleOf } from '../tracks/occupancy-lane.js';
import { drawValues, valueAt } from '../tracks/value-lane.js';
import { hintFor, shortName } from './lane-names.js';
import { type Lane, Lanes } from './lanes.js';
import { TrackHead } from './track-head.js';

const EVENT_HEIGHT = 20;
const VALUE_HEIGHT = 22;
const BUFFER_HEIGHT = 30;
const MAX_LINES = 12;

const paletteColour =
  (index: number) =>
  (theme: Theme): string =>
    fillOf(theme, index);

export function Occupancy() {
  const found = answer.value;
  const storages = info.value?.schema.storages ?? [];
  const lanes = shown.buffers.value.map((name, index): Lane => {
    const id = info.value?.storageNames.indexOf(name) ?? -1;
    const columns = found?.buffers.find((one) => one.id === id);
    const slots = storages[id]?.numSlots ?? 0;
    const colour = paletteColour(index);
    return {
      key: name,
      name: shortName(name),
      title: `${name}: ${grouped(slots)} slots${columns ? `, drawn up to ${grouped(scaleOf(columns, slots))}` : ''}`,
      height: BUFFER_HEIGHT,
      colour,
      draw: (canvas, box) => columns && drawOccupancy(canvas, box, columns, slots, colour(canvas.theme)),
      valueAt: (cycle) => (columns ? occupancyText(columns, cycle, slots) : ''),
    };
  });
  return (
    <>
      <TrackHead id="occupancy" list="buffers" />
      <Lanes title="Occupancy" lanes={lanes} version={found} hint={hintFor(found)} />
    </>
  );
}

const rounded = (value: number): string => (Number.isInteger(value) ? String(value) : value.toFixed(1));

function occupancyText(columns: OccupancyColumns, cycle: number, slots: number): string {
  const column = columnOf(columns, cycle);
  const band = column < 0 ? null : bandOf(columns, column, column + 1);
  if (!band) return '';
  const value = band.min === band.max ? rounded(band.min) : `${rounded(band.mean)} (${band.min}–${band.max})`;
  return `${value} / ${slots}`;
}

export function Events() {
  const found = answer.value;
  const lanes = shown.events.value.map((name, index): Lane => {
    const id = info.value?.eventNames.indexOf(name) ?? -1;
    const events = found?.events.find((one) => one.id === id);
    const marks = found?.marks ?? null;
    const colour = paletteColour(index);
    return {
      key: name,
      name: shortName(name),
      title: name,
      height: EVENT_HEIGHT,
      colour,
      draw: (canvas, box) => events && drawEvents(canvas, box, events, marks, colour(canvas.theme)),
      valueAt: (cycle) => (events ? countText(events, cycle) : ''),
      describe: (cycle, slack) => (events ? eventLines(name, events, marks, cycle, slack) : []),
    };
  });
  return (
    <>
      <TrackHead id="events" list="events" />
      <Lanes title="Events" lanes={lanes} version={found} hint={hintFor(found)} />
    </>
  );
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

export function Values() {
  const found = answer.value;
  const trace = described.value;
  const lanes = shown.values.value.flatMap((name): Lane[] => {
    const place = trace && slotFieldOf(name, trace);
    if (!place) return [];
    const changes = found?.values.find(
      (one) => one.storage === place.storage && one.slot === place.slot && one.field === place.field,
    );
    return [
      {
        key: name,
        name: shortName(slotFieldName(place, trace)),
        title: name,
        height: VALUE_HEIGHT,
        draw: (canvas, box) => changes && drawValues(canvas, box, changes, found!.args.to),
        valueAt: (cycle) => (changes ? textAt(changes, cycle) : ''),
        describe: (cycle) => (changes ? valueLines(name, changes, cycle) : []),
      },
    ];
  });
  const hint =
    found?.source === 'index'
      ? `zoom in to ${grouped(REPLAY_CYCLES / 2)} cycles or fewer to see values`
      : lanes.length === 0
        ? 'choose slots and registers in the list above'
        : hintFor(found);
  return (
    <>
      <TrackHead id="values" list="values" />
      <Lanes title="Values" lanes={lanes} version={found} hint={hint} />
    </>
  );
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
