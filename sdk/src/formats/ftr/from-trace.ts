/** Any µScope trace to FTR: scopes are streams, lifetimes of slots, changes and events are transactions. */
import { CursorItem, type FrameCursor } from '../../format/frame.js';
import { Action, type EventDef, type FieldDef, packedSize, qualifiedName } from '../../format/types.js';
import { payloadLayout, readRaw, type Trace } from '../../reader/index.js';
import { stateBefore, traceStart } from '../../reader/queries/state-before.js';
import { findCores } from '../../semantics/cpu/index.js';
import type { StorageState } from '../../state/storage-state.js';
import { StringRefs } from '../../stream/string-refs.js';
import type { ConversionContext, OutputFiles } from '../common/foreign-format.js';
import { itemsWithTexts } from '../common/items-with-texts.js';
import {
  type EventOut,
  FieldAttributes,
  PARENT_OF,
  rootedId,
  TraceStreams,
  unsigned,
} from './trace-streams.js';
import type { FtrAttribute } from './types.js';
import { FtrWriter, type FtrWriterOptions } from './writer.js';

/** Instructions whose transaction is remembered, in flight or ended. */
const MAX_ENTITIES = 65_536;
const CPU = 'cpu';
const DEPENDENCY = 'dependency';

export interface TraceExportOptions extends FtrWriterOptions {
  /** One file per scope at root level instead of one for all. */
  readonly isSeparate?: boolean | undefined;
}

/** @throws UscopeError FORMAT_*, WRITER_EXISTS */
export async function traceToFtr(
  trace: Trace,
  files: OutputFiles,
  options: TraceExportOptions,
  context: ConversionContext,
): Promise<void> {
  const writers = await openWriters(trace, files, options);
  const writerOf = (scopeId: number): FtrWriter => writers.get(topScope(trace, scopeId)) ?? writers.get(0)!;
  const text = (index: number): string => trace.strings.peek(index) ?? '';
  const state = await stateBefore(trace, await traceStart(trace));
  const refs = new StringRefs(trace.schema);
  await loadStrings(trace, refs, state);
  const mapping = new TraceMapping(trace, state, writerOf, text, context);
  mapping.start(await traceStart(trace));
  const distinct = [...new Set(writers.values())];
  for await (const items of itemsWithTexts(trace, context, refs)) {
    let count = 0;
    while (items.next()) {
      mapping.take(items.cursor);
      if (++count % 1024 === 0) for (const writer of distinct) if (writer.isFull) await writer.flush();
    }
    mapping.endFrame();
  }
  mapping.finish();
  for (const writer of distinct) await writer.close();
}

async function openWriters(
  trace: Trace,
  files: OutputFiles,
  options: TraceExportOptions,
): Promise<ReadonlyMap<number, FtrWriter>> {
  if (!options.isSeparate) return new Map([[0, new FtrWriter(await files.open(null), options)]]);
  const writers = new Map<number, FtrWriter>();
  for (const { scopeId } of [...trace.schema.storages, ...trace.schema.events]) {
    const top = topScope(trace, rootedId(scopeId));
    if (writers.has(top)) continue;
    const part = top === 0 ? 'root' : trace.schema.scopes[top].name;
    writers.set(top, new FtrWriter(await files.open(part), options));
  }
  if (writers.size === 0) writers.set(0, new FtrWriter(await files.open(null), options));
  return writers;
}

/** The scope at root level above a scope; 0 for the root itself. */
function topScope({ schema }: Trace, scopeId: number): number {
  let id = scopeId;
  for (let depth = 0; depth < schema.scopes.length; depth++) {
    const parent = rootedId(schema.scopes[id]?.parentId ?? 0);
    if (parent === 0) break;
    id = parent;
  }
  return id;
}

async function loadStrings(trace: Trace, refs: StringRefs, state: StorageState): Promise<void> {
  const wanted = new Set<number>();
  refs.forEachInState(state, (word) => wanted.add(state.cells[word]));
  await trace.strings.load(wanted);
}

/** A slot that is taken. */
interface Lifetime {
  readonly id: bigint;
  readonly start: bigint;
  readonly attributes: FtrAttribute[];
  /** Born in the present frame: what is set is part of the birth. */
  isNew: boolean;
}

/** What changed in a slot, or the properties, of a storage in the present frame. */
interface Change {
  readonly storage: number;
  /** -1: the properties. */
  readonly slot: number;
  readonly attributes: FtrAttribute[];
}

interface EventMapping {
  readonly def: EventDef;
  readonly out: EventOut;
  readonly size: number;
  readonly offsets: readonly number[];
  /** Names of the instructions of a core: indices of fields, -1 for none. */
  readonly core: CoreMapping | null;
  readonly entity: number;
  readonly source: number;
  readonly sink: number;
  readonly kind: FieldDef | null;
}

/** Instructions of a core by their ids: the transactions they are. */
interface CoreMapping {
  readonly storage: number;
  readonly idField: number;
  readonly transactions: Map<number, bigint>;
}

