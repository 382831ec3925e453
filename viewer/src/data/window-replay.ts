/** A window of time from replay: every cycle is looked at. */
import { Action, type LogicalField, logicalFields } from 'uscope/format';
import { payloadLayout, readRaw, type ScanVisitor, stateBefore } from 'uscope/reader';
import {
  type Columns,
  type EventMarks,
  MAX_MARKS,
  type SlotField,
  type ValueChanges,
  type WindowAnswer,
  type WindowArgs,
} from '../model/window.js';
import type { QuestionContext } from './questions/question.js';
import { type Field, isString, logicalText } from './value-text.js';
import { CounterTrack, EventTrack, OccupancyTrack } from './window-tracks.js';

type State = Awaited<ReturnType<typeof stateBefore>>;
type Cursor = Parameters<NonNullable<ScanVisitor['op']>>[0];

const TWO_32 = 0x1_0000_0000;
const NO_LAYOUT = { offsets: [], size: 0 };

export async function replayWindow(
  args: WindowArgs,
  context: QuestionContext,
  signal: AbortSignal,
): Promise<WindowAnswer> {
  const { trace, periodPs } = context;
  const state = await stateBefore(trace, BigInt(args.from) * periodPs);
  signal.throwIfAborted();
  const replay = new Replay(args, context, state);
  await trace.scan(
    { from: BigInt(args.from) * periodPs, to: BigInt(args.to) * periodPs },
    {
      // Cancelling comes as a message.
      segment: () => new Promise((resolve) => setTimeout(resolve)),
      frame: (cursor) => {
        replay.frame(cursor);
        return !signal.aborted;
      },
      op: (cursor) => replay.op(cursor),
      event: (cursor) => replay.event(cursor),
    },
  );
  signal.throwIfAborted();
  return replay.finish();
}

/** Changes of one field, at most one for each column. */
interface ValueTrack extends SlotField {
  readonly fields: readonly Field[];
  readonly value: LogicalField;
  readonly hasFree: boolean;
  readonly cycles: number[];
  /** The fields of the value, the first piece first; null: free. */
  readonly values: (readonly bigint[] | null)[];
  readonly busy: number[];
  column: number;
}

class Replay {
  private readonly columns: Columns;
  private readonly period: number;
  private readonly counters: (CounterTrack | undefined)[] = [];
  private readonly buffers: (OccupancyTrack | undefined)[] = [];
  private readonly events: (EventTrack | undefined)[] = [];
  private readonly values: ValueTrack[];
  /** By storage: whether its ops change anything that the question is about. */
  private readonly isWanted: Uint8Array;
  private readonly valuesOf: (ValueTrack[] | undefined)[] = [];
  private readonly layouts: ReturnType<typeof payloadLayout>[];
  private marks: { types: number[]; cycles: number[]; values: bigint[][] } | null = {
    types: [],
    cycles: [],
    values: [],
  };
  /** Storages changed in the present instant, which lasts until a later frame. */
  private readonly changed = new Set<number>();
  private cycle: number;
  private column = 0;

  constructor(
    private readonly args: WindowArgs,
    private readonly context: QuestionContext,
    private readonly state: State,
  ) {
    const { from, to, step, counters, buffers, events, values } = args;
    const { trace, info } = context;
    this.columns = { from, step, length: Math.ceil((to - from) / step) };
    this.period = Number(context.periodPs);
    this.cycle = from;
    const { storages } = trace.schema;
    this.isWanted = new Uint8Array(storages.length);
    const first = Math.max(from, info.segmentCycles[0] ?? 0);
    for (const id of counters) {
      this.isWanted[id] = 1;
      this.counters[id] = new CounterTrack(id, this.columns, Number(state.value(id, 0, 0)));
    }
    for (const id of buffers) {
      this.isWanted[id] = 1;
      this.buffers[id] = new OccupancyTrack(id, this.columns, state.occupancy(id), first);
    }
    for (const id of events) this.events[id] = new EventTrack(id, this.columns);
    this.layouts = trace.schema.events.map((def) =>
      this.events[def.eventTypeId] ? payloadLayout(def.fields) : NO_LAYOUT,
    );
    this.values = values.map(({ storage, slot, field }) => ({
      storage,
      slot,
      field,
      fields: storages[storage]!.fields,
      value: valueAt(storages[storage]!.fields, field),
      hasFree: (state.layout.sparse[storage]! | state.layout.buffer[storage]!) !== 0,
      cycles: [],
      values: [],
      busy: [],
      column: -1,
    }));
    for (const track of this.values) {
      this.isWanted[track.storage] = 1;
      this.valuesOf[track.storage] = [...(this.valuesOf[track.storage] ?? []), track];
      this.note(track, from);
    }
  }

  frame(cursor: Cursor): void {
    const cycle = (cursor.timeHi * TWO_32 + cursor.timeLo) / this.period;
    if (cycle > this.cycle) this.settle();
    this.cycle = cycle;
    this.column = Math.floor((cycle - this.columns.from) / this.columns.step);
  }

