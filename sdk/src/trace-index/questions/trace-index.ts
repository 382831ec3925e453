/** The questions that the index of a trace answers. */
import { UscopeError } from '../../base/errors.js';
import type { IndexPartBytes } from '../../format/index-container.js';
import type { Source, Trace } from '../../reader/index.js';
import { lastFramePs } from '../../semantics/cpu/query-range.js';
import { BUCKET_CYCLES, type Channel, ChannelKind, type ClockGroup } from '../channels.js';
import type { SegmentParts } from '../containers/segment-parts.js';
import type { Directory } from '../directory/directory.js';
import type { IndexPlan } from '../plan.js';
import type { RowLevel } from '../rows/row-levels.js';
import { type BufferContents, bufferContents } from './buffer-at.js';
import { EventTimes } from './event-times.js';
import type { ColumnFinder } from './find.js';
import { type CoarseLevels, LevelSet } from './level-set.js';
import { type RowGroupsFound, type RowRange, rowGroups } from './row-groups.js';
import { RowPlaces, type RowSource } from './row-places.js';
import { memoryRowLevels, SegmentRowLevel } from './segment-rows.js';
import type { SegmentCandidate, TextQuery } from './segments-with.js';
import { columnFinder, RetiredRows, segmentsWith } from './seldom.js';
import {
  cycleArgument,
  type Extent,
  type GivenIntervals,
  gridOf,
  gridOver,
  readSeries,
  readSums,
  type Series,
  type SeriesRange,
} from './series.js';

/** A channel, by itself or by what it counts and the name of its storage, event or core. */
export type ChannelName = Channel | { readonly kind: ChannelKind; readonly name: string };

/** What is looked for: a channel that counts events (all of its columns), or one label of it. */
export interface Wanted {
  readonly channel: ChannelName;
  /** Label of an enum value; by default any. */
  readonly label?: string | undefined;
}

export class TraceIndex {
  readonly trace: Trace;
  readonly plan: IndexPlan;
  private readonly sets: readonly LevelSet[];
  /** By core, as of a number of segments. */
  private readonly levelsOfRows = new Map<
    number,
    { segments: number; levels: Promise<readonly RowLevel[]> }
  >();
  private readonly retired = new WeakMap<readonly RowLevel[], RetiredRows>();
  private readonly rows: RowPlaces;
  private readonly events: EventTimes;

  /** Use `openIndex`. */
  constructor(
    private readonly parts: SegmentParts,
    coarse: CoarseLevels,
    /** Where the index is. */
    readonly origin: 'trace' | 'sidecar' | 'memory',
    /** Start of the trace in ps, where that is known already. */
    private startPs: number | null = null,
    private readonly sidecar: Source | null = null,
    private readonly directory: Directory | null = null,
  ) {
    this.trace = parts.trace;
    this.plan = parts.plan;
    this.sets = this.plan.groups.map(({ index }) => new LevelSet(parts, index, coarse));
    this.rows = new RowPlaces(parts, coarse);
    this.events = new EventTimes(parts.trace);
  }

  /** Lets go of the file beside the trace, if there is one; the trace stays open. */
  async close(): Promise<void> {
    await this.sidecar?.close?.();
  }

  /** Everything that is counted, group by group. */
  get channels(): readonly Channel[] {
    return this.plan.groups.flatMap(({ channels }) => channels);
  }

  /** @throws UscopeError READER_NAME when nothing of that name is counted so */
  channel(name: ChannelName): Channel {
    const found = this.channels.find((one) => one.kind === name.kind && one.name === name.name);
    if (found) return found;
    const known = this.channels.filter(({ kind }) => kind === name.kind).map((one) => one.name);
    const shown = known.slice(0, 12).join(', ') || 'none';
    throw new UscopeError(
      'READER_NAME',
      `the index has no "${name.name}" of kind ${name.kind}; it has: ${shown}`,
    );
  }

  /** The clock by which a channel counts. */
  groupOf(channel: Channel): ClockGroup {
    return this.plan.groups.find(({ channels }) => channels.includes(channel))!;
  }

