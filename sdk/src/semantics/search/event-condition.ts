/** A term about events, as it is asked of instructions: something happened to one, or while it was in flight. */
import type { Trace } from '../../reader/index.js';
import {
  birthTick,
  endTick,
  firstOf,
  type InstructionBlock,
  psOf,
  type SideColumns,
  sideTick,
} from '../blocks/block.js';
import type { CpuCore } from '../cpu/cores.js';
import { EventMatcher } from './event-matcher.js';
import type { EventTerm } from './pattern.js';
import type { RowCondition } from './row-conditions.js';

/** Segments whose events are kept: those that instructions of one block are in flight in. */
const MAX_SEGMENTS = 64;

interface SegmentEvents {
  /** About no instruction, rising. */
  readonly times: readonly bigint[];
  /** By id of the instruction, rising. */
  readonly ofEntity: ReadonlyMap<number, readonly bigint[]>;
}

/**
 * Holds for an instruction where such an event names it, from its fetch to its last cycle (both included), and where one that names none happens
 * in these cycles.
 */
export class EventCondition implements RowCondition {
  private readonly matcher: EventMatcher;
  private readonly kept = new Map<number, SegmentEvents>();

  /** @throws UscopeError READER_NAME */
  constructor(
    private readonly trace: Trace,
    term: EventTerm,
    core: CpuCore,
    scopes: readonly number[] | null,
  ) {
    this.matcher = new EventMatcher(trace, term, [core], scopes);
  }

  async keep(block: InstructionBlock, rows: Uint8Array): Promise<void> {
    const lives = new Lives(block);
    const { from, to } = lives.span(rows, this.trace.totalTimePs);
    if (from > to) return;
    const first = await this.trace.firstSegmentReaching(from);
    const last = await this.trace.segmentAt(to);
    const events: SegmentEvents[] = [];
    for (let segment = first; segment <= last; segment++) events.push(await this.eventsOf(segment));
    for (let row = 0; row < rows.length; row++) {
      if (rows[row] === 0) continue;
      const [birth, end] = lives.of(row, to);
      const happened = events.some(({ times, ofEntity }) => {
        const own = ofEntity.get(block.id[row]);
        return hasBetween(times, birth, end) || (own !== undefined && hasBetween(own, birth, end));
      });
      if (!happened) rows[row] = 0;
    }
  }

  private async eventsOf(segment: number): Promise<SegmentEvents> {
    const kept = this.kept.get(segment);
    if (kept) return kept;
    const times: bigint[] = [];
    const ofEntity = new Map<number, bigint[]>();
    const loaded = await this.trace.loadSegment(segment);
    await this.matcher.match(loaded, (cursor, { subject }) => {
      if (!subject) {
        times.push(cursor.timePs);
        return;
      }
      const id = Number(subject.raw(cursor));
      const own = ofEntity.get(id);
      if (own) own.push(cursor.timePs);
      else ofEntity.set(id, [cursor.timePs]);
    });
    const events = { times, ofEntity };
    this.kept.set(segment, events);
    const [oldest] = this.kept.keys();
    if (this.kept.size > MAX_SEGMENTS) this.kept.delete(oldest);
    return events;
  }
}

/** From when to when the instructions of a block are in flight. */
class Lives {
  constructor(private readonly block: InstructionBlock) {}

  /** From the fetch to the last cycle, or to the flush: some models never clear what they flush. */
  of(row: number, last: bigint): readonly [bigint, bigint] {
    const { block } = this;
    const birth = birthTick(block, row);
    const end = endTick(block, row);
    const flushed = tickOf(block, block.flushes, row);
    const over = end >= 0 ? end : flushed;
    return [birth < 0 ? 0n : psOf(block, birth), over < 0 ? last : psOf(block, over)];
  }

  /** Of the rows wanted; `from` after `to`: there are none. */
  span(rows: Uint8Array, last: bigint): { from: bigint; to: bigint } {
    let [from, to] = [last + 1n, 0n];
    for (let row = 0; row < rows.length; row++) {
      if (rows[row] === 0) continue;
      const [birth, end] = this.of(row, last);
      if (birth < from) from = birth;
      if (end > to) to = end;
    }
    return { from, to };
  }
}

function tickOf(block: InstructionBlock, side: SideColumns, row: number): number {
  const at = firstOf(side, row);
  return side.row[at] === row ? sideTick(block, side, at) : -1;
}

/** Whether one of the times, rising, is from `from` to `to`, both included. */
function hasBetween(times: readonly bigint[], from: bigint, to: bigint): boolean {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle] < from) low = middle + 1;
    else high = middle;
  }
  return low < times.length && times[low] <= to;
}
