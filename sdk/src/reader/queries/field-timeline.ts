/** One field of one slot through time: which value it had from when to when. */

import { rangeBounds } from '../arguments.js';
import { interpret } from '../payload.js';
import type { Trace } from '../trace.js';
import type { TimeRange } from '../walker.js';
import { type Change, history, requireWatchable } from './history.js';
import { stateBefore } from './state-before.js';

export interface FieldOfSlot {
  /** Path, own name or id. */
  readonly storage: string | number;
  readonly slot: number;
  /** Name or index. */
  readonly field: string | number;
}

/** Start inclusive, end exclusive, in ps; longer than nothing. */
export interface FieldInterval {
  readonly fromPs: bigint;
  readonly toPs: bigint;
  /** null: the slot was free. Values of signed types are signed. */
  readonly value: bigint | null;
}

/**
 * The values of a field over a range, without gaps; intervals next to each other differ. What a field holds between the frames of one instant
 * is not among them. The last interval ends with the range, or one ps after the last frame.
 * @throws UscopeError READER_NAME, READER_RANGE (no such slot), FORMAT_* for damage, after the intervals before it
 */
export async function* fieldTimeline(
  trace: Trace,
  { storage, slot, field }: FieldOfSlot,
  range: TimeRange = {},
): AsyncGenerator<FieldInterval> {
  const def = trace.names.storage(storage);
  const index = trace.names.field(def, field);
  const { from, to } = rangeBounds(range);
  const end = to ?? trace.totalTimePs + 1n;
  // The other fields too: a write to any of them takes a free slot.
  const watches = [{ storage, slots: [slot, slot] }] as const;
  requireWatchable(trace, watches);
  const state = await stateBefore(trace, from);
  const stored = state.value(def.storageId, slot, index);
  const { layout } = state;
  const hasFree = (layout.sparse[def.storageId] | layout.buffer[def.storageId]) !== 0;
  const isFree = hasFree && !state.slotOccupied(def.storageId, slot);
  const timeline = new Intervals(from, isFree ? null : interpret(def.fields[index].type, stored));
  for await (const change of history(trace, watches, range)) {
    const value = valueAfter(change, index, hasFree);
    if (value !== undefined) yield* timeline.change(change.timePs, value);
  }
  yield* timeline.finish(end);
}

/** Value of a field after a change of its slot; undefined: as before. */
function valueAfter(change: Change, field: number, hasFree: boolean): bigint | null | undefined {
  if (change.kind === 'clear') return hasFree ? null : 0n;
  if (change.kind === 'property') return undefined;
  if (change.field === field) return change.after;
  return change.taken ? 0n : undefined;
}

/** Joins changes into intervals: those of one instant count as one, and those that change nothing not at all. */
class Intervals {
  private next: bigint | null;
  private nextSince: bigint;

  constructor(
    private since: bigint,
    private value: bigint | null,
  ) {
    this.next = value;
    this.nextSince = since;
  }

  *change(timePs: bigint, value: bigint | null): Generator<FieldInterval> {
    if (timePs > this.nextSince) yield* this.settle();
    this.next = value;
    this.nextSince = timePs;
  }

  *finish(end: bigint): Generator<FieldInterval> {
    yield* this.settle();
    if (end > this.since) yield { fromPs: this.since, toPs: end, value: this.value };
  }

  /** The instant of the last change is over. */
  private *settle(): Generator<FieldInterval> {
    if (this.next === this.value) return;
    if (this.nextSince > this.since) yield { fromPs: this.since, toPs: this.nextSince, value: this.value };
    this.since = this.nextSince;
    this.value = this.next;
  }
}
