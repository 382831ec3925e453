/**
 * STF to µScope: every record as an event, in file order, and next to them the hart's instructions by the conventions of the `cpu` protocol. Time
 * is made up: an instruction takes a cycle of 1 ns.
 */

import { Action, qualifiedName, type Schema } from '../../format/types.js';
import { createCpuSummarizer } from '../../writer/summary/cpu-summarizer.js';
import { type Imported, untilCut } from '../common/cut.js';
import type { ConversionContext, TraceTarget } from '../common/foreign-format.js';
import type { Tally } from '../common/report.js';
import { type EventShape, scopeIds, type TraceFrames, writeTrace } from '../common/trace-frames.js';
import type { StfCursor } from './cursor.js';
import type { StfFile } from './reader.js';
import {
  buildSchema,
  EventEmitter,
  HART_SCOPE,
  PERIOD_PS,
  RECORD_SCOPE,
  type StfShape,
  TRANSACTION_COUNTER,
} from './record-events.js';
import { decodeRecord } from './records.js';
import { isInterrupt, isSpecialEvent, trapValue } from './riscv.js';
import { IEM_NAMES, StfIsa, StfType, TYPE_NAMES } from './types.js';

/** Where checkpoints are due unless the caller says otherwise: every 10,000 instructions. */
const CHECKPOINT_PS = BigInt(10_000 * PERIOD_PS);

/** @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT, CONVERT_UNSUPPORTED, WRITER_* */
export async function stfToUscope(
  file: StfFile,
  target: TraceTarget,
  context: ConversionContext,
): Promise<Imported> {
  const shape = await readShape(file);
  const { schema, dut } = buildSchema(shape);
  const content = { schema, dut, checkpointIntervalPs: CHECKPOINT_PS, summarizer: createCpuSummarizer };
  let isPartial = false;
  const stats = await writeTrace(target, content, context.signal, async (frames) => {
    isPartial = await new Import(file, schema, shape, frames, context).run();
  });
  return { stats, isPartial };
}

