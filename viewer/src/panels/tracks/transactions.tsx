/** Transactions of networks: a lane for each port; zoomed out, how many are in flight. */
import { effect, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { AskError } from '../../data/asker.js';
import { fillOf, themeOf } from '../../model/palette.js';
import {
  type TransactionAnswer,
  type TransactionArgs,
  type TransactionList,
} from '../../model/transactions.js';
import { currentEngine } from '../../page/threads/current-engine.js';
import { info, settings } from '../../page/store.js';
import { endOf, transactionWindowFor } from '../../model/time-view.js';
import { timeView } from '../../page/time.js';
import { described } from '../../page/questions/track-choices.js';
import { answer } from '../../page/questions/window-feed.js';
import { transactionLanes } from '../../tracks/transaction-lanes.js';
import { flightLanes } from '../../tracks/window-lanes.js';
import { Lanes } from './lanes.js';
import { TrackHead } from './track-head.js';

/** The latest answer, which the track shows. */
export const transactionsShown = signal<TransactionAnswer | null>(null);

const problem = signal<string | null>(null);

/** Keeps the answer up to date while the track is shown: one question at a time. @returns stops */
function follow(): () => void {
  let controller: AbortController | null = null;
  const ask = async (args: TransactionArgs): Promise<void> => {
    const mine = new AbortController();
    controller = mine;
    try {
      const found = await currentEngine()?.questionThread('transactions').ask('transactions', args, mine.signal);
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
    const args = transactionWindowFor(view, trace.segmentCycles[0] ?? 0, trace.segmentCycles.at(-1) ?? 1);
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
  const trace = described.value;
  const lanes = useMemo(() => (list ? transactionLanes(list) : []), [list]);
  const hint = problem.value ?? (list && lanes.length === 0 ? 'none in this time' : null);
  return (
    <>
      <TrackHead id="transactions">
        {list ? <Stages list={list} /> : <span>in flight; zoom in to see each</span>}
      </TrackHead>
      <Lanes title="Transactions" lanes={list ? lanes : trace ? flightLanes({ trace, found: answer.value }) : []} version={list ?? answer.value} hint={hint} />
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
