/** Rows of a core - its instructions in order of birth - and where they are in time. */
import { UscopeError } from '../../base/errors.js';
import type { Trace } from '../../reader/index.js';
import type { SegmentParts } from '../containers/segment-parts.js';
import { BirthTimes, lowerBound } from './birth-times.js';
import { birthsIn, type CoarseLevels } from './level-set.js';

/** Segments looked back for the birth of an instruction that is still in flight. */
const LOOKBACK = 8;

/** One core of the plan, with its catalog. */
export interface RowSource {
  readonly core: number;
  readonly storageId: number;
  readonly periodPs: number;
}

export class RowPlaces {
  private readonly births: BirthTimes;
  private readonly trace: Trace;

  constructor(
    private readonly parts: SegmentParts,
    private readonly coarse: CoarseLevels,
  ) {
    this.trace = parts.trace;
    this.births = new BirthTimes(parts.trace);
  }

  /** Rows born before a segment; before the one after the last: all. */
  async birthsBefore({ core }: Pick<RowSource, 'core'>, segment: number): Promise<number> {
    const last = this.trace.segmentCount - 1;
    if (segment <= last) return this.coarse.birthsBefore(core, segment);
    // By its index: the segment itself need not be read for that.
    const { plan } = this.parts;
    const part = await this.parts.time(last, plan.cores[core]!.group, 1);
    return (await this.coarse.birthsBefore(core, last)) + birthsIn(plan, core, part);
  }

  /** Rows born before a cycle: the number of the first one born at or after it. */
  async rowAt({ core, storageId, periodPs }: RowSource, cycle: number): Promise<number> {
    const time = cycle * periodPs;
    if (time <= 0) return 0;
    const segment = await this.trace.firstSegmentReaching(time);
    const { times } = await this.births.ofSegment(segment, storageId);
    return (await this.coarse.birthsBefore(core, segment)) + lowerBound(times, time);
  }

  /** The cycle of a row's birth; null: there are fewer rows. */
  async cycleOf({ core, storageId, periodPs }: RowSource, row: number): Promise<number | null> {
    if (!Number.isInteger(row) || row < 0) {
      throw new UscopeError('READER_RANGE', `a row is a whole number from 0 on, not ${String(row)}`);
    }
    const segment = await this.segmentOf(core, row);
    const { times } = await this.births.ofSegment(segment, storageId);
    const time = times[row - (await this.coarse.birthsBefore(core, segment))];
    return time === undefined ? null : Math.floor(time / periodPs);
  }

  /** The segment in which a row was born; the last one where there are fewer rows. */
  async segmentOf(core: number, row: number): Promise<number> {
    let low = 0;
    let high = this.trace.segmentCount - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((await this.coarse.birthsBefore(core, middle)) <= row) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /**
   * The rows in slots of the catalog after the frames at or before a time; -1 where the birth lies too far back. The slots are taken then.
   */
  async rowsIn(
    { core, storageId }: RowSource,
    slots: readonly number[],
    timePs: number,
  ): Promise<Float64Array> {
    const rows = new Float64Array(slots.length).fill(-1);
    const wanted = new Map(slots.map((slot, index) => [slot, index] as const));
    const last = Math.max(0, await this.trace.segmentAt(timePs));
    for (let segment = last; segment >= 0 && segment >= last - LOOKBACK && wanted.size > 0; segment--) {
      const born = await this.births.ofSegment(segment, storageId);
      const before = await this.coarse.birthsBefore(core, segment);
      // The next greater time: births at `timePs` itself count.
      for (let index = lowerBound(born.times, timePs + 0.5) - 1; index >= 0 && wanted.size > 0; index--) {
        const slot = born.slots[index]!;
        const place = wanted.get(slot);
        if (place === undefined) continue;
        rows[place] = before + index;
        wanted.delete(slot);
      }
    }
    return rows;
  }
}
