/**
 * Any µScope trace to flux: a struct signal for each storage and each event type, a separate trace for each scope below the root (a core),
 * time in ps.
 */
import { CursorItem, type FrameCursor } from '../../format/frame.js';
import {
  Action,
  type FieldDef,
  FieldType,
  fieldSize,
  isSigned,
  type Schema,
  type ScopeDef,
  SF_SPARSE,
} from '../../format/types.js';
import { payloadLayout, type Trace } from '../../reader/index.js';
import { stateBefore, traceStart } from '../../reader/queries/state-before.js';
import { ItemStream } from '../../stream/item-stream.js';
import { StringRefs } from '../../stream/string-refs.js';
import type { ByteOutput, ConversionContext, OutputFiles } from '../common/foreign-format.js';
import type { Tally } from '../common/report.js';
import { type FluxExportOptions, fluxOptions } from './export-options.js';
import { StructBytes } from './struct-bytes.js';
import type { FluxTraceWriter } from './trace-writer.js';
import { Enumeration, FluxTag, FluxType, MemberType } from './types.js';
import { FluxWriter } from './writer.js';

const ACTION_NAMES: readonly (readonly [Action, string])[] = [
  [Action.SET, 'set'],
  [Action.CLEAR, 'clear'],
  [Action.ADD, 'add'],
  [Action.PROP_SET, 'property'],
];
/** Members of storages in front of fields and properties. */
const [OP, SLOT, FIRST_FIELD] = [0, 1, 2];
/** Room for the longest string in one member. */
const MAX_ENTRY = 256 * 1024;
const ROOT = 0;
const DESCRIPTOR = 'transaction<>';

/** @throws UscopeError CONVERT_OPTION, CONVERT_SOURCE (more scopes or items than flux has numbers for), FORMAT_* */
export async function traceToFlux(
  trace: Trace,
  files: OutputFiles,
  context: ConversionContext,
): Promise<void> {
  const options = fluxOptions(context.options);
  const cores = coresOf(trace.schema);
  const outputs = await openFiles(cores, files, options);
  const exporter = new Exporter(trace, cores, outputs, context);
  exporter.define(options);
  const items = new ItemStream(trace);
  const refs = new StringRefs(trace.schema);
  await exporter.begin(refs);
  try {
    while (await items.nextSegment()) {
      context.signal?.throwIfAborted();
      const wanted = new Set<number>();
      refs.collect(items.segment, wanted);
      await trace.strings.load(wanted);
      while (items.next()) {
        exporter.take(items.cursor);
        for (const file of outputs) if (file.isFull) await file.flush();
      }
      context.onProgress?.(Math.min(1, items.segmentsRead / Math.max(1, trace.segmentCount)));
    }
  } finally {
    await items.close();
  }
  exporter.end();
  for (const file of new Set(outputs)) await file.close();
}

/** A flux trace: a scope below the root with everything in it, or what is in the root itself. */
interface Core {
  readonly name: string;
  readonly scopes: readonly ScopeDef[];
}

function coresOf({ scopes, storages, events }: Schema): Core[] {
  const topOf = (id: number): number => {
    let at = scopes[id];
    while (at && at.parentId !== ROOT && at.scopeId !== ROOT) at = scopes[at.parentId];
    return at?.scopeId ?? ROOT;
  };
  const cores: Core[] = [];
  const inRoot = (id: number): boolean => id === ROOT || id >= scopes.length;
  if ([...storages, ...events].some(({ scopeId }) => inRoot(scopeId)) || scopes.length < 2) {
    cores.push({ name: 'root', scopes: [scopes[ROOT]] });
  }
  for (const top of scopes.filter(({ scopeId, parentId }) => scopeId !== ROOT && parentId === ROOT)) {
    cores.push({ name: top.name, scopes: scopes.filter(({ scopeId }) => topOf(scopeId) === top.scopeId) });
  }
  return cores;
}

/** One writer per core: the same one for all unless files are separate. */
async function openFiles(
  cores: readonly Core[],
  files: OutputFiles,
  { separate, compress }: FluxExportOptions,
): Promise<FluxWriter[]> {
  const open = (output: ByteOutput): FluxWriter => new FluxWriter(output, { compress });
  if (!separate) {
    const one = open(await files.open(null));
    return cores.map(() => one);
  }
  const writers: FluxWriter[] = [];
  for (const { name } of cores) writers.push(open(await files.open(name)));
  return writers;
}

/** An event type or storage as a signal. */
interface Target {
  readonly writer: FluxTraceWriter;
  readonly id: number;
  readonly fields: readonly FieldDef[];
  readonly offsets: readonly number[];
  readonly tally: Tally;
}

type Op = Pick<FrameCursor, 'action' | 'storageId' | 'slot' | 'field' | 'lo' | 'hi'>;

