/**
 * flux to µScope: every signal with values as an event type, everything else as events of the scope `flux`. Traces and groups that are in the
 * file one after the other are put together in order of time.
 */

import { type Imported, isCut, untilCut } from '../common/cut.js';
import { EventPacker } from '../common/event-values.js';
import type { ConversionContext, TraceTarget } from '../common/foreign-format.js';
import type { Tally } from '../common/report.js';
import { checkpointIntervalFor, type TraceFrames, writeTrace } from '../common/trace-frames.js';
import type { FluxCursor } from './cursor.js';
import { EntryEmitter } from './entry-emitter.js';
import type { FluxGroup } from './groups.js';
import { buildSchema } from './import-schema.js';
import { toPs } from './mapping.js';
import type { FluxFile, FluxReadOptions, FluxStream } from './reader.js';
import { type FluxLane, Lanes, Survey } from './survey.js';
import { FluxTag, TAG_NAMES } from './types.js';

/** More groups than these are not put in order: each takes a separate pass through the file. */
const MAX_MERGED = 64;
const MAX_PS = 2n ** 63n - 1n;
/** Below it products and differences of whole numbers are exact. */
const MAX_EXACT = 2 ** 52;

/** @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT, CONVERT_UNSUPPORTED, WRITER_* */
export async function fluxToUscope(
  file: FluxFile,
  target: TraceTarget,
  context: ConversionContext,
  options: FluxReadOptions = {},
): Promise<Imported> {
  const survey = new Survey();
  const stream = await file.stream(options);
  const cut = await untilCut(async () => {
    while (await stream.more()) {
      context.signal?.throwIfAborted();
      while (stream.next()) survey.take(stream.cursor);
      context.onProgress?.(stream.part / 2);
    }
  });
  if (cut) context.onWarning?.(cut.message);
  for (const message of survey.doubts.messages()) context.onWarning?.(message);
  const { schema, dut, plans } = buildSchema(survey);
  const checkpointIntervalPs = checkpointIntervalFor(survey.spanPs, survey.entries);
  const content = { schema, dut, checkpointIntervalPs };
  const stats = await writeTrace(target, content, context.signal, async (frames) => {
    const emitter = new EntryEmitter(schema, plans, new EventPacker(schema, frames));
    const sink = new Sink(survey, frames, emitter, context);
    sink.begin();
    const quiet = options.onSkip ? { onSkip: () => undefined } : {};
    await fill(file, quiet, survey, sink, context);
  });
  return { stats, isPartial: cut !== null };
}

async function fill(
  file: FluxFile,
  options: FluxReadOptions,
  survey: Survey,
  sink: Sink,
  context: ConversionContext,
): Promise<void> {
  const count = survey.lanes.rowCount;
  if (survey.isOrdered || count < 2 || count > MAX_MERGED) {
    if (!survey.isOrdered && count > MAX_MERGED) {
      context.onWarning?.(`${count} groups are not put in order of time; ${MAX_MERGED} are the most`);
    }
    const whole = new LaneReader(await file.stream(options), survey, [], null);
    while (await whole.more()) {
      while (whole.next()) {
        sink.take(whole.cursor, whole.lane!);
        if (sink.isFull) await sink.push(whole.stream.part);
      }
    }
    return;
  }
  const { origins } = survey;
  const readers: LaneReader[] = [];
  for (let row = 0; row < count; row++) {
    const reader = new LaneReader(await file.stream(options), survey, origins, row);
    if (await reader.advance()) readers.push(reader);
  }
  await merge(readers, sink);
}

async function merge(readers: LaneReader[], sink: Sink): Promise<void> {
  while (readers.length > 0) {
    let first = readers[0];
    for (const reader of readers) if (reader.ps < first.ps) first = reader;
    const until = first.ps;
    // Everything of this time, so that the others are compared once per time.
    while (first.ps <= until) {
      sink.take(first.cursor, first.lane!);
      if (sink.isFull) await sink.push(first.stream.part);
      if (first.next() || (await first.advance())) continue;
      readers.splice(readers.indexOf(first), 1);
      break;
    }
  }
}

/** The entries of one group, or of all. */
class LaneReader {
  lane: FluxLane | null = null;
  /** Time of the present entry; never goes back. */
  ps = 0n;
  private readonly lanes = new Lanes();
  /** The position that was converted last, in halves. */
  private toldLane: FluxLane | null = null;
  private toldLo = 0;
  private toldHi = 0;

  constructor(
    readonly stream: FluxStream,
    private readonly survey: Survey,
    private readonly origins: readonly bigint[],
    private readonly wanted: number | null,
  ) {}

  get cursor(): FluxCursor {
    return this.stream.cursor;
  }

  /** To the next entry; false at the end. */
  async advance(): Promise<boolean> {
    while (await this.more()) if (this.next()) return true;
    return false;
  }

  /** Brings more bytes; false at the end, also of a file that is cut: the survey has reported that. */
  async more(): Promise<boolean> {
    try {
      return await this.stream.more();
    } catch (error) {
      if (isCut(error)) return false;
      throw error;
    }
  }

