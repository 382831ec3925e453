/** The tracks of a picture: what each shows of the time that the pipeline shows, chosen as the page does before its user has chosen. */

import { describeProblem } from '../data/problems.js';
import type { Problem } from '../data/protocol.js';
import { transactions } from '../data/questions/transactions.js';
import { window } from '../data/questions/window.js';
import type { Session } from '../data/session.js';
import { fillOf, type Theme } from '../model/palette.js';
import { panelOf } from '../model/panels.js';
import { type TimeView, transactionWindowFor, windowFor } from '../model/time-view.js';
import { catalogsOf, type TrackId } from '../model/trace-panels.js';
import { type Described, defaultChoice, slotFieldOf } from '../model/track-lists.js';
import type { TransactionList } from '../model/transactions.js';
import type { Wanted } from '../model/window.js';
import { drawCounters } from '../tracks/counter-plot.js';
import { drawLanes, type Lane } from '../tracks/lane.js';
import type { LaneCanvas } from '../tracks/lane-canvas.js';
import { transactionLanes } from '../tracks/transaction-lanes.js';
import {
  counterCurves,
  counterLanes,
  eventLanes,
  flightLanes,
  type LaneWindow,
  noWindowHint,
  occupancyLanes,
  valueLanes,
  valuesHint,
} from '../tracks/window-lanes.js';

export interface Track {
  readonly title: string;
  /** Beside the title: what colours mean. */
  readonly legend: readonly { readonly name: string; readonly colour: string | null }[];
  readonly lanes: readonly Lane[];
  /** Why there is less to see than one may expect. */
  readonly hint: string | null;
  readonly draw: (canvas: LaneCanvas) => void;
}

const NEVER = new AbortController().signal;

interface ReadTracks {
  readonly tracks: readonly Track[];
  /** What could not be read: the tracks say it, as in the page. */
  readonly problems: readonly Problem[];
}

export async function readTracks(
  session: Session,
  view: TimeView,
  ids: readonly TrackId[],
  theme: Theme,
): Promise<ReadTracks> {
  const { info } = session;
  const trace: Described = { ...info, core: info.cores[info.core]?.name ?? null };
  const [first, last] = [info.segmentCycles[0] ?? 0, session.lastCycle];
  const args = windowFor(view, wantedOf(trace, ids), first, last);
  const problems: Problem[] = [];
  const noted = <T>(question: Promise<T>): Promise<T | null> =>
    question.catch((error: unknown) => {
      problems.push(describeProblem(error));
      return null;
    });
  const found = args && (await noted(window(args, session, NEVER)));
  const near = ids.includes('transactions') ? transactionWindowFor(view, first, last) : null;
  const list = near && ((await noted(transactions(near, session, NEVER)))?.list ?? null);
  const hint = problems.map(({ code, what }) => `${code}: ${what}`)[0];
  const tracks = ids.map((id) => trackOf(id, { trace, found }, list, theme));
  return { tracks: hint ? tracks.map((track) => ({ ...track, hint })) : tracks, problems };
}

function wantedOf(trace: Described, ids: readonly TrackId[]): Wanted {
  const idsOf = (list: 'counters' | 'buffers' | 'events', all: readonly string[]): number[] =>
    defaultChoice(list, trace).map((name) => all.indexOf(name));
  const buffers = [
    ...(ids.includes('occupancy') ? idsOf('buffers', trace.storageNames) : []),
    ...(ids.includes('transactions') ? catalogsOf(trace) : []),
  ];
  return {
    counters: ids.includes('counters') ? idsOf('counters', trace.storageNames) : [],
    buffers: [...new Set(buffers)],
    events: ids.includes('events') ? idsOf('events', trace.eventNames) : [],
    values: ids.includes('values')
      ? defaultChoice('values', trace).flatMap((name) => slotFieldOf(name, trace) ?? [])
      : [],
  };
}

function trackOf(id: TrackId, window: LaneWindow, list: TransactionList | null, theme: Theme): Track {
  const { trace, found } = window;
  const { title } = panelOf(id);
  const ofLanes = (lanes: readonly Lane[], hint = noWindowHint(found)): Track => ({
    ...{ title, legend: [], lanes, hint },
    draw: (canvas) => drawLanes(canvas, lanes, 0),
  });
  switch (id) {
    case 'counters': {
      const names = defaultChoice('counters', trace);
      return {
        ...ofLanes(counterLanes(names, window, false)),
        draw: (canvas) => drawCounters(canvas, counterCurves(names, window, canvas.theme), false),
      };
    }
    case 'occupancy':
      return ofLanes(occupancyLanes(defaultChoice('buffers', trace), window));
    case 'events':
      return ofLanes(eventLanes(defaultChoice('events', trace), window));
    case 'values':
      return ofLanes(valueLanes(defaultChoice('values', trace), window), valuesHint(found));
    case 'transactions':
      return list
        ? { ...ofLanes(transactionLanes(list), null), legend: stagesOf(list, theme) }
        : { ...ofLanes(flightLanes(window)), legend: [{ name: 'in flight', colour: null }] };
  }
}

/** What the colours mean, network by network. */
const stagesOf = ({ networks }: TransactionList, theme: Theme): Track['legend'] =>
  networks.flatMap(({ name, stages }) => [
    { name, colour: null },
    ...stages.map((stage, index) => ({ name: stage, colour: fillOf(theme, index) })),
  ]);
