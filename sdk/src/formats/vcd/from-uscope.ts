/** µScope to VCD: storages, counters and events as variables. */
import { UscopeError } from '../../base/errors.js';
import { floatOf } from '../../format/float-fields.js';
import { CursorItem, type FrameCursor } from '../../format/frame.js';
import { Action, FieldType, type Schema } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import type { StorageState } from '../../state/storage-state.js';
import { snapshotFinder } from '../../stream/snapshot-finder.js';
import type { ConversionContext, OutputFiles } from '../common/foreign-format.js';
import { itemsWithTexts, type PrepareSegment } from '../common/items-with-texts.js';
import type { Tally } from '../common/report.js';
import { packingOfExtension } from '../text/output.js';
import { type FieldPlace, planVcd, type StoragePlan, type VcdPlan } from './plan.js';
import { VariableValues } from './variable-values.js';
import { VcdWriter } from './writer.js';

const DEFAULT_MAX_SLOTS = 256;

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
  const finder = await snapshotFinder(trace, 0n);
  const prepare: PrepareSegment = async (segment, wanted) => {
    if (!dump.hasBegun) dump.begin((await trace.stateBefore(segment.index)).raw, wanted);
    const replaced = finder?.begin(segment);
    if (replaced) dump.replace(replaced, wanted);
    finder?.taken();
  };
  for await (const items of itemsWithTexts(trace, { signal, onProgress }, undefined, prepare)) {
    dump.segment(items.segment.header.timeStartPs);
    while (items.next()) {
      const { cursor } = items;
      if (cursor.kind === CursorItem.OP) {
        finder?.op(cursor);
        dump.op(cursor);
      } else if (cursor.kind === CursorItem.EVENT) dump.event(cursor);
      else {
        dump.frame(cursor.timePs);
        if (writer.isFull) await writer.drain();
      }
    }
    dump.settle();
  }
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

class Dump {
  hasBegun = false;
  private readonly values: VariableValues;
  private readonly isText: Uint8Array;
  /** By variable, the bits of the floating-point number that it is. */
  private readonly floatBits: Uint8Array;
  /** Events that this frame has had, in order, and by variable whether it has. */
  private readonly triggered: number[] = [];
  private readonly isTriggered: Uint8Array;
  private hasValues = false;
  private time = 0n;
  private readonly kept: { readonly ops: Tally; readonly events: Tally };
  private readonly largeStorages: Tally;
  private readonly leftOut: Tally;
  private readonly repeated: Tally;

  constructor(
    private readonly trace: Trace,
    private readonly plan: VcdPlan,
    private readonly writer: VcdWriter,
    { report }: ConversionContext,
  ) {
    this.values = new VariableValues(plan);
    this.isText = new Uint8Array(plan.variables);
    this.floatBits = new Uint8Array(plan.variables);
    this.isTriggered = new Uint8Array(plan.variables);
    this.markKinds();
    this.kept = {
      ops: report.kept('changes of storages', 'changes of variables'),
      events: report.kept('events', 'an event and its fields'),
    };
    this.largeStorages = report.dropped('changes of large storages', 'more slots than max-slots');
    this.leftOut = report.dropped('events', 'events=no');
    this.repeated = report.approximated('events of one kind at one time', 'the last one shows');
  }

  /** What all variables begin with. Adds the texts in it to `wanted`. */
  begin(state: StorageState, wanted: Set<number>): void {
    this.hasBegun = true;
    this.load(state);
    this.values.forgetChanges();
    for (let variable = 0; variable < this.plan.variables; variable++)
      if (this.isText[variable] && this.values.known[variable]) wanted.add(this.values.lo(variable));
  }

  /** The client has replaced storages by snapshots. Adds the texts in them to `wanted`. */
  replace(state: StorageState, wanted: Set<number>): void {
    this.load(state);
    for (const variable of this.values.changed)
      if (this.isText[variable]) wanted.add(this.values.lo(variable));
  }

  /** A segment begins; the texts that were wanted are there. */
  segment(time: bigint): void {
    this.time = time;
    if (this.hasValues) return;
    this.hasValues = true;
    const { writer, values, plan } = this;
    writer.moveTo(time);
    writer.beginValues();
    const happenings = new Set(plan.events.flatMap((event) => (event ? [event.variable] : [])));
    for (let variable = 0; variable < plan.variables; variable++) {
      if (values.known[variable]) this.put(variable);
      // Of texts and reals there is no unknown one: they begin with their first.
      else if (!happenings.has(variable) && !this.isText[variable] && this.floatBits[variable] === 0)
        writer.change(variable, null);
    }
    writer.endValues();
  }

  /** A frame begins. */
  frame(time: bigint): void {
    this.settle();
    this.time = time;
  }

