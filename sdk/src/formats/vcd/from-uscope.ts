/** µScope to VCD: storages, counters and events as variables. */
import { UscopeError } from '../../base/errors.js';
import { CursorItem, type FrameCursor } from '../../format/frame.js';
import { Action, type FieldDef, FieldType, fieldSize, type Schema } from '../../format/types.js';
import { readRaw, type Trace } from '../../reader/index.js';
import type { StorageState } from '../../state/storage-state.js';
import { ItemStream } from '../../stream/item-stream.js';
import { snapshotFinder } from '../../stream/start-state.js';
import type { ConversionContext, OutputFiles } from '../common/foreign-format.js';
import type { Tally } from '../common/report.js';
import { packingOfExtension } from '../text/output.js';
import { planVcd, type StoragePlan, type VcdPlan } from './plan.js';
import { VcdWriter } from './writer.js';

const DEFAULT_MAX_SLOTS = 256;
/** Changes that wait for their strings. */
const BATCH = 8192;
/** Value of what no event has said yet. */
const UNKNOWN = -1n;

/** @throws UscopeError CONVERT_OPTION, CONVERT_UNSUPPORTED (too many variables), ENV_MISSING, WRITER_EXISTS */
export async function uscopeToVcd(
  trace: Trace,
  files: OutputFiles,
  extension: string,
  context: ConversionContext,
): Promise<void> {
  const { signal, onProgress } = context;
  const plan = planVcd(trace.schema, { maxSlots: maxSlotsOf(context), events: eventsWanted(context) });
  const header = { timescale: '1ps', top: plan.top, comments: enumComments(trace.schema) };
  const writer = new VcdWriter(await files.open(null), header, packingOfExtension(extension));
  const dump = new Dump(trace, plan, writer, context);
  const stream = new ItemStream(trace);
  const finder = await snapshotFinder(trace, 0n);
  let hasBegun = false;
  while (await stream.nextSegment()) {
    signal?.throwIfAborted();
    const { index, header: segment } = stream.segment;
    if (!hasBegun) await dump.begin((await trace.stateBefore(index)).raw, segment.timeStartPs);
    hasBegun = true;
    const replaced = finder?.begin(stream.segment);
    if (replaced) dump.replace(replaced, segment.timeStartPs);
    finder?.taken();
    while (stream.next()) {
      const { cursor } = stream;
      if (cursor.kind === CursorItem.OP) {
        finder?.op(cursor);
        dump.op(cursor);
      } else if (cursor.kind === CursorItem.EVENT) dump.event(cursor);
      else {
        dump.frame(cursor.timePs);
        if (dump.waiting >= BATCH) await dump.emit();
      }
    }
    onProgress?.(Number(segment.timeEndPs) / Math.max(Number(trace.totalTimePs), 1));
  }
  dump.frame(trace.totalTimePs);
  await dump.emit();
  writer.moveTo(trace.totalTimePs);
  await writer.end();
}

function maxSlotsOf({ options }: ConversionContext): number {
  const text = options.get('max-slots') ?? String(DEFAULT_MAX_SLOTS);
  if (/^\d{1,5}$/.test(text)) return Number(text);
  throw new UscopeError('CONVERT_OPTION', `max-slots=${text}: a whole number up to 65535`);
}

function eventsWanted({ options }: ConversionContext): boolean {
  const text = options.get('events') ?? 'yes';
  if (text === 'yes' || text === 'no') return text === 'yes';
  throw new UscopeError('CONVERT_OPTION', `events=${text}: it is yes or no`);
}

/** VCD has no enums: what the numbers mean is in comments. */
function enumComments({ enums }: Schema): string[] {
  return enums.map(
    ({ name, values }) => `enum ${name}: ${values.map((one) => `${one.value}=${one.name}`).join(' ')}`,
  );
}

/** A change, or `null` for an event that happens. */
interface Change {
  readonly time: bigint;
  readonly variable: number;
  readonly value: bigint | null;
}

class Dump {
  private readonly values: bigint[];
  private readonly isText: Uint8Array;
  private changes: Change[] = [];
  private strings = new Set<number>();
  /** Variables that this frame has changed. */
  private readonly touched = new Set<number>();
  private readonly triggered = new Set<number>();
  private time = 0n;
  private readonly kept: { readonly ops: Tally; readonly events: Tally };

  constructor(
    private readonly trace: Trace,
    private readonly plan: VcdPlan,
    private readonly writer: VcdWriter,
    private readonly context: ConversionContext,
  ) {
    this.values = new Array<bigint>(plan.variables).fill(UNKNOWN);
    this.isText = new Uint8Array(plan.variables);
    this.markTexts();
    const { report } = context;
    this.kept = {
      ops: report.kept('changes of storages', 'changes of variables'),
      events: report.kept('events', 'an event and its fields'),
    };
  }

  get waiting(): number {
    return this.changes.length;
  }