  /** The part of a group's time that the trace covers now. @throws UscopeError READER_RANGE when it has no segments */
  async extent(group: number): Promise<Extent> {
    const { trace } = this;
    // Of a finalized trace the number is known before the table is read.
    if (trace.segmentCount === 0) {
      throw new UscopeError('READER_RANGE', 'the trace has no segments yet');
    }
    const toPs = Number(lastFramePs(trace));
    this.startPs ??= Number((await trace.segment(0)).timeStartPs);
    const fromPs = this.startPs;
    const { periodPs } = this.plan.groups[group]!;
    const [from, to] = [Math.floor(fromPs / periodPs), Math.floor(toPs / periodPs) + 1];
    return { from, to, fromPs, toPs };
  }

  /**
   * Numbers of channels of one clock over equal intervals: exact sums, means, least and greatest values.
   * @throws UscopeError READER_NAME, READER_RANGE (a range outside of the trace, channels of different clocks), FORMAT_* for damage
   */
  async series(channels: ChannelName | readonly ChannelName[], range: SeriesRange = {}): Promise<Series> {
    const wanted = (Array.isArray(channels) ? channels : [channels]).map((one) => this.channel(one));
    const groups = new Set(wanted.map((one) => this.groupOf(one)));
    const [group] = groups;
    if (groups.size !== 1 || !group) {
      throw new UscopeError('READER_RANGE', 'a series takes channels of one clock, and at least one');
    }
    const set = this.sets[group.index]!;
    const extent = await this.extent(group.index);
    const grid = gridOf(extent, range, await set.available());
    return readSeries(set, group, wanted, grid, extent);
  }

  /**
   * Sums of a channel's columns over intervals that begin and end at multiples of 256 cycles, as they are stored: of an occupancy slots · ps, least + 1,
   * greatest + 1 (0: no time passed). null: the intervals begin elsewhere.
   * @throws UscopeError READER_NAME, FORMAT_* for damage
   */
  async sumsOver(
    name: ChannelName,
    intervals: GivenIntervals,
  ): Promise<{ readonly columns: readonly Float64Array[]; readonly isExact: boolean } | null> {
    const found = await this.sumsOfAll([this.channel(name)], intervals);
    return found && { columns: found.sums[0]!, isExact: found.isExact };
  }

  /** The same of several channels of one clock: by channel and column. */
  async sumsOfAll(
    channels: readonly Channel[],
    intervals: GivenIntervals,
  ): Promise<{ readonly sums: readonly (readonly Float64Array[])[]; readonly isExact: boolean } | null> {
    const group = this.groupOf(channels[0]!);
    const set = this.sets[group.index]!;
    const grid = gridOver(intervals, await set.available());
    return grid && readSums(set, group, channels, grid);
  }

  /** A part of a segment's index as it is stored (docs/reference/format.md#index-containers); null: there is none of that kind. */
  storedPart(segment: number, kind: number, subject = 0): Promise<Uint8Array | null> {
    return this.parts.storedPart(segment, kind, subject);
  }

  /** All of a segment's parts as they are stored, from one read; null: it has no container. */
  storedParts(segment: number): Promise<readonly IndexPartBytes[] | null> {
    return this.parts.storedParts(segment);
  }

  /** A part that the stored index lacks, counted from the segment itself. @throws UscopeError FORMAT_* where that is damaged */
  countedPart(segment: number, kind: number, subject = 0): Promise<Uint8Array | null> {
    return this.parts.countedPart(segment, kind, subject);
  }

  /**
   * The first cycle at or after `cycle` in which an event wanted happens; null: none does.
   * @throws UscopeError READER_NAME, READER_RANGE, FORMAT_* for damage
   */
  async next(wanted: Wanted, cycle: number): Promise<number | null> {
    const { channel, column, columns } = this.eventColumn(wanted);
    const from = Math.max(0, cycleArgument(cycle));
    const finder = this.finder(channel, column, columns);
    const first = Math.floor(from / BUCKET_CYCLES);
    for (let bucket = await finder.next(first); bucket !== null; bucket = await finder.next(bucket + 1)) {
      const start = Math.max(from, bucket * BUCKET_CYCLES);
      const found = await this.eventsIn(channel, wanted.label, start, (bucket + 1) * BUCKET_CYCLES, 'first');
      if (found !== null) return found;
    }
    return null;
  }

