/** .ctrace to µScope, in two passes: the first for what the schema has to know. `mapping.ts` says what is where. */

import { UscopeError } from '../../base/errors.js';
import { toHex } from '../../base/hex.js';
import { Turns } from '../../base/turns.js';
import { MAX_STRING_BYTES } from '../../format/record.js';
import { type Imported, untilCut } from '../common/cut.js';
import { EventPacker, type PackedValue } from '../common/event-values.js';
import type { ConversionContext, TraceTarget } from '../common/foreign-format.js';
import type { ConversionReport, Tally } from '../common/report.js';
import { checkpointIntervalFor, type TraceFrames, writeTrace } from '../common/trace-frames.js';
import { periodOption } from '../pipeline/shape.js';
import { type EventCursor, exactEnd, sizeAt } from './cursor.js';
import { HEX_BYTES, keepText, type MetaEvent, RAW_PREFIX_BYTES, typesToText } from './mapping.js';
import type { CtraceFile, CtraceStream } from './reader.js';
import { type MappedSchema, type Pair, Roster } from './roster.js';
import { decodeText, isPlain } from './text.js';
import { ArgType, argBytes, type CtraceFormat, type CtraceSchema } from './types.js';

const MAX_TIME_PS = (1n << 63n) - 1n;
/** The first pass decodes less than the second. */
const FIRST_PASS = 0.3;

