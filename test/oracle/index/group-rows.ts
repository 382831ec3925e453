/** The rows of one clock group while a segment is walked, and the buffers in it. */
import { BUCKET_CYCLES, ChannelKind, type ClockGroup } from '../../../sdk/src/trace-index/channels.js';
import { zigzag } from '../../../sdk/src/trace-index/columns.js';
import type { PartTimes, TimeRows } from '../../../sdk/src/trace-index/time-part.js';

const U64 = (1n << 64n) - 1n;

/** How many slots of a storage are taken, as a step function of time. */
class Track {
  readonly histogram = new Map<number, bigint>();
  /** Of the present row: least (-1: it has not lasted any time yet) and greatest. */
  private least = -1;
  private most = 0;

  constructor(
    private readonly column: number,
    private count: number,
    private since: bigint,
  ) {}

  /** What is there has lasted until then. */
  lasted(until: bigint, row: bigint[]): void {
    const { count, since } = this;
    if (until <= since) return;
    const time = until - since;
    row[this.column] = row[this.column]! + BigInt(count) * time;
    this.histogram.set(count, (this.histogram.get(count) ?? 0n) + time);
    if (this.least < 0 || count < this.least) this.least = count;
    if (count > this.most) this.most = count;
    this.since = until;
  }

  change(count: number, time: bigint, row: bigint[]): void {
    this.lasted(time, row);
    this.count = count;
  }

  /** The row ends. */
  close(row: bigint[]): void {
    if (this.least >= 0) {
      row[this.column + 1] = BigInt(this.least + 1);
      row[this.column + 2] = BigInt(this.most + 1);
    }
    this.least = -1;
    this.most = 0;
  }
}

export class GroupRows {
  /** The present row, by column. */
  row: bigint[];
  private readonly rows: { readonly span: bigint; readonly row: readonly bigint[] }[] = [];
  private readonly tracks = new Map<number, Track>();
  private readonly bucketPs: bigint;
  private readonly periodPs: bigint;
  private bucket: bigint;
  private isAligned: boolean;
  /** Cycle of the present frame, and the last one that a column has counted. */
  private cycle = -1n;
  private readonly counted = new Map<number, bigint>();

  /** @param counted columns that have counted the cycle of `fromPs` */
  constructor(
    private readonly group: ClockGroup,
    private readonly fromPs: bigint,
    counted: readonly number[],
  ) {
    this.periodPs = BigInt(group.periodPs);
    this.bucketPs = this.periodPs * BigInt(BUCKET_CYCLES);
    this.bucket = fromPs / this.bucketPs;
    this.isAligned = fromPs % this.periodPs === 0n;
    this.row = this.emptyRow();
    for (const column of counted) this.counted.set(column, fromPs / this.periodPs);
  }

  private emptyRow(): bigint[] {
    return new Array<bigint>(this.group.columns).fill(0n);
  }

  /** A storage of the group, with this number of slots taken from the start on. */
  track(storageId: number, count: number): void {
    const channel = this.group.channels.find(
      ({ kind, subject }) => kind === ChannelKind.OCCUPANCY && subject === storageId,
    );
    this.tracks.set(storageId, new Track(channel!.column, count, this.fromPs));
  }

  /** A frame, or the start of the segment. */
  advance(time: bigint): void {
    if (time % this.periodPs !== 0n) this.isAligned = false;
    this.cycle = time / this.periodPs;
    const bucket = time / this.bucketPs;
    if (bucket === this.bucket) return;
    this.close(this.bucket + 1n);
    if (bucket > this.bucket) this.close(bucket);
  }

  /** The present row ends where bucket `next` begins. */
  private close(next: bigint): void {
    for (const track of this.tracks.values()) track.lasted(next * this.bucketPs, this.row);
    this.push(next);
  }

  private push(next: bigint): void {
    for (const track of this.tracks.values()) track.close(this.row);
    this.rows.push({ span: next - this.bucket, row: this.row.map((value) => value & U64) });
    this.row = this.emptyRow();
    this.bucket = next;
  }

  change(storageId: number, count: number, time: bigint): void {
    this.tracks.get(storageId)?.change(count, time, this.row);
  }

  add(column: number, by = 1n): void {
    this.row[column] = this.row[column]! + by;
  }

  /** Counts the present cycle, once. */
  addCycle(column: number): void {
    if (this.counted.get(column) === this.cycle) return;
    this.counted.set(column, this.cycle);
    this.add(column);
  }

  /** Columns that have counted the present cycle, ascending. */
  countedNow(): number[] {
    return [...this.counted.keys()]
      .filter((column) => this.counted.get(column) === this.cycle)
      .sort((a, b) => a - b);
  }

  /** The last frame was at `toPs`. */
  finish(toPs: bigint, isExact: boolean): { rows: TimeRows; histograms: ReadonlyMap<number, bigint>[] } {
    for (const track of this.tracks.values()) track.lasted(toPs, this.row);
    this.push(this.bucket + 1n);
    const unit = this.isAligned ? this.periodPs : 1n;
    const times: PartTimes = { fromPs: this.fromPs, toPs, isExact, unitPs: Number(unit) };
    const ofKind = (wanted: ChannelKind) =>
      new Set(this.group.channels.filter(({ kind }) => kind === wanted).map(({ column }) => column));
    const [sums, signed] = [ofKind(ChannelKind.OCCUPANCY), ofKind(ChannelKind.DELTA)];
    const stored = (value: bigint, column: number): bigint =>
      sums.has(column) ? value / unit : signed.has(column) ? zigzag(value) : value;
    const columns = Array.from({ length: this.group.columns }, (_, column) =>
      this.rows.map(({ row }) => stored(row[column]!, column)),
    );
    const histograms = [...this.tracks.values()].map(
      ({ histogram }) => new Map([...histogram].map(([count, time]) => [count, time / unit] as const)),
    );
    return { rows: { ...times, spans: this.rows.map(({ span }) => span), columns }, histograms };
  }
}
