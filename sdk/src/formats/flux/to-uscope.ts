/**
 * flux to µScope: every signal with values as an event type, everything else as events of the scope `flux`. Traces and groups that are in the
 * file one after the other are put together in order of time.
 */

import { isUscopeError } from '../../base/errors.js';
import { MAX_ITEMS_PER_FRAME } from '../../format/record.js';
import { SessionStatus } from '../../format/session-chunk.js';
import { StringOutput } from '../../stream/string-remap.js';
import { type TraceOutput, withOutput } from '../../stream/trace-output.js';
import { createSegmentIndexer } from '../../trace-index/recording/segment-indexer.js';
import type { TraceStats } from '../../writer/index.js';
import { RecordBatch } from '../../writer/records/record-batch.js';
import { checkpointIntervalFor } from '../common/checkpoint-interval.js';
import type { ConversionContext, TraceTarget } from '../common/foreign-format.js';
import type { Tally } from '../common/report.js';
import type { FluxCursor } from './cursor.js';
import { toPs } from './domains.js';
import { EntryEmitter } from './entry-emitter.js';
import { EventPacker } from './event-packer.js';
import { buildSchema } from './import-schema.js';
import type { FluxFile, FluxReadOptions, FluxStream } from './reader.js';
import { type FluxLane, Lanes, Survey } from './survey.js';
import { FluxTag, TAG_NAMES } from './types.js';

const RESERVE = 1024;
/** More groups than these are not put in order: each takes a separate pass through the file. */
const MAX_MERGED = 64;
const MAX_PS = 2n ** 63n - 1n;

export interface FluxImport {
  readonly stats: TraceStats;
  readonly isPartial: boolean;
}

/** @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT, CONVERT_UNSUPPORTED, WRITER_* */
export async function fluxToUscope(
  file: FluxFile,
  target: TraceTarget,
  context: ConversionContext,
  options: FluxReadOptions = {},
): Promise<FluxImport> {
  const survey = new Survey();
  const stream = await file.stream(options);
  let isPartial = false;
  try {
    while (await stream.more()) {
      context.signal?.throwIfAborted();
      while (stream.next()) survey.take(stream.cursor);
      context.onProgress?.(stream.part / 2);
    }
  } catch (error) {
    if (!isCut(error)) throw error;
    isPartial = true;
    context.onWarning?.(error.message);
  }
  const { schema, dut, plans } = buildSchema(survey);
  const batch = new RecordBatch();
  const { path, compression } = target;
  const checkpointIntervalPs =
    target.checkpointIntervalPs ?? checkpointIntervalFor(survey.spanPs, survey.entries);
  const writer = { path, schema, dut, compression, checkpointIntervalPs, index: createSegmentIndexer };
  const stats = await withOutput(writer, batch, context.signal, async (output) => {
    const sink = new Sink(survey, batch, output, context, (count) => {
      return new EntryEmitter(schema, plans, new EventPacker(schema, batch, new StringOutput(batch), count));
    });
    await sink.begin();
    const quiet = options.onSkip ? { onSkip: () => undefined } : {};
    await fill(file, quiet, survey, sink, context);
    sink.end();
    return output.finish({ status: SessionStatus.CLOSED, lost: 0n, rejected: 0n });
  });
  return { stats, isPartial };
}