class TraceMapping {
  private readonly streams: TraceStreams;
  private readonly fields: FieldAttributes;
  private readonly lifetimes: (Lifetime | undefined)[][];
  private readonly changes = new Map<number, Change>();
  private readonly cores = new Map<number, CoreMapping>();
  private readonly events: readonly EventMapping[];
  private readonly tallies;
  private readonly born: Lifetime[] = [];
  private timePs = 0n;

  constructor(
    private readonly trace: Trace,
    private readonly state: StorageState,
    writerOf: (scopeId: number) => FtrWriter,
    text: (index: number) => string,
    { report }: ConversionContext,
  ) {
    const { schema } = trace;
    this.streams = new TraceStreams(schema, trace.dut, writerOf);
    this.fields = new FieldAttributes(schema, text);
    this.lifetimes = schema.storages.map(() => []);
    for (const { scopeId, entities } of findCores(trace)) {
      if (!entities) continue;
      const { def, idField } = entities;
      this.cores.set(rootedId(scopeId), { storage: def.storageId, idField, transactions: new Map() });
    }
    this.events = schema.events.map((def) => this.eventMapping(def));
    this.tallies = {
      storages: schema.storages.map((def) => {
        const name = qualifiedName(schema, def);
        return {
          lifetimes: report.kept(`slots of ${name}`, 'transactions'),
          changes: report.kept(`changes of ${name}`, 'transactions without duration'),
        };
      }),
      events: schema.events.map((def) =>
        report.kept(`event ${qualifiedName(schema, def)}`, 'transactions without duration, or relations'),
      ),
      before: report.approximated(
        'slots taken before the trace begins',
        'transactions that start where it begins',
      ),
      open: report.approximated('slots taken at the end of the trace', 'transactions that end where it ends'),
      damaged: report.dropped('items of a wrong size or place', 'they do not fit the schema'),
    };
  }

  private eventMapping(def: EventDef): EventMapping {
    const { scopes } = this.trace.schema;
    const scopeId = rootedId(def.scopeId);
    const core = scopes[scopeId]?.protocol === CPU ? (this.cores.get(scopeId) ?? null) : null;
    const fieldAt = (name: string): number => def.fields.findIndex((field) => field.name === name);
    const isDependency = core !== null && def.name === DEPENDENCY;
    return {
      def,
      out: this.streams.events[def.eventTypeId],
      size: packedSize(def.fields),
      offsets: payloadLayout(def.fields).offsets,
      core,
      entity: core ? fieldAt('entity_id') : -1,
      source: isDependency ? fieldAt('src_id') : -1,
      sink: isDependency ? fieldAt('dst_id') : -1,
      kind: def.fields[fieldAt('dep_type')] ?? null,
    };
  }

  /** Slots that are taken when the trace begins. */
  start(timePs: bigint): void {
    this.timePs = timePs;
    const { schema } = this.trace;
    for (const { storageId, numSlots, fields } of schema.storages) {
      for (let slot = 0; slot < numSlots; slot++) {
        if (!this.state.slotOccupied(storageId, slot)) continue;
        const { hasLifetimes } = this.streams.storages[storageId];
        const { attributes } = hasLifetimes ? this.birth(storageId, slot) : this.change(storageId, slot);
        for (const [index, field] of fields.entries())
          this.fields.add(attributes, field, this.state.value(storageId, slot, index));
        this.note(storageId, slot);
        this.tallies.before.count++;
      }
    }
    this.endFrame();
  }

  take(cursor: FrameCursor): void {
    if (cursor.kind === CursorItem.OP) this.op(cursor);
    else if (cursor.kind === CursorItem.EVENT) this.event(cursor);
    else {
      this.endFrame();
      this.timePs = cursor.timePs;
    }
  }

  private op({ action, storageId, slot, field, lo, hi }: FrameCursor): void {
    if (!this.state.inRange(action, storageId, slot, field)) {
      this.tallies.damaged.count++;
      return;
    }
    const { hasLifetimes } = this.streams.storages[storageId];
    const isTaken = this.state.slotOccupied(storageId, action === Action.PROP_SET ? 0 : slot);
    this.state.apply(action, storageId, slot, field, lo, hi);
    const def = this.trace.schema.storages[storageId];
    if (action === Action.PROP_SET) {
      const change = this.change(storageId, -1);
      this.fields.add(change.attributes, def.properties[field], this.state.property(storageId, field));
    } else if (action === Action.CLEAR) this.clear(storageId, slot, isTaken, hasLifetimes);
    else {
      const life = hasLifetimes
        ? (this.lifetimes[storageId][slot] ?? this.birth(storageId, slot))
        : undefined;
      const { attributes } = life?.isNew ? life : this.change(storageId, slot);
      this.fields.add(attributes, def.fields[field], this.state.value(storageId, slot, field));
      this.note(storageId, slot, field);
    }
  }

  private birth(storage: number, slot: number): Lifetime {
    const attributes = this.attributesOf(storage, slot);
    const life = { id: this.streams.takeTransaction(), start: this.timePs, attributes, isNew: true };
    this.lifetimes[storage][slot] = life;
    this.born.push(life);
    return life;
  }

