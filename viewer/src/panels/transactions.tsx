/** Transactions of networks: a lane for each port; zoomed out, how many are in flight. */
import { effect, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { AskError } from '../data/asker.js';
import { fillOf, themeOf } from '../model/palette.js';
import {
  lanesOf,
  MAX_TRANSACTION_CYCLES,
  type TransactionArgs,
  type TransactionLane,
  type TransactionList,
} from '../model/transactions.js';
import { currentEngine } from '../page/current-engine.js';
import { info, settings } from '../page/store.js';
import { transactionsShown } from '../page/transactions-shown.js';
import { endOf, type TimeView, timeView } from '../page/time.js';
import { answer } from '../page/window-feed.js';
import { drawOccupancy } from '../tracks/occupancy-lane.js';
import { drawTransactions, ROW_HEIGHT, transactionAt } from '../tracks/transaction-lane.js';
import { type Lane, Lanes } from './lanes.js';
import { TrackHead } from './track-head.js';

const FLIGHT_HEIGHT = 40;

const problem = signal<string | null>(null);

function windowFor(view: TimeView, first: number, last: number): TransactionArgs | null {
  const span = view.width / view.scale;
  const from = Math.max(first, Math.floor(view.x - span / 2));
  const to = Math.min(last, Math.ceil(endOf(view) + span / 2));
  return to > from && span * 2 <= MAX_TRANSACTION_CYCLES ? { from, to } : null;
}

/** Keeps the answer up to date while the track is shown: one question at a time. @returns stops */
function follow(): () => void {
  let controller: AbortController | null = null;
  const ask = async (args: TransactionArgs): Promise<void> => {
    const mine = new AbortController();
    controller = mine;
    try {
      const found = await currentEngine()?.ask('transactions', args, mine.signal);
      if (found) transactionsShown.value = found;
      problem.value = null;
    } catch (error) {
      if (error instanceof AskError) problem.value = `${error.problem.code}: ${error.problem.what}`;
    } finally {
      if (controller === mine) {
        controller = null;
        if (problem.value === null) update();
      }
    }
  };
  const update = (): void => {
    const view = timeView.value;
    const trace = info.value;
    if (!view || !trace) return;
    const args = windowFor(view, trace.segmentCycles[0] ?? 0, trace.segmentCycles.at(-1) ?? 1);
    if (!args) {
      transactionsShown.value = null;
      return;
    }
    const known = transactionsShown.peek()?.args;
    const span = args.to - args.from;
    const isCovered =
      known !== undefined &&
      known.from <= Math.max(args.from, view.x) &&
      known.to >= Math.min(args.to, endOf(view)) &&
      known.to - known.from <= span * 4;
    if (!isCovered && !controller) void ask(args);
  };
  const stop = effect(update);
  return () => {
    stop();
    controller?.abort();
    transactionsShown.value = null;
  };
}

export function Transactions() {
  useEffect(follow, []);
  const found = transactionsShown.value;
  const list = found?.list ?? null;
  const lanes = useMemo(() => (list ? lanesOf(list).map((lane) => laneOf(list, lane)) : []), [list]);
  const hint = problem.value ?? (list && lanes.length === 0 ? 'none in this time' : null);
  return (
    <>
      <TrackHead id="transactions">
        {list ? <Stages list={list} /> : <span>in flight; zoom in to see each</span>}
      </TrackHead>
      <Lanes title="Transactions" lanes={list ? lanes : flightLanes()} version={list ?? answer.value} hint={hint} />
    </>
  );
}

/** What the colours mean, network by network. */
function Stages({ list }: { list: TransactionList }) {
  const theme = themeOf(settings.value);
  return (
    <>
      {list.networks.map(({ name, stages }) => (
        <span key={name} class="track-legend">
          {name}
          {stages.map((stage, index) => (
            <span key={stage}>
              <i class="swatch" style={{ background: fillOf(theme, index) }} />
              {stage}
            </span>
          ))}
        </span>
      ))}
    </>
  );
}

function laneOf(list: TransactionList, lane: TransactionLane): Lane {
  return {
    key: `${lane.network} ${lane.port}`,
    name: lane.name,
    height: Math.max(1, lane.rows.length) * ROW_HEIGHT + 4,
    draw: (canvas, box) => drawTransactions(canvas, box, list, lane),
    valueAt: (cycle) => {
      const count = lane.rows.flat().filter((index) => !(list.birth[index]! > cycle) && !(list.end[index]! <= cycle)).length;
      return count === 0 ? '' : String(count);
    },
    describe: (cycle, slack, y) => {
      const index = transactionAt(list, lane, cycle, slack, y);
      return index === null ? [] : list.details[index]!;
    },
  };
}

/** The catalogs of the networks: how many are in flight. */
function flightLanes(): Lane[] {
  const { schema, storageNames } = info.value ?? { schema: null, storageNames: [] };
  return (answer.value?.buffers ?? []).flatMap((columns, index): Lane[] => {
    const def = schema?.storages[columns.id];
    if (def?.name !== 'transactions') return [];
    return [
      {
        key: storageNames[columns.id]!,
        name: storageNames[columns.id]!,
        height: FLIGHT_HEIGHT,
        colour: (theme) => fillOf(theme, index),
        draw: (canvas, box) => drawOccupancy(canvas, box, columns, def.numSlots, fillOf(canvas.theme, index)),
      },
    ];
  });
}