  /** The last cycle before `cycle` in which an event wanted happens; null: none does. @throws as `next` */
  async previous(wanted: Wanted, cycle: number): Promise<number | null> {
    const { channel, column, columns } = this.eventColumn(wanted);
    const end = cycleArgument(cycle);
    const finder = this.finder(channel, column, columns);
    let bucket = await finder.previous(Math.floor((end - 1) / BUCKET_CYCLES) + 1);
    while (bucket !== null) {
      const start = bucket * BUCKET_CYCLES;
      const found = await this.eventsIn(
        channel,
        wanted.label,
        start,
        Math.min(end, start + BUCKET_CYCLES),
        'last',
      );
      if (found !== null) return found;
      bucket = await finder.previous(bucket);
    }
    return null;
  }

  /** How many instructions of a core were born before a cycle: the row of the first one born at or after it. @throws as `next` */
  async rowAt(core: number, cycle: number): Promise<number> {
    return this.rows.rowAt(this.rowSource(core), cycleArgument(cycle));
  }

  /** When row number `row` of a core was born, in cycles; null: there are fewer. @throws as `next` */
  async cycleOfRow(core: number, row: number): Promise<number | null> {
    return this.rows.cycleOf(this.rowSource(core), row);
  }

  /**
   * Rows of a core born before a segment: `firstRow` of its block. Of the number of segments: all rows of the trace.
   * @throws UscopeError READER_NAME, FORMAT_* for damage
   */
  async birthsBefore(core: number, segment: number): Promise<number> {
    const { segmentCount } = this.trace;
    if (Number.isInteger(segment) && segment >= 0 && segment <= segmentCount) {
      return this.rows.birthsBefore(this.rowSource(core), segment);
    }
    throw new UscopeError('READER_RANGE', `there is no segment ${segment}: the trace has ${segmentCount}`);
  }

  /**
   * The rows of a core in groups, from 64 instructions a group (as the containers have them) to the coarsest.
   * @throws UscopeError READER_NAME, READER_*, FORMAT_* for damage
   */
  rowLevels(core: number): Promise<readonly RowLevel[]> {
    const { segmentCount } = this.trace;
    const known = this.levelsOfRows.get(core);
    if (known?.segments === segmentCount) return known.levels;
    const levels = this.readRowLevels(core);
    this.levelsOfRows.set(core, { segments: segmentCount, levels });
    levels.catch(() => this.levelsOfRows.delete(core));
    return levels;
  }

  /**
   * Rows added up for a picture: groups of the coarsest level with at most as many rows each as `most` groups of the range would have.
   * @param range numbers of rows, the end exclusive
   * @throws UscopeError READER_NAME, READER_RANGE, FORMAT_* for damage
   */
  async rowGroups(core: number, range: RowRange, most: number): Promise<RowGroupsFound> {
    return rowGroups(await this.rowLevels(core), range, most);
  }

  /**
   * The retired number of a row: rows of smaller numbers that retired. null: the index does not know it of all of them.
   * @throws UscopeError READER_NAME, READER_RANGE, FORMAT_* for damage
   */
  async retiredBefore(core: number, row: number): Promise<number | null> {
    return (await this.retiredRows(core)).before(row);
  }

  /** The row with a retired number, and back; null: there is none, or the index does not know. @throws as `retiredBefore` */
  async rowOfRetired(core: number, number: number): Promise<number | null> {
    return (await this.retiredRows(core)).rowOf(number);
  }

  private async retiredRows(core: number): Promise<RetiredRows> {
    const levels = await this.rowLevels(core);
    const known = this.retired.get(levels);
    if (known) return known;
    const birthsBefore = (segment: number) => this.birthsBefore(core, segment);
    const made = new RetiredRows(this.trace, this.plan.cores[core]!.core, levels, birthsBefore);
    this.retired.set(levels, made);
    return made;
  }

  private async readRowLevels(core: number): Promise<readonly RowLevel[]> {
    const source = this.rowSource(core);
    const { stages } = this.plan.cores[core]!.rows!;
    const birthsBefore = (segment: number) => this.rows.birthsBefore(source, segment);
    const of = { parts: this.parts, core, stages, birthsBefore };
    const stored = this.directory?.rowLevels(core) ?? [];
    return [new SegmentRowLevel(of), ...(stored.length > 0 ? stored : await memoryRowLevels(of))];
  }

