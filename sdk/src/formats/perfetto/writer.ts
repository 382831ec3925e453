/**
 * Writes Perfetto's protobuf traces: tracks with slices, instants and counters, flows between slices. Field numbers are those of Perfetto's
 * trace_packet.proto, track_descriptor.proto and track_event.proto.
 */
import type { ByteSink } from '../text/output.js';
import { Message } from './message.js';

const Trace = { PACKET: 1 } as const;
const Packet = {
  TIMESTAMP: 8,
  SEQUENCE_ID: 10,
  TRACK_EVENT: 11,
  INTERNED_DATA: 12,
  SEQUENCE_FLAGS: 13,
  TRACK_DESCRIPTOR: 60,
} as const;
const SequenceFlag = { CLEARED: 1, NEEDS_STATE: 2 } as const;
const Descriptor = {
  UUID: 1,
  NAME: 2,
  PROCESS: 3,
  PARENT: 5,
  COUNTER: 8,
  CHILD_ORDER: 11,
  RANK: 12,
} as const;
const Process = { PID: 1, NAME: 6 } as const;
const Counter = { UNIT_NAME: 6 } as const;
/** TrackDescriptor.ChildTracksOrdering */
const EXPLICIT_ORDER = 3;
const Event = {
  CATEGORY_IIDS: 3,
  ANNOTATION: 4,
  TYPE: 9,
  NAME_IID: 10,
  TRACK: 11,
  COUNTER: 30,
  DOUBLE_COUNTER: 44,
  FLOWS: 47,
  LAST_FLOWS: 48,
} as const;
const EventType = { BEGIN: 1, END: 2, INSTANT: 3, COUNTER: 4 } as const;
const Annotation = { NAME_IID: 1, UINT: 3, STRING: 6 } as const;
const Interned = { CATEGORIES: 1, NAMES: 2, ANNOTATION_NAMES: 3 } as const;
const Entry = { IID: 1, NAME: 2 } as const;

const SEQUENCE_ID = 1;
/** Names after which the interning starts anew: readers and this writer keep them all until then. */
const MAX_INTERNED = 65_536;
const PIECE_BYTES = 128 * 1024;

export interface TrackSpec {
  /** Not 0, different for every track. */
  readonly uuid: number;
  readonly name: string;
  readonly parent?: number;
  /** Place among the tracks of its parent. */
  readonly rank?: number;
}

export interface SliceDetails {
  readonly category?: string | undefined;
  /** Shown when the slice is selected. */
  readonly args?: Readonly<Record<string, string | number>> | undefined;
  /** Flows through this slice: equal numbers are joined by arrows, in the order of time. */
  readonly flows?: readonly number[] | undefined;
  /** Flows that end in it. */
  readonly lastFlows?: readonly number[] | undefined;
}

const NO_DETAILS: SliceDetails = {};

export class PerfettoWriter {
  private readonly out = new Message(2 * PIECE_BYTES);
  /** Messages that are being put together; each ends up in the one before. */
  private readonly packet = new Message();
  private readonly inner = new Message();
  private readonly innermost = new Message();
  private readonly interned = new Message();
  private readonly names = new InternTable(Interned.NAMES);
  private readonly categories = new InternTable(Interned.CATEGORIES);
  private readonly annotations = new InternTable(Interned.ANNOTATION_NAMES);
  private readonly tables = [this.categories, this.names, this.annotations];

  constructor(
    private readonly sink: ByteSink,
    private readonly maxInterned = MAX_INTERNED,
  ) {
    this.clearInterned();
  }

  /** A group of tracks in the order of their ranks. @param pid its own number */
  process({ uuid, name }: TrackSpec, pid: number): void {
    const process = this.innermost.clear().number(Process.PID, pid).string(Process.NAME, name);
    const descriptor = this.inner.clear().number(Descriptor.UUID, uuid);
    descriptor.message(Descriptor.PROCESS, process).number(Descriptor.CHILD_ORDER, EXPLICIT_ORDER);
    this.describe(descriptor);
  }

  /** A track of slices and instants. Slices of one track lie one behind or inside the other. */
  track(spec: TrackSpec): void {
    this.describe(this.descriptorOf(spec));
  }

  counterTrack(spec: TrackSpec, unit: string): void {
    const counter = this.innermost.clear().string(Counter.UNIT_NAME, unit);
    this.describe(this.descriptorOf(spec).message(Descriptor.COUNTER, counter));
  }

  /** @param time in ns, a whole number below 2^53 */
  begin(track: number, time: number, name: string, details: SliceDetails = NO_DETAILS): void {
    this.event(EventType.BEGIN, track, time, name, details);
  }

  end(track: number, time: number): void {
    this.event(EventType.END, track, time, null, NO_DETAILS);
  }

  instant(track: number, time: number, name: string, details: SliceDetails = NO_DETAILS): void {
    this.event(EventType.INSTANT, track, time, name, details);
  }

