/** .ctrace to µScope, in two passes: the first for what the schema has to know. `mapping.ts` says what is where. */

import { isUscopeError, UscopeError } from '../../base/errors.js';
import { Turns } from '../../base/turns.js';
import { MAX_ITEMS_PER_FRAME } from '../../format/record.js';
import { SessionStatus } from '../../format/session-chunk.js';
import { type TraceOutput, withOutput } from '../../stream/trace-output.js';
import { createSegmentIndexer } from '../../trace-index/recording/segment-indexer.js';
import type { TraceStats } from '../../writer/index.js';
import { RecordBatch } from '../../writer/records/record-batch.js';
import { checkpointIntervalFor } from '../common/checkpoint-interval.js';
import type { ConversionContext, TraceTarget } from '../common/foreign-format.js';
import type { Tally } from '../common/report.js';
import { periodOption } from '../pipeline/options.js';
import type { EventCursor } from './cursor.js';
import { EventEmitter } from './event-emitter.js';
import { emitMeta } from './meta.js';
import type { CtraceFile, CtraceStream } from './reader.js';
import { type MappedSchema, Roster } from './roster.js';

const MAX_TIME_PS = (1n << 63n) - 1n;
/** The first pass decodes less than the second. */
const FIRST_PASS = 0.3;

export interface CtraceImport {
  readonly stats: TraceStats;
  /** The file was cut: what came before is in the trace. */
  readonly isPartial: boolean;
}

/** @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT (a time beyond 2^63 ps), CONVERT_OPTION, WRITER_* */
export async function ctraceToUscope(
  file: CtraceFile,
  size: number,
  target: TraceTarget,
  context: ConversionContext,
): Promise<CtraceImport> {
  const periodPs = periodOption(context.options);
  const roster = new Roster(file);
  const { onProgress } = context;
  await pass(file, context, (cursor) => roster.take(cursor), {
    more: (stream) => onProgress?.((FIRST_PASS * stream.position) / size),
  });
  checkTimes(roster, periodPs);
  const mapped = roster.buildSchema(periodPs);
  const batch = new RecordBatch();
  const options = {
    ...{ path: target.path, schema: mapped.schema, dut: mapped.dut, compression: target.compression },
    index: createSegmentIndexer,
    checkpointIntervalPs:
      target.checkpointIntervalPs ?? checkpointIntervalFor(roster.maxCycle * BigInt(periodPs), roster.events),
  };
  let isPartial = false;
  const stats = await withOutput(options, batch, context.signal, async (output) => {
    const emission = new Import(file, roster, mapped, BigInt(periodPs), batch, output, context);
    emission.begin();
    isPartial = await pass(file, context, (cursor) => emission.take(cursor), {
      more: async (stream) => {
        if (output.isFull) await emission.push();
        onProgress?.(FIRST_PASS + ((1 - FIRST_PASS) * stream.position) / size);
      },
      warn: true,
    });
    emission.end();
    return output.finish({ status: SessionStatus.CLOSED, lost: 0n, rejected: 0n });
  });
  for (const warning of file.warnings) context.onWarning?.(warning);
  return { stats, isPartial };
}

/** Events after which others may have their turn, and the output is passed on when it is full. */
const EVENTS_PER_TURN = 4096;

interface PassHooks {
  /** After each block. */
  more(stream: CtraceStream): Promise<void> | void;
  /** Whether a cut is reported. */
  readonly warn?: boolean;
}

/** Every event up to the end or the cut; returns whether there was one. */
async function pass(
  file: CtraceFile,
  { signal, onWarning }: ConversionContext,
  take: (cursor: EventCursor) => void,
  hooks: PassHooks,
): Promise<boolean> {
  const stream = file.stream();
  const turns = new Turns(signal);
  try {
    while (await stream.more()) {
      // A block may have hundreds of megabytes.
      for (let hasNext = true; hasNext; ) {
        for (let left = EVENTS_PER_TURN; left > 0 && hasNext; left--) {
          hasNext = stream.cursor.next();
          if (hasNext) take(stream.cursor);
        }
        await hooks.more(stream);
        await turns.next();
      }
    }
    return false;
  } catch (error) {
    if (!isUscopeError(error) || error.code !== 'CONVERT_TRUNCATED') throw error;
    if (hooks.warn) onWarning?.(error.message);
    return true;
  }
}

function checkTimes({ maxCycle }: Roster, periodPs: number): void {
  if (maxCycle * BigInt(periodPs) <= MAX_TIME_PS) return;
  const detail = `cycle ${maxCycle} of ${periodPs} ps is later than 2^63 ps; give a shorter period`;
  throw new UscopeError('CONVERT_LIMIT', detail);
}

class Import {
  private readonly emitter: EventEmitter;
  private readonly late: Tally;
  private items = 0;
  private cycleLo = 0;
  private cycleHi = 0;
  private timePs = 0n;

  constructor(
    private readonly file: CtraceFile,
    private readonly roster: Roster,
    private readonly mapped: MappedSchema,
    private readonly periodPs: bigint,
    private readonly batch: RecordBatch,
    private readonly output: TraceOutput,
    { report }: ConversionContext,
  ) {
    this.emitter = new EventEmitter(roster, mapped, batch, () => this.count(), report);
    this.late = report.kept('events after later ones', 'at the time of those, with their own cycle added');
  }

  /** The first frame says what the events are. */
  begin(): void {
    emitMeta(this.file.schema, this.roster, this.mapped, this.batch, this.emitter.strings, () =>
      this.count(),
    );
    this.close();
  }

  take(cursor: EventCursor): void {
    if (cursor.cycleLo !== this.cycleLo || cursor.cycleHi !== this.cycleHi) this.advance(cursor);
    this.emitter.emit(cursor);
  }

  /** Hands over what is there; the frame continues in another one of the same time. */
  async push(): Promise<void> {
    this.close();
    await this.output.push();
  }

  end(): void {
    this.close();
  }

  private advance(cursor: EventCursor): void {
    const { cycleLo, cycleHi } = cursor;
    const isLate = cycleHi < this.cycleHi || (cycleHi === this.cycleHi && cycleLo < this.cycleLo);
    if (isLate) {
      this.late.count++;
      this.emitter.late(cycleLo, cycleHi);
      return;
    }
    this.close();
    this.cycleLo = cycleLo;
    this.cycleHi = cycleHi;
    this.timePs = cursor.cycle * this.periodPs;
  }

  /** Before each item: it needs a frame, and a frame holds a limited number. */
  private count(): void {
    if (this.items >= MAX_ITEMS_PER_FRAME) this.close();
    if (this.items === 0) this.batch.begin(this.timePs);
    this.items++;
  }

  private close(): void {
    if (this.items > 0) this.batch.end(this.items, this.output.frames++);
    this.items = 0;
  }
}