class Exporter {
  private readonly events: Target[] = [];
  private readonly storages: Target[] = [];
  private readonly writers: FluxTraceWriter[] = [];
  private readonly struct = new StructBytes();
  /** Ops on one slot that follow each other are one value. */
  private pending: { target: Target; storage: number; slot: number; timePs: bigint } | null = null;
  private pendingFields = 0n;
  private timePs = 0n;

  constructor(
    private readonly trace: Trace,
    private readonly cores: readonly Core[],
    private readonly files: readonly FluxWriter[],
    private readonly context: ConversionContext,
  ) {}

  define(options: FluxExportOptions): void {
    for (const [i, core] of this.cores.entries()) this.defineCore(core, i);
    if (options.ring === null) return;
    const files = new Set(this.files);
    for (const file of files) file.ring({ bytes: options.ring });
  }

  /** What a part of a longer trace holds at its beginning, as settings. */
  async begin(refs: StringRefs): Promise<void> {
    const { trace } = this;
    const state = await stateBefore(trace, await traceStart(trace));
    const { layout, cells } = state;
    const wanted = new Set<number>();
    refs.forEachInState(state, (word) => wanted.add(cells[word]));
    await trace.strings.load(wanted);
    this.timePs = await traceStart(trace);
    const set = (
      action: Action,
      storageId: number,
      slot: number,
      field: number,
      cell: number,
      all: boolean,
    ) => {
      const [lo, hi] = [cells[2 * cell], cells[2 * cell + 1]];
      if (all || lo !== 0 || hi !== 0) this.op({ action, storageId, slot, field, lo, hi });
    };
    for (const { storageId, flags, numSlots, fields, properties } of trace.schema.storages) {
      const isSparse = (flags & SF_SPARSE) !== 0;
      for (let slot = 0; slot < numSlots; slot++) {
        if (isSparse && !state.slotOccupied(storageId, slot)) continue;
        const base = layout.cellBase[storageId] + slot * fields.length;
        for (let i = 0; i < fields.length; i++) set(Action.SET, storageId, slot, i, base + i, isSparse);
      }
      const base = layout.propertyCellBase[storageId];
      for (let i = 0; i < properties.length; i++) set(Action.PROP_SET, storageId, 0, i, base + i, false);
    }
    this.finishSlot();
  }

  take(cursor: FrameCursor): void {
    if (cursor.kind === CursorItem.FRAME) {
      this.finishSlot();
      this.timePs = cursor.timePs;
    } else if (cursor.kind === CursorItem.OP) this.op(cursor);
    else this.event(cursor);
  }

  end(): void {
    this.finishSlot();
    for (const writer of this.writers) writer.close(0, this.timePs);
  }

  private defineCore({ name, scopes }: Core, index: number): void {
    const { schema } = this.trace;
    const maxItemId = schema.scopes.length + schema.storages.length + schema.events.length;
    const writer = this.files[index].trace({ traceId: index, name, maxItemId, maxEntrySize: MAX_ENTRY });
    this.writers.push(writer);
    const ids = new Map<number, number>();
    let next = 1;
    const isRoot = scopes[0]?.scopeId === ROOT;
    for (const [i, scope] of scopes.entries()) {
      // The core itself is the root of its trace.
      if (i === 0) {
        ids.set(scope.scopeId, 0);
        continue;
      }
      const parent = ids.get(scope.parentId) ?? 0;
      const [id, description] = [next++, scope.protocol ?? ''];
      ids.set(scope.scopeId, id);
      writer.entry({ tag: FluxTag.SCPD, id, parent, name: scope.name, description });
    }
    const parentOf = (scopeId: number): number | undefined =>
      isRoot && scopeId >= schema.scopes.length ? 0 : ids.get(scopeId);
    const members: (() => void)[] = [];
    for (const def of schema.storages) {
      const parent = parentOf(def.scopeId);
      if (parent === undefined) continue;
      const id = next++;
      const fields = [...def.fields, ...def.properties];
      const description = `storage of ${def.numSlots} slots`;
      this.signal(writer, id, parent, def.name, description);
      members.push(() => this.storageMembers(writer, id, fields, def.fields.length));
      const tally = this.context.report.kept(`ops of ${def.name}`, 'values of a struct signal');
      this.storages[def.storageId] = { writer, id, fields, offsets: [], tally };
    }
    for (const def of schema.events) {
      const parent = parentOf(def.scopeId);
      if (parent === undefined) continue;
      const id = next++;
      this.signal(writer, id, parent, def.name, 'event');
      members.push(() => this.members(writer, id, def.fields, 0));
      const { offsets } = payloadLayout(def.fields);
      const tally = this.context.report.kept(`events ${def.name}`, 'values of a struct signal');
      this.events[def.eventTypeId] = { writer, id, fields: def.fields, offsets, tally };
    }
    writer.open(0, 'ps', 0n);
    for (const define of members) define();
  }

  private signal(writer: FluxTraceWriter, id: number, parent: number, name: string, description: string) {
    writer.entry({
      tag: FluxTag.SIGD,
      id,
      parent,
      name,
      description,
      type: FluxType.STRUCT,
      descriptor: DESCRIPTOR,
    });
  }