  /** A whole number below 2^53 is exact; others are written as a double. */
  counter(track: number, time: number, value: number): void {
    const event = this.inner.clear().number(Event.TYPE, EventType.COUNTER).number(Event.TRACK, track);
    if (Number.isSafeInteger(value)) event.number(Event.COUNTER, value);
    else event.double(Event.DOUBLE_COUNTER, value);
    const packet = this.packet.clear().number(Packet.SEQUENCE_ID, SEQUENCE_ID);
    packet.number(Packet.TIMESTAMP, time).message(Packet.TRACK_EVENT, event);
    this.out.message(Trace.PACKET, packet);
  }

  /** Whether `drain` is due. */
  get isFull(): boolean {
    return this.out.length >= PIECE_BYTES;
  }

  async drain(): Promise<void> {
    if (this.isFull) await this.flush();
  }

  /** Everything is in the sink. */
  async finish(): Promise<void> {
    await this.flush();
  }

  private async flush(): Promise<void> {
    const { out } = this;
    const bytes = out.bytes.slice(0, out.length);
    out.clear();
    await this.sink.write(bytes);
  }

  private event(type: number, track: number, time: number, name: string | null, details: SliceDetails): void {
    this.restartInterning();
    const { category, args, flows, lastFlows } = details;
    const nameId = name === null ? 0 : this.names.id(name);
    const categoryId = category === undefined ? 0 : this.categories.id(category);
    // Names are fresh once they have been looked up, and readers need them before the event.
    for (const key in args) this.annotations.id(key);
    const { out } = this;
    const packet = out.open(Trace.PACKET);
    out.number(Packet.SEQUENCE_ID, SEQUENCE_ID).number(Packet.TIMESTAMP, time);
    out.number(Packet.SEQUENCE_FLAGS, SequenceFlag.NEEDS_STATE);
    if (this.hasFresh) out.message(Packet.INTERNED_DATA, this.takeInterned());
    const event = out.open(Packet.TRACK_EVENT);
    out.number(Event.TYPE, type).number(Event.TRACK, track);
    if (nameId > 0) out.number(Event.NAME_IID, nameId);
    if (categoryId > 0) out.number(Event.CATEGORY_IIDS, categoryId);
    for (const key in args) this.annotate(key, args[key]);
    if (flows) for (const flow of flows) out.fixed64(Event.FLOWS, flow);
    if (lastFlows) for (const flow of lastFlows) out.fixed64(Event.LAST_FLOWS, flow);
    out.close(event);
    out.close(packet);
  }

  private annotate(key: string, value: string | number): void {
    const { out } = this;
    const annotation = out.open(Event.ANNOTATION);
    out.number(Annotation.NAME_IID, this.annotations.id(key));
    if (typeof value === 'number') out.number(Annotation.UINT, value);
    else out.string(Annotation.STRING, value);
    out.close(annotation);
  }

  private get hasFresh(): boolean {
    return this.names.fresh.length + this.categories.fresh.length + this.annotations.fresh.length > 0;
  }

  private restartInterning(): void {
    const { names, categories, annotations, maxInterned } = this;
    if (Math.max(names.size, categories.size, annotations.size) < maxInterned) return;
    for (const table of this.tables) table.clear();
    this.clearInterned();
  }

  /** The names that readers do not know yet: they know them then. */
  private takeInterned(): Message {
    const interned = this.interned.clear();
    for (const { field, fresh } of this.tables) {
      for (const { id, name } of fresh) {
        const entry = interned.open(field);
        interned.number(Entry.IID, id).string(Entry.NAME, name).close(entry);
      }
      if (fresh.length > 0) fresh.length = 0;
    }
    return interned;
  }

  private clearInterned(): void {
    const packet = this.packet.clear().number(Packet.SEQUENCE_ID, SEQUENCE_ID);
    this.out.message(Trace.PACKET, packet.number(Packet.SEQUENCE_FLAGS, SequenceFlag.CLEARED));
  }

  private descriptorOf({ uuid, name, parent, rank }: TrackSpec): Message {
    const descriptor = this.inner.clear().number(Descriptor.UUID, uuid).string(Descriptor.NAME, name);
    if (parent !== undefined) descriptor.number(Descriptor.PARENT, parent);
    if (rank !== undefined) descriptor.number(Descriptor.RANK, rank);
    return descriptor;
  }

  private describe(descriptor: Message): void {
    const packet = this.packet.clear().number(Packet.SEQUENCE_ID, SEQUENCE_ID);
    this.out.message(Trace.PACKET, packet.message(Packet.TRACK_DESCRIPTOR, descriptor));
  }
}

/** Names with numbers, each told to readers once. */
class InternTable {
  readonly fresh: { id: number; name: string }[] = [];
  private readonly ids = new Map<string, number>();
  /** The last one that was asked for: the slices of an instruction have one name. */
  private last: string | null = null;
  private lastId = 0;

  constructor(readonly field: number) {}

  get size(): number {
    return this.ids.size;
  }

  id(name: string): number {
    if (name === this.last) return this.lastId;
    this.last = name;
    this.lastId = this.ids.get(name) ?? this.add(name);
    return this.lastId;
  }

  private add(name: string): number {
    const id = this.ids.size + 1;
    this.ids.set(name, id);
    this.fresh.push({ id, name });
    return id;
  }

  clear(): void {
    this.ids.clear();
    this.last = null;
    this.fresh.length = 0;
  }
}
