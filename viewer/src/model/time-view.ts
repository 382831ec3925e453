/** The axis of time that pipeline and tracks share, and the windows of time that tracks ask the trace for. */
import { MAX_TRANSACTION_CYCLES, type TransactionArgs } from './transactions.js';
import { MAX_COLUMNS, type Wanted, type WindowArgs } from './window.js';

export interface TimeView {
  /** Cycle at the left edge of the plot. */
  readonly x: number;
  /** CSS pixels per cycle. */
  readonly scale: number;
  /** Of the plot, CSS pixels. */
  readonly width: number;
  /** Device pixels per CSS pixel. */
  readonly ratio: number;
}

export const xOf = ({ x, scale }: TimeView, cycle: number): number => (cycle - x) * scale;
export const endOf = ({ x, scale, width }: TimeView): number => x + width / scale;

/** Asked for beside what is on the screen, on both sides, as a part of it. */
const MARGIN = 0.5;

/** Cycles of a column: one device pixel, at least one cycle. */
export const stepOf = ({ scale, ratio }: TimeView): number => Math.max(1, Math.floor(1 / (scale * ratio)));

/**
 * The window to ask for; null: there is nothing to ask.
 * @param first cycle of the trace
 * @param last cycle after it
 */
export function windowFor(view: TimeView, what: Wanted, first: number, last: number): WindowArgs | null {
  const { counters, buffers, events, values } = what;
  if (counters.length + buffers.length + events.length + values.length === 0) return null;
  const step = stepOf(view);
  const span = view.width / view.scale;
  const align = (cycle: number): number => Math.floor(cycle / step) * step;
  const from = Math.max(align(first), align(view.x - span * MARGIN));
  const end = Math.min(last, align(endOf(view) + span * MARGIN) + step);
  const to = Math.min(end, from + MAX_COLUMNS * step);
  return to > from ? { ...what, step, from, to } : null;
}

/** The same of transactions; null: there is nothing to ask, or there are too many. */
export function transactionWindowFor(view: TimeView, first: number, last: number): TransactionArgs | null {
  const span = view.width / view.scale;
  const from = Math.max(first, Math.floor(view.x - span * MARGIN));
  const to = Math.min(last, Math.ceil(endOf(view) + span * MARGIN));
  return to > from && span * 2 <= MAX_TRANSACTION_CYCLES ? { from, to } : null;
}