/** What the header says that the schema depends on. A cut header has what it has. */
async function readShape(file: StfFile): Promise<StfShape> {
  let isaExtended = '';
  let text = '';
  const cursor = await file.readHeader((cursor) => {
    if (cursor.type !== StfType.ISA_EXTENDED && cursor.type !== StfType.TRACE_INFO) return;
    const record = decodeRecord(cursor);
    if (record.type === StfType.ISA_EXTENDED) isaExtended = new TextDecoder().decode(record.text);
    if (record.type === StfType.TRACE_INFO) text ||= new TextDecoder().decode(record.text);
  });
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

class Import {
  private readonly emitter: EventEmitter;
  private readonly hart: HartEmitter | null;
  private readonly tallies: Tally[] = [];
  /** Storage id of the counter; -1 where there is none. */
  private readonly transactions: number;

  constructor(
    private readonly file: StfFile,
    schema: Schema,
    shape: StfShape,
    private readonly frames: TraceFrames,
    private readonly context: ConversionContext,
  ) {
    this.emitter = new EventEmitter(schema, frames);
    this.hart = shape.hasInstructions ? new HartEmitter(schema, frames) : null;
    const counter = `${RECORD_SCOPE}/${TRANSACTION_COUNTER}`;
    this.transactions = schema.storages.findIndex((def) => qualifiedName(schema, def) === counter);
    for (const [type, name] of TYPE_NAMES) this.tallies[type] = context.report.kept(`${name} records`);
  }

  /** Returns whether the file was cut. */
  async run(): Promise<boolean> {
    const stream = await this.file.stream();
    const cut = await untilCut(async () => {
      while (await stream.more()) {
        while (stream.next()) {
          this.take(stream.cursor);
          if (this.frames.isFull && !this.frames.hasOpenFrame) await this.frames.push();
        }
        this.context.onProgress?.(stream.part);
      }
    }).finally(() => stream.close());
    if (cut) this.context.onWarning?.(cut.message);
    this.finish(stream.cursor.markers);
    return cut !== null;
  }

  private take(cursor: StfCursor): void {
    const { type } = cursor;
    const { frames } = this;
    if (!frames.hasOpenFrame) this.open(cursor.markers - (cursor.isMarker ? 1 : 0));
    this.emitter.emit(cursor);
    this.tallies[type].count++;
    if (type === StfType.TRANSACTION && this.transactions >= 0)
      frames.op(Action.ADD, this.transactions, 0, 0, 1, 0);
    if (!cursor.isMarker && type !== StfType.END_HEADER) {
      this.hart?.note(cursor);
      return;
    }
    if (cursor.isMarker && type !== StfType.TRANSACTION) this.hart?.instruction(cursor);
    frames.closeFrame();
  }

  private finish(markers: number): void {
    const name = this.hart ? 'times of instructions' : 'times of transactions';
    this.context.report.approximated(name, 'STF has none: one cycle each').count += markers;
    const { hasOpenFrame } = this.frames;
    if (!hasOpenFrame && !this.hart?.hasLast) return;
    if (!hasOpenFrame) this.open(markers);
    this.hart?.end();
  }

  private open(index: number): void {
    this.frames.beginFrame(BigInt(index) * BigInt(PERIOD_PS));
  }
}

// The instructions of an STF file as those of a core by the `cpu` protocol: born at their OPCODE, gone with the next one.

const EXCEPTION = 1;
/** One instruction ends where the next is born; each in its own slot. Two ids in turn make a smaller file than all slots would. */
const IN_TURN = 2;
const [ENTITY_ID, PC, INST_BITS] = [0, 1, 2];

export class HartEmitter {
  private readonly entities: number;
  private readonly committed: number;
  private readonly stage: EventShape;
  private readonly flush: EventShape;
  private readonly trap: EventShape;
  private born = 0;
  /** The EVENT of the present instruction: its id and the value that goes with the trap. */
  private event: { id: bigint; value: bigint } | null = null;
  private target: bigint | null = null;

  constructor(
    schema: Schema,
    private readonly frames: TraceFrames,
  ) {
    const { storage, event } = scopeIds(schema, HART_SCOPE);
    this.entities = storage('entities');
    this.committed = storage('committed_insns');
    this.stage = event('stage_transition');
    this.flush = event('flush');
    this.trap = event('trap');
  }

  /** True if an instruction is in flight. */
  get hasLast(): boolean {
    return this.born > 0;
  }

  /** A record in front of the OPCODE. */
  note(cursor: StfCursor): void {
    if (cursor.type === StfType.EVENT_PC_TARGET) this.target = cursor.view.getBigUint64(cursor.at + 1, true);
    else if (cursor.type === StfType.EVENT) this.noteEvent(cursor);
  }

  /** The OPCODE that the cursor is at. */
  instruction(cursor: StfCursor): void {
    if (this.born > 0) this.clear();
    const { frames } = this;
    const slot = this.born % IN_TURN;
    frames.op(Action.SET, this.entities, slot, ENTITY_ID, slot, 0);
    frames.op(Action.SET, this.entities, slot, PC, cursor.pcLo, cursor.pcHi);
    frames.op(Action.SET, this.entities, slot, INST_BITS, cursor.bits, 0);
    frames.shortEvent(this.stage, slot, 0);
    this.born++;
    if (!this.emitTrap(slot, cursor)) frames.op(Action.ADD, this.committed, 0, 0, 1, 0);
    this.event = this.target = null;
  }

  /** The last instruction is over. */
  end(): void {
    if (this.born > 0) this.clear();
  }

  private noteEvent({ view, at, hasEvent64 }: StfCursor): void {
    const id = hasEvent64 ? view.getBigUint64(at + 1, true) : BigInt(view.getUint32(at + 1, true));
    if (isSpecialEvent(id, hasEvent64)) return;
    const head = at + (hasEvent64 ? 10 : 6);
    const data = Array.from({ length: view.getUint8(head - 1) }, (_, i) =>
      view.getBigUint64(head + 8 * i, true),
    );
    this.event = { id, value: trapValue(id, data) };
  }

  /** Returns whether the instruction did not complete: what trapped synchronously appears again where it succeeds. */
  private emitTrap(slot: number, { hasEvent64 }: StfCursor): boolean {
    const { event, target } = this;
    if (event === null || target === null) return false;
    const { view, offset } = this.frames.event(this.trap);
    view.setUint32(offset, slot, true);
    view.setBigUint64(offset + 4, event.id, true);
    view.setBigUint64(offset + 12, event.value, true);
    view.setBigUint64(offset + 20, target, true);
    if (isInterrupt(event.id, hasEvent64)) return false;
    this.frames.shortEvent(this.flush, slot, EXCEPTION);
    return true;
  }

  private clear(): void {
    this.frames.op(Action.CLEAR, this.entities, (this.born - 1) % IN_TURN, 0, 0, 0);
  }
}