  /** To the next entry of the bytes that are here. */
  next(): boolean {
    const { stream, wanted } = this;
    while (stream.next()) {
      const found = this.lanes.laneOf(stream.cursor);
      if (!found || (wanted !== null && found.row !== wanted)) continue;
      this.lane = this.survey.lanes.all[found.index];
      this.tell(stream.cursor, this.lane);
      return true;
    }
    return false;
  }

  private tell({ group, tag }: FluxCursor, lane: FluxLane): void {
    if (this.wanted === null || group === null || tag === FluxTag.CLOS) return;
    if (lane === this.toldLane && group.lo === this.toldLo && group.hi === this.toldHi) return;
    this.toldLane = lane;
    this.toldLo = group.lo;
    this.toldHi = group.hi;
    const ps = toPs(group.position, lane.unit) - this.origins[lane.index];
    if (ps > this.ps) this.ps = ps;
  }
}

/** Times of a lane as numbers, where these are exact: most of them are. */
class LaneClock {
  /** ps of a unit; NaN: no whole number of them. */
  private readonly scale: number;
  private readonly origin: number;

  constructor({ num, den }: FluxLane['unit'], origin: bigint) {
    this.scale = den === 1n ? Number(num) : Number.NaN;
    this.origin = Number(origin);
  }

  /** ps of the trace; NaN where a number may not hold them. */
  psOf(group: FluxGroup): number {
    const ps = group.positionNumber * this.scale - this.origin;
    return Math.abs(ps) < MAX_EXACT && Math.abs(group.positionNumber * this.scale) < MAX_EXACT
      ? ps
      : Number.NaN;
  }
}

class Sink {
  private readonly tallies: Tally[] = [];
  private readonly origins: bigint[];
  private readonly inexact: Tally;
  /** Of the present frame, as it was given, and rounded. */
  private time: number | bigint = 0n;
  private timeNumber = 0;
  private readonly clocks: LaneClock[];
  /** Position whose time the present frame has. */
  private lastLane: FluxLane | null = null;
  private lastLo = 0;
  private lastHi = 0;
  private lastIsExact = true;

  constructor(
    survey: Survey,
    private readonly frames: TraceFrames,
    private readonly emitter: EntryEmitter,
    private readonly context: ConversionContext,
  ) {
    const { report } = context;
    this.origins = survey.origins;
    this.clocks = survey.lanes.all.map(({ unit, index }) => new LaneClock(unit, this.origins[index]));
    for (const [tag, name] of TAG_NAMES) {
      const isPacking = tag === FluxTag.PBLK || tag === FluxTag.SECT || tag === FluxTag.SWTH;
      if (!isPacking) this.tallies[tag] = report.kept(tag === FluxTag.SAMPLE ? 'values' : `${name} entries`);
    }
    this.inexact = report.kept('positions that are not whole ps, or go back', 'flux/position with the value');
  }

  private get timePs(): bigint {
    return BigInt(this.time);
  }

  get isFull(): boolean {
    return this.frames.isFull;
  }

  begin(): void {
    this.frame(0n);
    this.emitter.begin();
  }

  async push(part: number): Promise<void> {
    await this.frames.push();
    this.context.onProgress?.(0.5 + part / 2);
  }

  take(cursor: FluxCursor, lane: FluxLane): void {
    const { tag, group } = cursor;
    this.tallies[tag].count++;
    let isExact = true;
    if (group && tag !== FluxTag.CLOS) isExact = this.moveTo(lane, group);
    if (tag === FluxTag.SAMPLE) {
      if (!isExact) {
        this.inexact.count++;
        this.emitter.position(cursor.trace!.id, cursor.id, group!.position);
      }
      this.emitter.sample(cursor);
    } else if (tag === FluxTag.OPEN) this.emitter.open(cursor, this.origins[lane.index]);
    else this.emitter.entry(cursor);
  }

  /** Opens the frame of a position; false when the frame's time does not determine it. */
  private moveTo(lane: FluxLane, group: FluxGroup): boolean {
    if (lane === this.lastLane && group.lo === this.lastLo && group.hi === this.lastHi)
      return this.lastIsExact;
    const quick = this.clocks[lane.index].psOf(group);
    if (quick > this.timeNumber) {
      this.frame(quick);
      this.wasAt(lane, group, true);
      return true;
    }
    return this.moveExactly(lane, group);
  }

  private wasAt(lane: FluxLane, { lo, hi }: FluxGroup, isExact: boolean): void {
    this.lastLane = lane;
    this.lastLo = lo;
    this.lastHi = hi;
    this.lastIsExact = isExact;
  }

  private moveExactly(lane: FluxLane, group: FluxGroup): boolean {
    const { position } = group;
    const { unit } = lane;
    let ps = toPs(position, unit) - this.origins[lane.index];
    if (ps > MAX_PS) ps = MAX_PS;
    const isExact = (unit.den === 1n || position % unit.den === 0n) && ps < MAX_PS && ps >= this.timePs;
    if (ps > this.timePs) this.frame(ps);
    this.wasAt(lane, group, isExact);
    return isExact;
  }

  /** @param ps as a number a safe integer */
  private frame(ps: number | bigint): void {
    // What was exact for an earlier time is looked at again.
    if (ps !== this.time) this.lastLane = null;
    this.time = ps;
    this.timeNumber = Number(ps);
    this.frames.beginFrame(ps);
  }
}