function isCut(error: unknown): error is Error {
  return isUscopeError(error) && error.code === 'CONVERT_TRUNCATED';
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
    while (await whole.advance()) {
      sink.take(whole.cursor, whole.lane!);
      if (sink.isFull) await sink.push(whole.stream.part);
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
      if (await first.advance()) continue;
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
  private hasMore = false;

  constructor(
    readonly stream: FluxStream,
    private readonly survey: Survey,
    private readonly origins: readonly bigint[],
    private readonly wanted: number | null,
  ) {}

  get cursor(): FluxCursor {
    return this.stream.cursor;
  }

  async advance(): Promise<boolean> {
    const { stream, wanted } = this;
    try {
      for (;;) {
        if (!this.hasMore) {
          if (!(await stream.more())) return false;
          this.hasMore = true;
        }
        while (stream.next()) {
          const found = this.lanes.laneOf(stream.cursor);
          if (!found || (wanted !== null && found.row !== wanted)) continue;
          this.lane = this.survey.lanes.all[found.index];
          this.tell(stream.cursor, this.lane);
          return true;
        }
        this.hasMore = false;
      }
    } catch (error) {
      // The survey has reported it.
      if (isCut(error)) return false;
      throw error;
    }
  }

  private tell({ group, tag }: FluxCursor, lane: FluxLane): void {
    if (this.wanted === null || group === null || tag === FluxTag.CLOS) return;
    const ps = toPs(group.position, lane.unit) - this.origins[lane.index];
    if (ps > this.ps) this.ps = ps;
  }
}

class Sink {
  private readonly emitter: EntryEmitter;
  private readonly tallies: Tally[] = [];
  private readonly origins: bigint[];
  private readonly inexact: Tally;
  private items = 0;
  private isOpen = false;
  private timePs = 0n;
  /** Position whose time the present frame has. */
  private lastLane: FluxLane | null = null;
  private lastPosition = 0n;
  private lastIsExact = true;

  constructor(
    survey: Survey,
    private readonly batch: RecordBatch,
    private readonly output: TraceOutput,
    private readonly context: ConversionContext,
    create: (count: () => void) => EntryEmitter,
  ) {
    const { report } = context;
    this.emitter = create(() => this.count());
    this.origins = survey.origins;
    for (const [tag, name] of TAG_NAMES) {
      const isPacking = tag === FluxTag.PBLK || tag === FluxTag.SECT || tag === FluxTag.SWTH;
      if (!isPacking) this.tallies[tag] = report.kept(tag === FluxTag.SAMPLE ? 'values' : `${name} entries`);
    }
    this.inexact = report.kept('positions that are not whole ps, or go back', 'flux/position with the value');
  }

  get isFull(): boolean {
    return this.output.isFull;
  }

  async begin(): Promise<void> {
    this.frame(0n);
    this.emitter.begin();
  }

  async push(part: number): Promise<void> {
    this.close();
    await this.output.push();
    this.context.onProgress?.(0.5 + part / 2);
  }

  end(): void {
    this.close();
  }

  take(cursor: FluxCursor, lane: FluxLane): void {
    const { tag, group } = cursor;
    this.tallies[tag].count++;
    let isExact = true;
    if (group && tag !== FluxTag.CLOS) isExact = this.moveTo(lane, group.position);
    if (!this.isOpen) this.frame(this.timePs);
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
  private moveTo(lane: FluxLane, position: bigint): boolean {
    if (lane === this.lastLane && position === this.lastPosition) return this.lastIsExact;
    const { unit } = lane;
    let ps = toPs(position, unit) - this.origins[lane.index];
    if (ps > MAX_PS) ps = MAX_PS;
    const isExact = (unit.den === 1n || position % unit.den === 0n) && ps < MAX_PS && ps >= this.timePs;
    if (ps > this.timePs) this.frame(ps);
    this.lastLane = lane;
    this.lastPosition = position;
    this.lastIsExact = isExact;
    return isExact;
  }

  private frame(ps: bigint): void {
    this.close();
    // What was exact for an earlier time is looked at again.
    if (ps !== this.timePs) this.lastLane = null;
    this.timePs = ps;
    this.items = 0;
    this.batch.begin(ps);
    this.isOpen = true;
  }

  private close(): void {
    if (!this.isOpen) return;
    this.batch.end(this.items, this.output.frames++);
    this.isOpen = false;
  }

  private count(): void {
    if (this.items >= MAX_ITEMS_PER_FRAME - RESERVE) this.frame(this.timePs);
    this.items++;
  }
}