  private attributesOf(storage: number, slot: number): FtrAttribute[] {
    return this.streams.storages[storage].tellsSlot ? [unsigned('slot', BigInt(slot))] : [];
  }

  /** Remembers under which id an instruction is spoken of. */
  private note(storage: number, slot: number, field?: number): void {
    for (const core of this.cores.values()) {
      if (core.storage !== storage || (field !== undefined && core.idField >= 0 && field !== core.idField))
        continue;
      const life = this.lifetimes[storage][slot];
      if (!life) continue;
      const id = core.idField < 0 ? slot : Number(this.state.value(storage, slot, core.idField));
      core.transactions.delete(id);
      core.transactions.set(id, life.id);
      if (core.transactions.size > MAX_ENTITIES) {
        const [oldest] = core.transactions.keys();
        core.transactions.delete(oldest);
      }
    }
  }

  private clear(storage: number, slot: number, isTaken: boolean, hasLifetimes: boolean): void {
    if (!hasLifetimes) {
      if (!isTaken) return;
      const { attributes } = this.change(storage, slot);
      attributes.push({ phase: 0, name: 'clear', type: 0, value: true });
      return;
    }
    this.flushChange(changeKey(storage, slot));
    this.death(storage, slot);
  }

  private death(storage: number, slot: number): void {
    const life = this.lifetimes[storage][slot];
    if (!life) return;
    this.lifetimes[storage][slot] = undefined;
    const { writer, stream, generator } = this.streams.storages[storage];
    const { id, start, attributes } = life;
    writer.transaction({ id, stream, generator, start, end: this.timePs, attributes });
    this.tallies.storages[storage].lifetimes.count++;
  }

  private change(storage: number, slot: number): Change {
    const key = changeKey(storage, slot);
    let change = this.changes.get(key);
    if (!change) {
      change = { storage, slot, attributes: slot < 0 ? [] : this.attributesOf(storage, slot) };
      this.changes.set(key, change);
    }
    return change;
  }

  private flushChange(key: number): void {
    const change = this.changes.get(key);
    if (!change) return;
    this.changes.delete(key);
    const { storage, slot, attributes } = change;
    const out = this.streams.storages[storage];
    const id = this.streams.takeTransaction();
    const ofSlot = out.hasLifetimes ? out.changes : out.generator;
    const generator = slot < 0 ? out.properties : ofSlot;
    out.writer.transaction({
      id,
      stream: out.stream,
      generator,
      start: this.timePs,
      end: this.timePs,
      attributes,
    });
    this.tallies.storages[storage].changes.count++;
    const life = slot < 0 ? undefined : this.lifetimes[storage][slot];
    if (life) this.relate(out, PARENT_OF, life.id, id);
  }

  private relate({ writer, stream }: EventOut, name: string, source: bigint, sink: bigint): void {
    writer.relation({ name, source, sink, sourceStream: stream, sinkStream: stream });
  }

  private event(cursor: FrameCursor): void {
    const mapping = this.events[cursor.eventType];
    if (!mapping || cursor.payloadSize !== mapping.size) {
      this.tallies.damaged.count++;
      return;
    }
    this.tallies.events[cursor.eventType].count++;
    const { def, offsets, out, core } = mapping;
    const raw = (index: number): bigint =>
      readRaw(cursor.bytes, cursor.payloadOffset + offsets[index], def.fields[index].type);
    if (core && mapping.source >= 0 && mapping.sink >= 0) {
      const source = core.transactions.get(Number(raw(mapping.source)));
      const sink = core.transactions.get(Number(raw(mapping.sink)));
      if (source !== undefined && sink !== undefined) {
        const { kind } = mapping;
        const name = kind ? this.fields.label(kind, raw(def.fields.indexOf(kind))) : DEPENDENCY;
        this.relate(out, name, source, sink);
        return;
      }
    }
    const attributes: FtrAttribute[] = [];
    for (const [index, field] of def.fields.entries()) this.fields.add(attributes, field, raw(index));
    const id = this.streams.takeTransaction();
    const { writer, stream, generator } = out;
    writer.transaction({ id, stream, generator, start: this.timePs, end: this.timePs, attributes });
    const entity = mapping.entity < 0 ? undefined : core?.transactions.get(Number(raw(mapping.entity)));
    if (entity !== undefined) this.relate(out, PARENT_OF, entity, id);
  }

  /** Says what the frame changed. */
  endFrame(): void {
    for (const key of this.changes.keys()) this.flushChange(key);
    for (const life of this.born) life.isNew = false;
    this.born.length = 0;
  }

  finish(): void {
    this.endFrame();
    for (const [storage, slots] of this.lifetimes.entries()) {
      for (const slot of slots.keys()) {
        if (!slots[slot]) continue;
        this.tallies.open.count++;
        this.death(storage, slot);
      }
    }
  }
}

const SLOTS = 0x1_0000;

/** One number per storage and slot, or its properties. */
function changeKey(storage: number, slot: number): number {
  return storage * (SLOTS + 1) + slot + 1;
}
