/** Counters, occupancies, events and values of slots over a window of time: replayed where it is short, else from the index. */
import {
  MAX_COLUMNS,
  REPLAY_CYCLES,
  REPLAY_CYCLES_WITHOUT_INDEX,
  type WindowAnswer,
  type WindowArgs,
} from '../../model/window.js';
import { indexedWindow } from '../window-index.js';
import { replayWindow } from '../window-replay.js';
import type { Question } from './question.js';

export const window: Question<WindowArgs, WindowAnswer> = async (args, context, signal) => {
  const cycles = args.to - args.from;
  // Of an axis without clock a cycle is a picosecond: what counts is how much of the trace it is.
  const shortest = context.info.clocks.reduce((least, { periodPs }) => Math.min(least, periodPs), 1e6);
  const clockCycles = context.info.clock ? cycles : cycles / Math.max(1, shortest);
  const fits = cycles / args.step <= MAX_COLUMNS;
  if (clockCycles <= REPLAY_CYCLES && fits) return replayWindow(args, context, signal);
  const index = await context.index();
  if (index) return indexedWindow(args, context, index, signal);
  if (clockCycles <= REPLAY_CYCLES_WITHOUT_INDEX && fits) return replayWindow(args, context, signal);
  return {
    args,
    source: 'none',
    isExact: false,
    counters: [],
    buffers: [],
    events: [],
    marks: null,
    values: [],
  };
};