  op(cursor: Cursor): void {
    const { action, storageId, slot, field } = cursor;
    if (this.isWanted[storageId] === 0 || !this.state.inRange(action, storageId, slot, field)) return;
    if (action === Action.PROP_SET) return;
    this.state.apply(action, storageId, slot, field, cursor.lo, cursor.hi);
    this.changed.add(storageId);
  }

  event(cursor: Cursor): void {
    const type = cursor.eventType;
    const track = this.events[type];
    if (!track) return;
    track.counts[this.column]!++;
    const { marks } = this;
    if (!marks) return;
    if (marks.types.length >= MAX_MARKS) {
      this.marks = null;
      return;
    }
    const { fields } = this.context.trace.schema.events[type]!;
    const { offsets } = this.layouts[type]!;
    const { payload } = cursor;
    marks.types.push(type);
    marks.cycles.push(Math.floor(this.cycle));
    marks.values.push(fields.map((field, index) => readRaw(payload, offsets[index]!, field.type)));
  }

  async finish(): Promise<WindowAnswer> {
    this.settle();
    const { args, context } = this;
    const end = Math.min(args.to, context.info.segmentCycles.at(-1) ?? args.to);
    await this.loadStrings();
    return {
      args,
      source: 'replay',
      isExact: true,
      counters: args.counters.map((id) => this.counters[id]!.finish()),
      buffers: args.buffers.map((id) => this.buffers[id]!.finish(end)),
      events: args.events.map((id) => this.events[id]!.finish()),
      marks: this.marks && this.marksWithText(this.marks),
      values: this.values.map((track) => this.changesOf(track)),
    };
  }

  /** The present instant is over: what it left counts. */
  private settle(): void {
    if (this.changed.size === 0) return;
    for (const id of this.changed) {
      this.buffers[id]?.change(this.state.occupancy(id), this.cycle);
      this.counters[id]?.change(Number(this.state.value(id, 0, 0)), this.column);
      for (const track of this.valuesOf[id] ?? []) this.note(track, Math.floor(this.cycle));
    }
    this.changed.clear();
  }

  private note(track: ValueTrack, cycle: number): void {
    const { state, column } = this;
    const { storage, slot, cycles, values, busy } = track;
    const isFree = track.hasFree && !state.slotOccupied(storage, slot);
    const { pieces, unknown } = track.value;
    const value = isFree ? null : [...pieces, ...unknown].map((piece) => state.value(storage, slot, piece));
    const last = values.length - 1;
    if (last >= 0 && isSame(values[last]!, value)) return;
    if (track.column === column && last > 0) {
      // Of several in one column the last is seen.
      values[last] = value;
      busy[last] = 1;
      return;
    }
    cycles.push(cycle);
    values.push(value);
    busy.push(0);
    track.column = column;
  }

  private readonly stringOf = (index: number): string | null =>
    this.context.trace.strings.peek(index) ?? null;

  private async loadStrings(): Promise<void> {
    const { trace } = this.context;
    const wanted = new Set<number>();
    for (const { fields, field, values } of this.values) {
      if (isString(fields[field]!)) for (const value of values) if (value) wanted.add(Number(value[0]));
    }
    this.marks?.types.forEach((type, index) => {
      trace.schema.events[type]!.fields.forEach((field, at) => {
        if (isString(field)) wanted.add(Number(this.marks!.values[index]![at]));
      });
    });
    if (wanted.size > 0) await trace.strings.load(wanted);
  }

  private marksWithText({ types, cycles, values }: NonNullable<Replay['marks']>): EventMarks {
    const { schema } = this.context.trace;
    return {
      type: Uint16Array.from(types),
      cycle: Float64Array.from(cycles),
      texts: types.map((type, index) =>
        logicalFields(schema.events[type]!.fields)
          .map(
            (field) =>
              `${field.name} ${logicalText(schema.events[type]!.fields, field, (at) => values[index]![at]!, schema, this.stringOf)}`,
          )
          .join(', '),
      ),
    };
  }

  private changesOf({ storage, slot, field, fields, value, cycles, values, busy }: ValueTrack): ValueChanges {
    const { schema } = this.context.trace;
    const order = [...value.pieces, ...value.unknown];
    const text = (words: readonly bigint[] | null): string =>
      words === null
        ? ''
        : logicalText(fields, value, (index) => words[order.indexOf(index)]!, schema, this.stringOf);
    return {
      storage,
      slot,
      field,
      cycle: Float64Array.from(cycles),
      texts: values.map(text),
      isBusy: Uint8Array.from(busy),
    };
  }
}

/** The value that begins with a field. */
function valueAt(fields: readonly Field[], field: number): LogicalField {
  const found = logicalFields(fields).find(({ pieces }) => pieces[0] === field);
  return found ?? { name: fields[field]!.name, bits: 0, pieces: [field], unknown: [] };
}

function isSame(a: readonly bigint[] | null, b: readonly bigint[] | null): boolean {
  if (a === null || b === null) return a === b;
  return a.every((word, index) => word === b[index]);
}