/** @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT (a time beyond 2^63 ps), CONVERT_OPTION, WRITER_* */
export async function ctraceToUscope(
  file: CtraceFile,
  size: number,
  target: TraceTarget,
  context: ConversionContext,
): Promise<Imported> {
  const periodPs = periodOption(context.options);
  const roster = new Roster(file);
  const { onProgress } = context;
  await pass(file, context, (cursor) => roster.take(cursor), {
    more: (stream) => onProgress?.((FIRST_PASS * stream.position) / size),
  });
  checkTimes(roster, periodPs);
  const mapped = roster.buildSchema(periodPs);
  const content = {
    ...{ schema: mapped.schema, dut: mapped.dut },
    checkpointIntervalPs: checkpointIntervalFor(roster.maxCycle * BigInt(periodPs), roster.events),
  };
  let isPartial = false;
  const stats = await writeTrace(target, content, context.signal, async (frames) => {
    const emission = new Import(file, roster, mapped, BigInt(periodPs), frames, context);
    emission.begin();
    isPartial = await pass(file, context, (cursor) => emission.take(cursor), {
      more: async (stream) => {
        if (frames.isFull) await frames.push();
        onProgress?.(FIRST_PASS + ((1 - FIRST_PASS) * stream.position) / size);
      },
      warn: true,
    });
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
  const cut = await untilCut(async () => {
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
  });
  if (cut && hooks.warn) onWarning?.(cut.message);
  return cut !== null;
}

function checkTimes({ maxCycle }: Roster, periodPs: number): void {
  if (maxCycle * BigInt(periodPs) <= MAX_TIME_PS) return;
  const detail = `cycle ${maxCycle} of ${periodPs} ps is later than 2^63 ps; give a shorter period`;
  throw new UscopeError('CONVERT_LIMIT', detail);
}

class Import {
  private readonly emitter: EventEmitter;
  private readonly late: Tally;
  private cycleLo = 0;
  private cycleHi = 0;

  constructor(
    private readonly file: CtraceFile,
    private readonly roster: Roster,
    private readonly mapped: MappedSchema,
    private readonly periodPs: bigint,
    private readonly frames: TraceFrames,
    { report }: ConversionContext,
  ) {
    this.emitter = new EventEmitter(roster, mapped, frames, report);
    this.late = report.kept('events after later ones', 'at the time of those, with their own cycle added');
  }

  /** The first frame says what the events are. */
  begin(): void {
    emitMeta(this.file.schema, this.roster, this.mapped, this.emitter.packer);
    this.frames.closeFrame();
  }

  take(cursor: EventCursor): void {
    if (cursor.cycleLo !== this.cycleLo || cursor.cycleHi !== this.cycleHi) this.advance(cursor);
    this.emitter.emit(cursor);
  }

  private advance(cursor: EventCursor): void {
    const { cycleLo, cycleHi } = cursor;
    const isLate = cycleHi < this.cycleHi || (cycleHi === this.cycleHi && cycleLo < this.cycleLo);
    if (isLate) {
      this.late.count++;
      this.emitter.late(cycleLo, cycleHi);
      return;
    }
    this.cycleLo = cycleLo;
    this.cycleHi = cycleHi;
    this.frames.moveTo(cursor.cycle * this.periodPs);
  }
}

// The first frame of a trace made of .ctrace: formats, units and categories, and which event type represents what.

/** @throws UscopeError CONVERT_LIMIT for a text that is too long */
function emitMeta(schema: CtraceSchema, roster: Roster, { meta }: MappedSchema, packer: EventPacker): void {
  const emit = (name: MetaEvent, ...values: readonly PackedValue[]): void =>
    packer.emit(meta[name], ...values.map((value) => (typeof value === 'string' ? keepText(value) : value)));
  emit('file', schema.version, schema.configHash, schema.simulationName);
  for (const { id, line, isLog, logLevel, text, file, argTypes } of schema.formats) {
    emit('format', id, line, isLog, logLevel & 0xff, text, file, typesToText(argTypes));
  }
  for (const { id, name, typeName } of schema.units) emit('unit', id, name, typeName);
  for (const { mask, name, description } of schema.categories) emit('category', mask, name, description);
  for (const { eventType, formatId, source, format } of roster.pairs.values()) {
    if (eventType >= 0) emit('event_type', eventType, formatId, source, format === null);
  }
}

// Turns the event that a cursor is at into events of a batch.

/** What an event of a format needs, besides its category. */
interface Shape {
  readonly hasStrings: boolean;
  readonly payloadBytes: number;
}

const STRING_REF_BYTES = 4;

export class EventEmitter {
  readonly packer: EventPacker;
  private readonly shapes = new Map<CtraceFormat, Shape>();
  /** String numbers of the present event. */
  private readonly refs: number[] = [];
  private readonly kept: Tally;
  private readonly inHex: Tally;

  constructor(
    private readonly roster: Roster,
    private readonly mapped: MappedSchema,
    private readonly frames: TraceFrames,
    report: ConversionReport,
  ) {
    this.packer = new EventPacker(mapped.schema, frames);
    this.kept = report.kept('events', 'events of their unit, arguments as fields');
    this.inHex = report.kept('events whose arguments cannot be separated', 'in hexadecimal digits');
  }

  emit(cursor: EventCursor): void {
    const pair = this.roster.find(cursor.formatId, cursor.source);
    if (pair?.format && pair.eventType >= 0 && this.emitTyped(cursor, pair.eventType, pair.format)) {
      this.kept.count++;
      return;
    }
    this.inHex.count++;
    this.emitHex(cursor, pair);
  }

  late(cycleLo: number, cycleHi: number): void {
    const { view, offset } = this.open(this.mapped.meta.late, 8);
    view.setUint32(offset, cycleLo, true);
    view.setUint32(offset + 4, cycleHi, true);
  }

  /** False when the arguments are not what the format says, or a string is none that µScope can keep. */
  private emitTyped(cursor: EventCursor, eventType: number, format: CtraceFormat): boolean {
    const end = exactEnd(cursor, format.argTypes);
    if (end < 0) return false;
    const { hasStrings, payloadBytes } = this.shapeOf(format);
    if (hasStrings && !this.addStrings(cursor, end, format.argTypes)) return false;
    const { view, offset } = this.open(eventType, payloadBytes);
    const at = hasStrings
      ? this.copyArgs(cursor, format.argTypes, view, offset)
      : copy(cursor.bytes, cursor.argsAt, end, view, offset);
    view.setUint32(at, cursor.category, true);
    return true;
  }

  /** Strings go into the batch before the event that names them. */
  private addStrings({ bytes, argsAt }: EventCursor, end: number, types: readonly number[]): boolean {
    this.refs.length = 0;
    let at = argsAt;
    for (const type of types) {
      const size = sizeAt(bytes, at, end, type);
      if (type === ArgType.STRING) {
        const text = size <= MAX_STRING_BYTES ? decodeText(bytes.subarray(at, at + size - 1)) : null;
        if (text === null || !isPlain(text)) return false;
        this.refs.push(this.packer.string(text));
      }
      at += size;
    }
    return true;
  }

  private copyArgs(
    { bytes, argsAt, argsEnd }: EventCursor,
    types: readonly number[],
    view: DataView,
    offset: number,
  ): number {
    let [from, to, string] = [argsAt, offset, 0];
    for (const type of types) {
      const size = sizeAt(bytes, from, argsEnd, type);
      if (type === ArgType.STRING) {
        view.setUint32(to, this.refs[string++], true);
        to += STRING_REF_BYTES;
      } else to = copy(bytes, from, from + size, view, to);
      from += size;
    }
    return to;
  }

  /** Writes an event of the unit where the format is unknown, else `raw`, which names both. */
  private emitHex(cursor: EventCursor, pair: Pair | undefined): void {
    const { bytes, argsAt, argsEnd, argCount, category, formatId, source } = cursor;
    const isOwn = pair !== undefined && pair.format === null && pair.eventType >= 0;
    const size = argsEnd - argsAt;
    for (let part = 0; part === 0 || part * HEX_BYTES < size; part++) {
      const from = argsAt + part * HEX_BYTES;
      const piece = bytes.subarray(from, Math.min(argsEnd, from + HEX_BYTES));
      const index = this.packer.string(toHex(piece));
      const prefix = isOwn ? 0 : RAW_PREFIX_BYTES;
      const { view, offset } = this.open(isOwn ? pair.eventType : this.mapped.meta.raw, prefix + 13);
      if (!isOwn) {
        view.setUint32(offset, formatId, true);
        view.setUint16(offset + 4, source, true);
      }
      const at = offset + prefix;
      view.setUint8(at, argCount);
      view.setUint16(at + 1, size, true);
      view.setUint16(at + 3, part, true);
      view.setUint32(at + 5, index, true);
      view.setUint32(at + 9, category, true);
    }
  }

  private shapeOf(format: CtraceFormat): Shape {
    const known = this.shapes.get(format);
    if (known) return known;
    const { argTypes } = format;
    const bytes = argTypes.reduce(
      (sum, type) => sum + (type === ArgType.STRING ? STRING_REF_BYTES : argBytes(type)),
      4,
    );
    const shape = { hasStrings: argTypes.includes(ArgType.STRING), payloadBytes: bytes };
    this.shapes.set(format, shape);
    return shape;
  }

  private open(type: number, size: number): { view: DataView; offset: number } {
    return this.frames.event({ id: type, size });
  }
}

function copy(bytes: Uint8Array, from: number, end: number, view: DataView, to: number): number {
  let at = to;
  for (let i = from; i < end; i++) view.setUint8(at++, bytes[i]);
  return at;
}
