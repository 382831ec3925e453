/**
 * Writes Perfetto's protobuf traces: tracks with slices, instants and counters, flows between slices. Field numbers are those of Perfetto's
 * trace_packet.proto, track_descriptor.proto and track_event.proto.
 */
import { PbfWriter } from 'pbf';

export interface ByteSink {
  write(bytes: Uint8Array): Promise<void>;
}

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

/** Types of fields. */
const VARINT = 0;
const BYTES = 2;
const SEQUENCE_ID = 1;
/** Two tags with lengths, and seven fields with numbers of up to 8 bytes: below 127, so a length is a byte. */
const SHORT_EVENT_BYTES = 2 * 2 + 7 * 9;
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
  private readonly pbf = new PbfWriter(new Uint8Array(2 * PIECE_BYTES));
  private readonly names = new InternTable(Interned.NAMES);
  private readonly categories = new InternTable(Interned.CATEGORIES);
  private readonly annotations = new InternTable(Interned.ANNOTATION_NAMES);
  private readonly tables = [this.categories, this.names, this.annotations];
  /** The event that is being written: of millions, none is an object. */
  private readonly next = { type: 0, track: 0, time: 0, nameId: 0, categoryId: 0, details: NO_DETAILS };

  constructor(
    private readonly sink: ByteSink,
    private readonly maxInterned = MAX_INTERNED,
  ) {
    this.packet((pbf) => pbf.writeVarintField(Packet.SEQUENCE_FLAGS, SequenceFlag.CLEARED));
  }

  /** A group of tracks in the order of their ranks. @param pid its own number */
  process({ uuid, name }: TrackSpec, pid: number): void {
    this.describe(uuid, (pbf) => {
      pbf.writeMessage(
        Descriptor.PROCESS,
        (_, message) => {
          message.writeVarintField(Process.PID, pid);
          message.writeStringField(Process.NAME, name);
        },
        null,
      );
      pbf.writeVarintField(Descriptor.CHILD_ORDER, EXPLICIT_ORDER);
    });
  }

  /** A track of slices and instants. Slices of one track lie one behind or inside the other. */
  track({ uuid, name, parent, rank }: TrackSpec): void {
    this.describe(uuid, (pbf) => {
      pbf.writeStringField(Descriptor.NAME, name);
      place(pbf, parent, rank);
    });
  }

  counterTrack({ uuid, name, parent, rank }: TrackSpec, unit: string): void {
    this.describe(uuid, (pbf) => {
      pbf.writeStringField(Descriptor.NAME, name);
      place(pbf, parent, rank);
      pbf.writeMessage(
        Descriptor.COUNTER,
        (_, counter) => counter.writeStringField(Counter.UNIT_NAME, unit),
        null,
      );
    });
  }

  /** @param time in ns, a whole number below 2^53 */
  begin(track: number, time: number, name: string, details: SliceDetails = {}): void {
    this.event(EventType.BEGIN, track, time, name, details);
  }

  end(track: number, time: number): void {
    this.event(EventType.END, track, time, null, NO_DETAILS);
  }

  instant(track: number, time: number, name: string, details: SliceDetails = {}): void {
    this.event(EventType.INSTANT, track, time, name, details);
  }

  /** A whole number below 2^53 is exact; others are written as a double. */
  counter(track: number, time: number, value: number): void {
    this.packet((pbf) => {
      pbf.writeVarintField(Packet.TIMESTAMP, time);
      pbf.writeMessage(
        Packet.TRACK_EVENT,
        (_, event) => {
          event.writeVarintField(Event.TYPE, EventType.COUNTER);
          event.writeVarintField(Event.TRACK, track);
          if (Number.isSafeInteger(value)) event.writeVarintField(Event.COUNTER, value);
          else event.writeDoubleField(Event.DOUBLE_COUNTER, value);
        },
        null,
      );
    });
  }

  async drain(): Promise<void> {
    if (this.pbf.pos >= PIECE_BYTES) await this.flush();
  }

  /** Everything is in the sink. */
  async finish(): Promise<void> {
    await this.flush();
  }

  private async flush(): Promise<void> {
    const { pbf } = this;
    const bytes = pbf.buf.slice(0, pbf.pos);
    pbf.pos = 0;
    await this.sink.write(bytes);
  }

  private event(type: number, track: number, time: number, name: string | null, details: SliceDetails): void {
    this.restartInterning();
    const { next } = this;
    next.type = type;
    next.track = track;
    next.time = time;
    next.nameId = name === null ? 0 : this.names.id(name);
    next.categoryId = details.category === undefined ? 0 : this.categories.id(details.category);
    next.details = details;
    const { args, flows, lastFlows } = details;
    if (!args && !flows && !lastFlows && !this.hasFresh) {
      this.shortEvent(type, track, time, next.nameId, next.categoryId);
      return;
    }
    for (const key in args) this.annotations.id(key);
    this.pbf.writeMessage(Trace.PACKET, writeEventPacket, this);
  }

  /** The packet of `eventPacket` for an event with nothing but its name: most are such, and their lengths are a byte. */
  private shortEvent(type: number, track: number, time: number, nameId: number, categoryId: number): void {
    const { pbf } = this;
    pbf.realloc(SHORT_EVENT_BYTES);
    const { buf } = pbf;
    let at = pbf.pos;
    buf[at] = key(Trace.PACKET, BYTES);
    const packet = at + 2;
    at = putField(buf, packet, Packet.SEQUENCE_ID, SEQUENCE_ID);
    at = putField(buf, at, Packet.TIMESTAMP, time);
    at = putField(buf, at, Packet.SEQUENCE_FLAGS, SequenceFlag.NEEDS_STATE);
    buf[at] = key(Packet.TRACK_EVENT, BYTES);
    const event = at + 2;
    at = putField(buf, event, Event.TYPE, type);
    at = putField(buf, at, Event.TRACK, track);
    if (nameId > 0) at = putField(buf, at, Event.NAME_IID, nameId);
    if (categoryId > 0) at = putField(buf, at, Event.CATEGORY_IIDS, categoryId);
    buf[event - 1] = at - event;
    buf[packet - 1] = at - packet;
    pbf.pos = at;
  }

  private get hasFresh(): boolean {
    return this.names.fresh.length + this.categories.fresh.length + this.annotations.fresh.length > 0;
  }

  /** @internal A packet with the event that is next, and the names in it that readers do not know yet. */
  eventPacket(pbf: PbfWriter): void {
    pbf.writeVarintField(Packet.SEQUENCE_ID, SEQUENCE_ID);
    pbf.writeVarintField(Packet.TIMESTAMP, this.next.time);
    pbf.writeVarintField(Packet.SEQUENCE_FLAGS, SequenceFlag.NEEDS_STATE);
    if (this.hasFresh) pbf.writeMessage(Packet.INTERNED_DATA, writeInterned, this.tables);
    pbf.writeMessage(Packet.TRACK_EVENT, writeTrackEvent, this);
  }

  /** @internal */
  trackEvent(pbf: PbfWriter): void {
    const { type, track, nameId, categoryId, details } = this.next;
    pbf.writeVarintField(Event.TYPE, type);
    pbf.writeVarintField(Event.TRACK, track);
    if (nameId > 0) pbf.writeVarintField(Event.NAME_IID, nameId);
    if (categoryId > 0) pbf.writeVarintField(Event.CATEGORY_IIDS, categoryId);
    const { args, flows, lastFlows } = details;
    for (const key in args)
      pbf.writeMessage(Event.ANNOTATION, writeAnnotation, { id: this.annotations.id(key), value: args[key] });
    if (flows) for (const flow of flows) pbf.writeFixed64Field(Event.FLOWS, flow);
    if (lastFlows) for (const flow of lastFlows) pbf.writeFixed64Field(Event.LAST_FLOWS, flow);
  }

  private restartInterning(): void {
    const { names, categories, annotations, maxInterned } = this;
    if (Math.max(names.size, categories.size, annotations.size) < maxInterned) return;
    for (const table of this.tables) table.clear();
    this.packet((pbf) => pbf.writeVarintField(Packet.SEQUENCE_FLAGS, SequenceFlag.CLEARED));
  }

  private describe(uuid: number, write: (pbf: PbfWriter) => void): void {
    this.packet((pbf) => {
      pbf.writeMessage(
        Packet.TRACK_DESCRIPTOR,
        (_, descriptor) => {
          descriptor.writeVarintField(Descriptor.UUID, uuid);
          write(descriptor);
        },
        null,
      );
    });
  }

  private packet(write: (pbf: PbfWriter) => void): void {
    this.pbf.writeMessage(
      Trace.PACKET,
      (_, packet) => {
        packet.writeVarintField(Packet.SEQUENCE_ID, SEQUENCE_ID);
        write(packet);
      },
      null,
    );
  }
}

