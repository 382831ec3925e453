/**
 * Rows of coarser buckets from finer ones that come in order of time: sums add up, least and greatest combine. Neighbouring segments share a bucket
 * where one ends inside it.
 */
import { ChannelKind, type ClockGroup } from '../channels.js';
import type { TimePart } from '../time-part.js';

/** A row that is finished, or as far as it is known. */
export interface LevelRow {
  readonly bucket: number;
  /** Buckets it covers: more than 1 where nothing happened in any of them. */
  readonly span: number;
  /** By column of the group; sums of occupancy in slots · ps. */
  readonly values: Float64Array;
  /** It lacks what segments without a part TIME hold. */
  readonly lacks: boolean;
}

/** Parts in order of time, as far as a level takes them. */
export type RowSource = Pick<
  TimePart,
  'firstBucket' | 'bucketCycles' | 'rows' | 'spans' | 'columns' | 'unitPs'
> & {
  /** Its rows lack what segments without a part TIME hold. */
  readonly lacks?: boolean;
};

export class Coarsener {
  /** The bucket after the last row. */
  private next = -1;
  private open: { bucket: number; readonly values: Float64Array; lacks: boolean } | null = null;
  private readonly occupancy: readonly number[];
  /** Column -> 1: sums, 0: part of an occupancy. */
  private readonly isSum: Uint8Array;

  /** @param emit takes each row when it is finished */
  constructor(
    private readonly group: ClockGroup,
    readonly bucketCycles: number,
    private readonly onRow: (row: LevelRow) => void,
  ) {
    this.occupancy = occupancyColumns(group);
    this.isSum = new Uint8Array(group.columns).fill(1);
    for (const column of this.occupancy) this.isSum.fill(0, column, column + 3);
  }

  /** The row that more may come to; null: none. */
  get unfinished(): LevelRow | null {
    return this.open && { ...this.open, span: 1 };
  }

  /** Rows of a bucket of this level or a finer one, not before those that came before. */
  add(part: RowSource): void {
    const ratio = this.bucketCycles / part.bucketCycles;
    let start = part.firstBucket;
    for (let row = 0; row < part.rows; row++) {
      const span = part.spans[row]!;
      if (span === 1) this.take(part, row, Math.floor(start / ratio));
      else this.spread(part, row, start, span, ratio);
      start += span;
    }
  }

  finish(): void {
    const { open } = this;
    this.open = null;
    if (open) this.emit({ ...open, span: 1 });
  }

  /** Rows follow each other: where nothing is known of a while, nothing happened in it. */
  private emit(row: LevelRow): void {
    const gap = row.bucket - this.next;
    if (this.next >= 0 && gap > 0) {
      const values = new Float64Array(this.group.columns);
      this.onRow({ bucket: this.next, span: gap, values, lacks: false });
    }
    this.next = row.bucket + row.span;
    this.onRow(row);
  }

  private at(bucket: number, lacks = false): Float64Array {
    if (!this.open || bucket > this.open.bucket) {
      this.finish();
      this.open = { bucket, values: new Float64Array(this.group.columns), lacks: false };
    }
    this.open.lacks ||= lacks;
    return this.open.values;
  }

  private take(part: RowSource, row: number, bucket: number): void {
    const values = this.at(bucket, part.lacks);
    this.addSums(part, row, values);
    for (const column of this.occupancy) {
      addOccupancy(values, column, part.columns[column]![row]! * part.unitPs, part, row);
    }
  }

  private addSums({ columns }: RowSource, row: number, values: Float64Array): void {
    const { isSum } = this;
    for (let column = 0; column < values.length; column++) {
      if (isSum[column]) values[column] = values[column]! + columns[column]![row]!;
    }
  }

  /** A row over several buckets: what the buffers held is the same in all of them, and nothing else happened. */
  private spread(part: RowSource, row: number, start: number, span: number, ratio: number): void {
    const end = start + span;
    const bucketPs = part.bucketCycles * this.group.periodPs;
    const share = (values: Float64Array, buckets: number): void => {
      for (const column of this.occupancy) {
        addOccupancy(values, column, shareOf(part, column, row, buckets, span, bucketPs), part, row);
      }
    };
    const first = Math.floor(start / ratio);
    const head = Math.min(end, (first + 1) * ratio);
    const values = this.at(first, part.lacks);
    this.addSums(part, row, values);
    share(values, head - start);
    const last = Math.floor(end / ratio);
    const whole = last - Math.ceil(head / ratio);
    if (head < end && whole > 0) {
      this.finish();
      const between = new Float64Array(this.group.columns);
      share(between, whole * ratio);
      this.emit({ bucket: first + 1, span: whole, values: between, lacks: part.lacks ?? false });
    }
    const rest = end - Math.max(head, last * ratio);
    if (rest > 0 && last > first) share(this.at(last, part.lacks), rest);
  }
}

/** Slots · ps of a number of a row's buckets. */
function shareOf(
  { columns, unitPs }: RowSource,
  column: number,
  row: number,
  buckets: number,
  span: number,
  bucketPs: number,
): number {
  const [least, greatest] = [columns[column + 1]![row]!, columns[column + 2]![row]!];
  // Exact where the number of slots is the same all along, as it should be.
  if (least === greatest && least > 0) return (least - 1) * buckets * bucketPs;
  return (columns[column]![row]! * unitPs * buckets) / span;
}

function addOccupancy(
  values: Float64Array,
  column: number,
  sum: number,
  { columns }: RowSource,
  row: number,
): void {
  values[column] = values[column]! + sum;
  combineExtremes(values, column, columns[column + 1]![row]!, columns[column + 2]![row]!);
}

/** Least + 1 and greatest + 1 of both; 0: the row lasts no time. */
export function combineExtremes(values: Float64Array, column: number, least: number, greatest: number): void {
  const known = values[column + 1]!;
  if (least > 0 && (known === 0 || least < known)) values[column + 1] = least;
  if (greatest > values[column + 2]!) values[column + 2] = greatest;
}

/** The first column of each occupancy: sum, least + 1, greatest + 1. */
export function occupancyColumns({ channels }: ClockGroup): number[] {
  return channels.filter(({ kind }) => kind === ChannelKind.OCCUPANCY).map(({ column }) => column);
}