  private storageMembers(
    writer: FluxTraceWriter,
    id: number,
    fields: readonly FieldDef[],
    numFields: number,
  ): void {
    this.member(writer, id, OP, '_op', MemberType.LOCAL_ENUM);
    for (const [value, label] of ACTION_NAMES) this.label(writer, id, OP, label, value);
    this.member(writer, id, SLOT, '_slot', MemberType.INTEGER);
    this.members(writer, id, fields.slice(0, numFields), FIRST_FIELD);
    this.members(writer, id, fields.slice(numFields), FIRST_FIELD + numFields, 'property ');
  }

  private members(
    writer: FluxTraceWriter,
    id: number,
    fields: readonly FieldDef[],
    first: number,
    prefix = '',
  ): void {
    for (const [i, field] of fields.entries()) {
      this.member(writer, id, first + i, `${prefix}${field.name}`, memberTypeOf(field));
      if (field.type !== FieldType.ENUM) continue;
      for (const { value, name } of this.trace.schema.enums[field.enumId]?.values ?? []) {
        this.label(writer, id, first + i, name, value);
      }
    }
  }

  private member(writer: FluxTraceWriter, id: number, member: number, label: string, type: number): void {
    writer.entry({ tag: FluxTag.MEMD, id, member, parent: 0, label, type, descriptor: '' });
  }

  private label(writer: FluxTraceWriter, id: number, member: number, label: string, value: number): void {
    const enumeration = Enumeration.MEMBER + member;
    writer.entry({ tag: FluxTag.ENMD, id, enumeration, label, value: BigInt(value) });
  }

  private op({ action, storageId, slot, field, lo, hi }: Op): void {
    const target = this.storages[storageId];
    if (!target) return;
    target.tally.count++;
    const isSet = action === Action.SET;
    const bit = 1n << BigInt(field);
    const { pending } = this;
    const goesOn = isSet && pending?.storage === storageId && pending.slot === slot;
    if (!goesOn || this.pendingFields & bit) this.finishSlot();
    const { struct } = this;
    if (!this.pending || !isSet) {
      struct.begin();
      struct.integer(OP, MemberType.LOCAL_ENUM, action, 0);
      struct.integer(SLOT, MemberType.INTEGER, slot, 0);
    }
    const numFields = this.trace.schema.storages[storageId].fields.length;
    const index = action === Action.PROP_SET ? numFields + field : field;
    if (action !== Action.CLEAR) this.put(FIRST_FIELD + index, target.fields[index], lo, hi, action);
    this.pending = { target, storage: storageId, slot, timePs: this.timePs };
    this.pendingFields |= bit;
    if (!isSet) this.finishSlot();
  }

  private finishSlot(): void {
    if (!this.pending) return;
    const { target, timePs } = this.pending;
    target.writer.sample(target.id, timePs, 1, 0, this.struct.bytes);
    this.pending = null;
    this.pendingFields = 0n;
  }

  private event({ bytes, eventType, payloadOffset }: FrameCursor): void {
    this.finishSlot();
    const target = this.events[eventType];
    if (!target) return;
    target.tally.count++;
    const { fields, offsets, writer, id } = target;
    this.struct.begin();
    for (let i = 0; i < fields.length; i++) {
      const at = payloadOffset + offsets[i];
      const size = fieldSize(fields[i].type);
      let lo = 0;
      for (let b = Math.min(size, 4) - 1; b >= 0; b--) lo = (lo << 8) | bytes[at + b];
      const hi =
        size < 8 ? 0 : bytes[at + 4] | (bytes[at + 5] << 8) | (bytes[at + 6] << 16) | (bytes[at + 7] << 24);
      this.put(i, fields[i], lo, hi, Action.SET);
    }
    writer.sample(id, this.timePs, 1, 0, this.struct.bytes);
  }

  private put(member: number, field: FieldDef, lo: number, hi: number, action: number): void {
    const { struct } = this;
    if (field.type === FieldType.STRING_REF && action !== Action.ADD) {
      struct.text(member, this.trace.strings.peek(lo >>> 0) ?? '');
      return;
    }
    const type = memberTypeOf(field);
    const size = fieldSize(field.type);
    if (action === Action.ADD || size === 8) {
      const isNegative = isSigned(field.type) || action === Action.ADD;
      struct.integer(member, type, lo, hi, !isNegative);
    } else if (isSigned(field.type)) {
      const low = size === 4 ? lo | 0 : (lo << (32 - 8 * size)) >> (32 - 8 * size);
      struct.integer(member, type, low, low >> 31);
    } else struct.integer(member, type, size === 4 ? lo >>> 0 : lo & (2 ** (8 * size) - 1), 0, true);
  }
}

function memberTypeOf({ type }: FieldDef): number {
  if (type === FieldType.ENUM) return MemberType.LOCAL_ENUM;
  return type === FieldType.STRING_REF ? MemberType.TEXT : MemberType.INTEGER;
}