  /** The values that all variables begin with. */
  async begin(state: StorageState, time: bigint): Promise<void> {
    this.time = time;
    for (const storage of this.plan.storages) if (storage) this.load(storage, state);
    const texts = this.values.flatMap((value, variable) =>
      this.isText[variable] && value !== UNKNOWN ? [Number(value)] : [],
    );
    await this.trace.strings.load(new Set(texts));
    this.writer.moveTo(time);
    this.writer.beginValues();
    const happenings = new Set(this.plan.events.flatMap((event) => (event ? [event.variable] : [])));
    this.values.forEach((value, variable) => {
      if (value !== UNKNOWN) this.put(variable, value);
      // Of texts there is no unknown one: they begin with their first.
      else if (!happenings.has(variable) && !this.isText[variable]) this.writer.change(variable, null);
    });
    this.writer.endValues();
    await this.writer.drain();
  }

  /** A frame begins: what the one before has changed, once per variable. */
  frame(time: bigint): void {
    for (const variable of this.touched) {
      const value = this.values[variable] ?? 0n;
      if (this.isText[variable]) this.strings.add(Number(value));
      this.changes.push({ time: this.time, variable, value });
    }
    for (const variable of this.triggered) this.changes.push({ time: this.time, variable, value: null });
    this.touched.clear();
    this.triggered.clear();
    this.time = time;
  }

  op(cursor: FrameCursor): void {
    const storage = this.plan.storages[cursor.storageId];
    if (!storage) {
      this.context.report.dropped('changes of large storages', 'more slots than max-slots').count++;
      return;
    }
    this.kept.ops.count++;
    const { action, slot, field } = cursor;
    const value = (BigInt(cursor.hi) << 32n) | BigInt(cursor.lo);
    if (action === Action.PROP_SET) {
      this.set(storage.properties + field, value, storage.def.properties[field]?.type);
      return;
    }
    if (slot >= storage.def.numSlots) return;
    const base = storage.firstVariable + slot * storage.perSlot;
    const firstField = base + (storage.hasValid ? 1 : 0);
    if (storage.hasValid) this.set(base, action === Action.CLEAR ? 0n : 1n, FieldType.BOOL);
    if (action === Action.CLEAR) {
      for (const [index, { type }] of storage.def.fields.entries()) this.set(firstField + index, 0n, type);
      return;
    }
    const variable = firstField + field;
    const old = action === Action.ADD ? (this.values[variable] ?? 0n) : 0n;
    this.set(variable, old + value, storage.def.fields[field]?.type);
  }

  event(cursor: FrameCursor): void {
    const event = this.plan.events[cursor.eventType];
    if (!event) {
      this.context.report.dropped('events', 'events=no').count++;
      return;
    }
    if (this.triggered.has(event.variable)) {
      this.context.report.approximated('events of one kind at one time', 'the last one shows').count++;
    } else this.kept.events.count++;
    this.triggered.add(event.variable);
    event.def.fields.forEach(({ type }, index) => {
      const value = readRaw(cursor.bytes, cursor.payloadOffset + (event.offsets[index] ?? 0), type);
      this.set(event.variable + 1 + index, value, type);
    });
  }

  async emit(): Promise<void> {
    await this.trace.strings.load(this.strings);
    for (const { time, variable, value } of this.changes) {
      this.writer.moveTo(time);
      if (value === null) this.writer.trigger(variable);
      else this.put(variable, value);
    }
    this.changes = [];
    this.strings = new Set();
    await this.writer.drain();
  }

  /** The client has replaced storages by snapshots. */
  replace(state: StorageState, time: bigint): void {
    this.frame(time);
    const before = [...this.values];
    for (const storage of this.plan.storages) if (storage) this.load(storage, state);
    this.values.forEach((value, variable) => {
      if (value !== before[variable]) this.touched.add(variable);
    });
  }

  private load(
    { def, firstVariable, perSlot, hasValid, properties }: StoragePlan,
    state: StorageState,
  ): void {
    for (let slot = 0; slot < def.numSlots; slot++) {
      const base = firstVariable + slot * perSlot;
      if (hasValid) this.values[base] = state.slotOccupied(def.storageId, slot) ? 1n : 0n;
      def.fields.forEach((_, field) => {
        this.values[base + (hasValid ? 1 : 0) + field] = state.value(def.storageId, slot, field);
      });
    }
    def.properties.forEach((_, index) => {
      this.values[properties + index] = state.property(def.storageId, index);
    });
  }

  private set(variable: number, value: bigint, type: FieldType | undefined): void {
    const bits = type === FieldType.BOOL ? 1 : 8 * fieldSize(type ?? FieldType.U64);
    const now = BigInt.asUintN(bits, value);
    if (this.values[variable] === now) return;
    this.values[variable] = now;
    this.touched.add(variable);
  }

  private put(variable: number, value: bigint): void {
    if (this.isText[variable])
      this.writer.text(variable, this.trace.strings.peek(Number(value)) ?? `#${value}`);
    else this.writer.change(variable, value);
  }

  private markTexts(): void {
    for (const storage of this.plan.storages) {
      if (!storage) continue;
      const { def, firstVariable, perSlot, hasValid, properties } = storage;
      const first = firstVariable + (hasValid ? 1 : 0);
      for (let slot = 0; slot < def.numSlots; slot++) this.mark(def.fields, first + slot * perSlot);
      this.mark(def.properties, properties);
    }
    for (const event of this.plan.events) if (event) this.mark(event.def.fields, event.variable + 1);
  }

  private mark(fields: readonly FieldDef[], first: number): void {
    for (const [index, { type }] of fields.entries()) {
      if (type === FieldType.STRING_REF) this.isText[first + index] = 1;
    }
  }
}