function place(pbf: PbfWriter, parent: number | undefined, rank: number | undefined): void {
  if (parent !== undefined) pbf.writeVarintField(Descriptor.PARENT, parent);
  if (rank !== undefined) pbf.writeVarintField(Descriptor.RANK, rank);
}

const writeEventPacket = (writer: PerfettoWriter, pbf: PbfWriter): void => writer.eventPacket(pbf);
const writeTrackEvent = (writer: PerfettoWriter, pbf: PbfWriter): void => writer.trackEvent(pbf);

/** Tag of a field below 16. */
const key = (field: number, type: number): number => (field << 3) | type;

/** A field below 16 with a whole number below 2^53; returns the offset after it. */
function putField(buf: Uint8Array, from: number, field: number, value: number): number {
  let at = from;
  buf[at++] = key(field, VARINT);
  let rest = value;
  while (rest >= 0x8000_0000) {
    buf[at++] = (rest % 128) | 0x80;
    rest = Math.floor(rest / 128);
  }
  while (rest >= 0x80) {
    buf[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  buf[at++] = rest;
  return at;
}

function writeInterned(tables: readonly InternTable[], pbf: PbfWriter): void {
  for (const { field, fresh } of tables) {
    for (const entry of fresh.splice(0)) pbf.writeMessage(field, writeEntry, entry);
  }
}

function writeAnnotation({ id, value }: { id: number; value: string | number }, pbf: PbfWriter): void {
  pbf.writeVarintField(Annotation.NAME_IID, id);
  if (typeof value === 'number') pbf.writeVarintField(Annotation.UINT, value);
  else pbf.writeStringField(Annotation.STRING, value);
}

function writeEntry({ id, name }: { id: number; name: string }, pbf: PbfWriter): void {
  pbf.writeVarintField(Entry.IID, id);
  pbf.writeStringField(Entry.NAME, name);
}

/** Names with numbers, each told to readers once. */
class InternTable {
  readonly fresh: { id: number; name: string }[] = [];
  private readonly ids = new Map<string, number>();

  constructor(readonly field: number) {}

  get size(): number {
    return this.ids.size;
  }

  id(name: string): number {
    const known = this.ids.get(name);
    if (known !== undefined) return known;
    const id = this.ids.size + 1;
    this.ids.set(name, id);
    this.fresh.push({ id, name });
    return id;
  }

  clear(): void {
    this.ids.clear();
    this.fresh.length = 0;
  }
}