  /**
   * Segments in which instructions were born, or events happened, that a search looks for; and those of which that is not known. Other segments have none.
   * @throws UscopeError READER_*, FORMAT_* for damage
   */
  segmentsWith(query: TextQuery): AsyncGenerator<SegmentCandidate> {
    return segmentsWith(this.parts, this.directory, query);
  }

  /**
   * What a buffer of a core - or its catalog - holds at the start of a cycle, and the instructions in it.
   * @param buffer path or name of the storage
   * @throws UscopeError READER_NAME (no such storage), READER_RANGE (before the trace), FORMAT_* for damage
   */
  async bufferAt(core: number, buffer: string, cycle: number): Promise<BufferContents> {
    const source = this.rowSource(core);
    const { entities } = this.plan.cores[core]!.core;
    const timePs = cycleArgument(cycle) * source.periodPs;
    const state = await this.trace.stateAt(timePs);
    const { def } = state.storage(buffer);
    const idField =
      def.storageId === source.storageId
        ? (entities?.idField ?? -1)
        : def.fields.findIndex(({ name }) => name === 'entity_id');
    return bufferContents(state, def.storageId, idField, entities, (slots) =>
      this.rows.rowsIn(source, slots, timePs),
    );
  }

  /** Sums of columns of a channel, and where they are reached. */
  finder(channel: Channel, column = 0, columns = 1): ColumnFinder {
    return columnFinder(this.sets[this.groupOf(channel).index]!, channel.column + column, columns);
  }

  private rowSource(core: number): RowSource {
    const planned = this.plan.cores[core];
    const group = this.plan.groups[planned?.group ?? -1];
    const storageId = planned?.core.entities?.def.storageId;
    if (group && storageId !== undefined) return { core, storageId, periodPs: group.periodPs };
    throw new UscopeError('READER_NAME', `the index counts no instructions of core ${core}`);
  }

  private eventColumn({ channel: name, label }: Wanted): {
    channel: Channel;
    column: number;
    columns: number;
  } {
    const channel = this.channel(name);
    const { kind, labels } = channel;
    if (kind !== ChannelKind.EVENTS && kind !== ChannelKind.FLUSHES && kind !== ChannelKind.STALLS) {
      throw new UscopeError('READER_NAME', `"${channel.name}" counts no events`);
    }
    const hasTotal = kind !== ChannelKind.EVENTS;
    if (label === undefined) return { channel, column: 0, columns: hasTotal ? 1 : channel.columns };
    const index = labels?.names.indexOf(label) ?? -1;
    if (index >= 0) return { channel, column: index + (hasTotal ? 1 : 0), columns: 1 };
    throw new UscopeError(
      'READER_NAME',
      `"${channel.name}" has no label "${label}"; it has: ${labels?.names.join(', ') ?? 'none'}`,
    );
  }

  /** The first or last event wanted in `[fromCycle, toCycle)`: its cycle. */
  private async eventsIn(
    channel: Channel,
    label: string | undefined,
    fromCycle: number,
    toCycle: number,
    which: 'first' | 'last',
  ): Promise<number | null> {
    const { periodPs } = this.groupOf(channel);
    const { labels } = channel;
    const index = label === undefined ? -1 : (labels?.names.indexOf(label) ?? -1);
    const wanted = {
      eventType: this.eventType(channel),
      label: labels && index >= 0 ? { labels, index } : null,
    };
    const [fromPs, endPs] = [BigInt(fromCycle) * BigInt(periodPs), BigInt(toCycle) * BigInt(periodPs)];
    const found = await this.events.find(wanted, { fromPs, endPs }, which);
    return found === null ? null : Math.floor(found / periodPs);
  }

  private eventType({ kind, subject }: Channel): number {
    if (kind === ChannelKind.EVENTS) return subject;
    const { events } = this.plan.cores[subject]!.core;
    return events.get(kind === ChannelKind.FLUSHES ? 'flush' : 'stall')!.def.eventTypeId;
  }
}