  /** The frame is over: what it has changed, once per variable. */
  settle(): void {
    const { values, triggered, writer } = this;
    const { changed } = values;
    if (changed.length === 0 && triggered.length === 0) return;
    writer.moveTo(this.time);
    for (let at = 0; at < changed.length; at++) this.put(changed[at]);
    for (let at = 0; at < triggered.length; at++) {
      writer.trigger(triggered[at]);
      this.isTriggered[triggered[at]] = 0;
    }
    values.forgetChanges();
    triggered.length = 0;
  }

  op(cursor: FrameCursor): void {
    const storage = this.plan.storages[cursor.storageId];
    if (!storage) {
      this.largeStorages.count++;
      return;
    }
    this.kept.ops.count++;
    const { values } = this;
    const { action, slot, field } = cursor;
    if (action === Action.PROP_SET) {
      const place = storage.propertyPlaces[field];
      if (place) values.set(storage.properties, place, cursor.lo, cursor.hi);
      return;
    }
    if (slot >= storage.def.numSlots) return;
    const base = storage.firstVariable + slot * storage.perSlot;
    const first = base + (storage.hasValid ? 1 : 0);
    if (storage.hasValid) values.setBit(base, action === Action.CLEAR ? 0 : 1);
    if (action === Action.CLEAR) {
      for (const place of storage.fields) values.set(first, place, 0, 0);
      return;
    }
    const place = storage.fields[field];
    if (!place) return;
    if (action === Action.ADD) values.add(first, place, cursor.lo, cursor.hi);
    else values.set(first, place, cursor.lo, cursor.hi);
  }

  event(cursor: FrameCursor): void {
    const event = this.plan.events[cursor.eventType];
    if (!event) {
      this.leftOut.count++;
      return;
    }
    const { variable, fields, offsets } = event;
    if (this.isTriggered[variable]) this.repeated.count++;
    else {
      this.kept.events.count++;
      this.isTriggered[variable] = 1;
      this.triggered.push(variable);
    }
    const { bytes, payloadOffset } = cursor;
    for (let index = 0; index < fields.length; index++) {
      const place = fields[index];
      const at = payloadOffset + offsets[index];
      const { size } = place;
      const lo = wordAt(bytes, at, Math.min(size, 4));
      this.values.set(variable + 1, place, lo, size === 8 ? wordAt(bytes, at + 4, 4) : 0);
    }
  }

  private load(state: StorageState): void {
    for (const storage of this.plan.storages) if (storage) this.loadStorage(storage, state);
  }

  private loadStorage(storage: StoragePlan, state: StorageState): void {
    const { def, firstVariable, perSlot, hasValid, fields, properties, propertyPlaces } = storage;
    const { values } = this;
    for (let slot = 0; slot < def.numSlots; slot++) {
      const base = firstVariable + slot * perSlot;
      if (hasValid) values.setBit(base, state.slotOccupied(def.storageId, slot) ? 1 : 0);
      fields.forEach((place, field) => {
        this.setWide(base + (hasValid ? 1 : 0), place, state.value(def.storageId, slot, field));
      });
    }
    propertyPlaces.forEach((place, index) => {
      this.setWide(properties, place, state.property(def.storageId, index));
    });
  }

  private setWide(first: number, place: FieldPlace, value: bigint): void {
    this.values.set(first, place, Number(value & 0xffff_ffffn), Number((value >> 32n) & 0xffff_ffffn));
  }

  private put(variable: number): void {
    const { values, writer } = this;
    if (this.isText[variable]) {
      const index = values.lo(variable);
      writer.text(variable, this.trace.strings.peek(index) ?? `#${index}`);
      return;
    }
    const floatBits = this.floatBits[variable] as 0 | 32 | 64;
    if (floatBits !== 0) {
      writer.real(variable, floatOf(floatBits, values.lo(variable), values.hi(variable)));
      return;
    }
    if (values.isSingle(variable)) {
      writer.change64(variable, values.lo(variable), values.hi(variable));
      return;
    }
    const unknown = values.unknown(variable) ?? 0n;
    if (unknown === 0n) writer.change(variable, values.value(variable));
    else writer.changeFourState(variable, values.value(variable), unknown);
  }

  private markKinds(): void {
    for (const storage of this.plan.storages) {
      if (!storage) continue;
      const { def, firstVariable, perSlot, hasValid, fields, properties, propertyPlaces } = storage;
      const first = firstVariable + (hasValid ? 1 : 0);
      for (let slot = 0; slot < def.numSlots; slot++) this.mark(fields, first + slot * perSlot);
      this.mark(propertyPlaces, properties);
    }
    for (const event of this.plan.events) if (event) this.mark(event.fields, event.variable + 1);
  }

  private mark(places: readonly FieldPlace[], first: number): void {
    for (const { type, variable, floatBits } of places) {
      this.floatBits[first + variable] = floatBits;
      if (type === FieldType.STRING_REF) this.isText[first + variable] = 1;
    }
  }
}

/** Of at most four bytes. */
function wordAt(bytes: Uint8Array, at: number, size: number): number {
  if (size === 1) return bytes[at];
  if (size === 2) return bytes[at] | (bytes[at + 1] << 8);
  return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
}
