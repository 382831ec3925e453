/**
 * STF to µScope: every record as an event, in file order, and next to them the hart's instructions by the conventions of the `cpu` protocol. Time
 * is made up: an instruction takes a cycle of 1 ns.
 */
import { isUscopeError } from '../../base/errors.js';
import { MAX_ITEMS_PER_FRAME } from '../../format/record.js';
import { SessionStatus } from '../../format/session-chunk.js';
import { Action, qualifiedName, type Schema } from '../../format/types.js';
import { StringOutput } from '../../stream/string-remap.js';
import { type TraceOutput, withOutput } from '../../stream/trace-output.js';
import { createSegmentIndexer } from '../../trace-index/recording/segment-indexer.js';
import type { TraceStats } from '../../writer/index.js';
import { RecordBatch } from '../../writer/records/record-batch.js';
import { createCpuSummarizer } from '../../writer/summary/cpu-summarizer.js';
import type { ConversionContext, TraceTarget } from '../common/foreign-format.js';
import type { Tally } from '../common/report.js';
import type { StfCursor } from './cursor.js';
import { decodeRecord } from './decode.js';
import { EventEmitter } from './event-emitter.js';
import { HartEmitter } from './hart-emitter.js';
import type { StfFile } from './reader.js';
import { buildSchema, PERIOD_PS, RECORD_SCOPE, type StfShape, TRANSACTION_COUNTER } from './record-events.js';
import { IEM_NAMES, StfIsa, StfType, TYPE_NAMES } from './types.js';

/** Where checkpoints are due unless the caller says otherwise: every 10,000 instructions. */
const CHECKPOINT_PS = BigInt(10_000 * PERIOD_PS);
/** Items that one record and its instruction add at most between two looks at a frame's room. */
const RESERVE = 64;

export interface StfImport {
  readonly stats: TraceStats;
  /** The file was cut: what came before is in the trace. */
  readonly isPartial: boolean;
}

/** @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT, CONVERT_UNSUPPORTED, WRITER_* */
export async function stfToUscope(
  file: StfFile,
  target: TraceTarget,
  context: ConversionContext,
): Promise<StfImport> {
  const shape = await readShape(file);
  const { schema, dut } = buildSchema(shape);
  const batch = new RecordBatch();
  const options = {
    path: target.path,
    schema,
    dut,
    compression: target.compression,
    checkpointIntervalPs: target.checkpointIntervalPs ?? CHECKPOINT_PS,
    summarizer: createCpuSummarizer,
    index: createSegmentIndexer,
  };
  let isPartial = false;
  const stats = await withOutput(options, batch, context.signal, async (output) => {
    isPartial = await new Import(file, schema, shape, batch, output, context).run();
    return output.finish({ status: SessionStatus.CLOSED, lost: 0n, rejected: 0n });
  });
  return { stats, isPartial };
}

/** What the header says that the schema depends on. A cut header has what it has. */
async function readShape(file: StfFile): Promise<StfShape> {
  const stream = await file.stream();
  let isaExtended = '';
  let text = '';
  const { cursor } = stream;
  try {
    while (!cursor.isBody && (await stream.more())) {
      while (!cursor.isBody && stream.next()) {
        if (cursor.type !== StfType.ISA_EXTENDED && cursor.type !== StfType.TRACE_INFO) continue;
        const record = decodeRecord(cursor);
        if (record.type === StfType.ISA_EXTENDED) isaExtended = new TextDecoder().decode(record.text);
        if (record.type === StfType.TRACE_INFO) text ||= new TextDecoder().decode(record.text);
      }
    }
  } catch (error) {
    if (!isCut(error)) throw error;
  } finally {
    await stream.close();
  }
  const { isa, iem } = cursor.header;
  return {
    hasInstructions: isa === StfIsa.RISCV,
    isa: clean(isaExtended) || IEM_NAMES[iem] || 'unknown',
    name: clean(text) || 'STF trace',
  };
}

/** Printable and short, as a DUT property should be. */
function clean(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return text.replace(/[\u0000-\u001f\u007f\ufffd]/g, '').slice(0, 200);
}

function isCut(error: unknown): boolean {
  return isUscopeError(error) && error.code === 'CONVERT_TRUNCATED';
}

class Import {
  private readonly emitter: EventEmitter;
  private readonly hart: HartEmitter | null;
  private readonly tallies: Tally[] = [];
  /** Storage id of the counter; -1 where there is none. */
  private readonly transactions: number;
  private items = 0;
  private isOpen = false;
  private timePs = 0n;

  constructor(
    private readonly file: StfFile,
    schema: Schema,
    shape: StfShape,
    private readonly batch: RecordBatch,
    private readonly output: TraceOutput,
    private readonly context: ConversionContext,
  ) {
    const count = (): void => void this.items++;
    this.emitter = new EventEmitter(schema, batch, new StringOutput(batch), () => this.countEvent());
    this.hart = shape.hasInstructions ? new HartEmitter(schema, batch, count) : null;
    const counter = `${RECORD_SCOPE}/${TRANSACTION_COUNTER}`;
    this.transactions = schema.storages.findIndex((def) => qualifiedName(schema, def) === counter);
    for (const [type, name] of TYPE_NAMES) this.tallies[type] = context.report.kept(`${name} records`);
  }

  /** Returns whether the file was cut. */
  async run(): Promise<boolean> {
    const stream = await this.file.stream();
    let isPartial = false;
    try {
      while (await stream.more()) {
        while (stream.next()) {
          this.take(stream.cursor);
          if (this.output.isFull && !this.isOpen) await this.output.push();
        }
        this.context.onProgress?.(stream.part);
      }
    } catch (error) {
      if (!isCut(error)) throw error;
      isPartial = true;
      this.context.onWarning?.(error instanceof Error ? error.message : String(error));
    } finally {
      await stream.close();
    }
    this.finish(stream.cursor.markers);
    return isPartial;
  }

  private take(cursor: StfCursor): void {
    const { type } = cursor;
    if (!this.isOpen) this.open(cursor.markers - (cursor.isMarker ? 1 : 0));
    this.emitter.emit(cursor);
    this.tallies[type].count++;
    if (type === StfType.TRANSACTION && this.transactions >= 0) {
      this.items++;
      this.batch.op(Action.ADD, this.transactions, 0, 0, 1, 0);
    }
    if (!cursor.isMarker && type !== StfType.END_HEADER) {
      this.hart?.note(cursor);
      return;
    }
    if (cursor.isMarker && type !== StfType.TRANSACTION) this.hart?.instruction(cursor);
    this.close();
  }

  private finish(markers: number): void {
    const name = this.hart ? 'times of instructions' : 'times of transactions';
    this.context.report.approximated(name, 'STF has none: one cycle each').count += markers;
    if (!this.isOpen && !this.hart?.hasLast) return;
    if (!this.isOpen) this.open(markers);
    this.hart?.end();
    this.close();
  }

  private open(index: number): void {
    this.timePs = BigInt(index) * BigInt(PERIOD_PS);
    this.beginFrame();
    this.isOpen = true;
  }

  private beginFrame(): void {
    this.items = 0;
    this.batch.begin(this.timePs);
  }

  private close(): void {
    this.batch.end(this.items, this.output.frames++);
    this.isOpen = false;
  }

  /** A record with very many parts continues in another frame of the same time. */
  private countEvent(): void {
    if (this.items >= MAX_ITEMS_PER_FRAME - RESERVE) {
      this.batch.end(this.items, this.output.frames++);
      this.beginFrame();
    }
    this.items++;
  }
}
