/** Finds the events of transactions in a trace and reads them: back to declarations, transactions and relations. */
import type { FrameCursor } from '../../format/frame.js';
import { type EventDef, NO_ID, packedSize, type Schema } from '../../format/types.js';
import { hasExactly, TR } from '../../protocols/index.js';
import type { Trace } from '../../reader/index.js';
import {
  BYTES_PER_EVENT,
  END_SUFFIX,
  PAYLOAD_BYTES,
  Part,
  planNames,
  RECORDING_PROTOCOL,
  type ReadEvent,
  ROOT_PREFIX,
  STREAM_PROTOCOL,
} from './event-schema.js';
import type { Declaration } from './model.js';
import { OpenById } from './open-by-id.js';
import {
  type FtrPhase,
  type FtrRelation,
  FtrTag,
  type FtrText,
  type FtrTransaction,
  type FtrType,
  type FtrValue,
  IS_FLOAT,
  IS_TEXT,
  PHASE_NAMES,
  TYPE_NAMES,
} from './types.js';
import { textOf, valueOfBits } from './values.js';

/** What the events are turned into, in the order of their ends. */
export interface TransactionSink {
  declare(declaration: Declaration): void;
  transaction(transaction: FtrTransaction): void;
  relation(relation: FtrRelation): void;
}

/** What was amiss, and not passed on. */
export interface EventFaults {
  /** Events of attributes and ends without a begin. */
  stray: number;
  /** Transactions without end: their begin is reported as the end. */
  unfinished: number;
  /** Values of enums that have no meaning. */
  invalid: number;
}

/** An `FtrAttribute` whose texts may still change. */
interface OpenAttribute {
  readonly phase: FtrPhase;
  name: FtrText;
  readonly type: FtrType;
  value: FtrValue;
}

interface OpenTransaction {
  readonly id: bigint;
  readonly stream: bigint;
  readonly generator: bigint;
  readonly start: bigint;
  readonly attributes: OpenAttribute[];
  /** Of each attribute its place in the transaction; numbers have none: 0. */
  readonly places: number[];
  /** They came in the order of their places, as nearly always. */
  isOrdered: boolean;
  /** Begun before under the same id, and not ended. */
  readonly outer: OpenTransaction | undefined;
}

/** An event of a generator. */
interface NamedEvent {
  readonly generator: bigint;
  readonly stream: bigint;
  readonly isEnd: boolean;
}

type Texts = { name: FtrText; value: FtrText };

/** An event that may be followed by bytes of its texts. */
interface Waiting {
  readonly texts: Texts;
  readonly bytes: [Uint8Array | null, Uint8Array | null];
  readonly commit: (texts: Texts) => void;
}

/** Where the fields of the two events of attributes are. */
const ATTRIBUTE_OFFSETS = { idx: 8, phase: 10, name: 11, type: 15, bits: 16, str: 24 } as const;
const NUMBER_OFFSETS = { idx: null, name: 8, phase: 12, type: 13, bits: 14, str: null } as const;

/** Number of bytes of a text that is believed. */
const MAX_TEXT_BYTES = 256 * 1024 * 1024;

/** Types of the events of a trace that say something of transactions; null where there are none. */
export function findEvents(trace: Trace): EventTypes | null {
  const types = new EventTypes(trace.schema);
  return types.isPresent ? types : null;
}

export class EventTypes {
  /** By event type: which root event; undefined for others. */
  readonly root: (ReadEvent | undefined)[] = [];
  /** By event type: of a scope of a stream. */
  readonly ofStream: boolean[] = [];

  constructor(readonly schema: Schema) {
    for (const event of schema.events) {
      const scope = schema.scopes[event.scopeId];
      const isRoot = event.scopeId === NO_ID || event.scopeId === 0;
      const prefix = isRoot ? ROOT_PREFIX : scope?.protocol === RECORDING_PROTOCOL ? '' : null;
      this.root.push(prefix === null ? undefined : rootEvent(event, prefix));
      this.ofStream.push(!isRoot && scope?.protocol === STREAM_PROTOCOL && isPair(event));
    }
  }

  get isPresent(): boolean {
    return this.root.includes('dir');
  }
}

function rootEvent(event: EventDef, prefix: string): ReadEvent | undefined {
  if (!event.name.startsWith(prefix)) return undefined;
  const name = event.name.slice(prefix.length) as ReadEvent;
  return Object.hasOwn(TR.events, name) && hasExactly(event, TR.events[name]) ? name : undefined;
}

function isPair({ fields }: EventDef): boolean {
  return (
    fields.length === 2 && fields[0].name === 'tx' && fields[1].name === 't' && packedSize(fields) === 16
  );
}

export class EventReader {
  readonly faults: EventFaults = { stray: 0, unfinished: 0, invalid: 0 };
  private readonly open = new OpenById<OpenTransaction>();
  private readonly declarations: Declaration[] = [];
  private readonly generatorStreams = new Map<bigint, bigint>();
  private waiting: Waiting | null = null;
  /** The attribute that came last: bytes of its texts may follow. */
  private lastAttribute: OpenAttribute | null = null;
  private bytes: Uint8Array = new Uint8Array(0);
  private view: DataView = new DataView(this.bytes.buffer);
  /** By event type, its generator and whether it is an end. Made anew when there are more declarations. */
  private named: (NamedEvent | undefined)[] = [];
  private namedFor = -1;

  constructor(
    private readonly types: EventTypes,
    private readonly text: (index: number) => string,
    private readonly sink: TransactionSink,
  ) {}

  /** Transactions that have begun and not ended. */
  get inFlight(): number {
    return this.open.size;
  }

  /** Takes the event that a cursor is at; false when it says nothing of transactions. */
  take(cursor: FrameCursor): boolean {
    const { eventType, payloadSize } = cursor;
    const root = this.types.root[eventType];
    if (root === undefined && !this.types.ofStream[eventType]) return false;
    if (cursor.bytes !== this.bytes) {
      this.bytes = cursor.bytes;
      this.view = new DataView(cursor.bytes.buffer, cursor.bytes.byteOffset, cursor.bytes.byteLength);
    }
    const at = cursor.payloadOffset;
    if (root === 'bytes') {
      if (payloadSize === PAYLOAD_BYTES.bytes) this.textBytes(at);
      return true;
    }
    this.commit();
    if (root === undefined) return payloadSize === 16 && this.ofGenerator(eventType, at);
    if (payloadSize === PAYLOAD_BYTES[root]) this.rootEvent(root, at);
    return true;
  }

  /** Passes on what is open. */
  finish(): void {
    this.commit();
    for (const last of this.open.inOrder()) {
      for (let one: OpenTransaction | undefined = last; one; one = one.outer) {
        this.faults.unfinished++;
        this.sink.transaction(completed(one, one.start));
      }
    }
    this.open.clear();
  }

  /** @param at of the payload in `view` */
  private rootEvent(root: Exclude<ReadEvent, 'bytes'>, at: number): void {
    const { view } = this;
    switch (root) {
      case 'dir':
        this.declaration(at);
        break;
      case 'begin':
        this.begin(at, this.u64(at + 8), this.u64(at + 16), this.u64(at + 24));
        break;
      case 'end':
        this.end(at, this.u64(at + 8));
        break;
      case 'attr':
        this.attribute(at, ATTRIBUTE_OFFSETS);
        break;
      case 'number':
        this.attribute(at, NUMBER_OFFSETS);
        break;
      case 'rel': {
        const [source, sink, sourceStream, sinkStream] = [4, 12, 20, 28].map((offset) =>
          this.u64(at + offset),
        );
        this.wait(view.getUint32(at, true), null, ({ name }) =>
          this.sink.relation({ name, source, sink, sourceStream, sinkStream }),
        );
      }
    }
  }

  private u64(at: number): bigint {
    return this.view.getBigUint64(at, true);
  }

  private declaration(at: number): void {
    const { view } = this;
    const tag = view.getUint8(at);
    const id = this.u64(at + 1);
    const stream = this.u64(at + 13);
    if (tag !== FtrTag.STREAM && tag !== FtrTag.GENERATOR) {
      this.faults.invalid++;
      return;
    }
    this.wait(view.getUint32(at + 9, true), view.getUint32(at + 21, true), ({ name, value }) => {
      const declaration: Declaration =
        tag === FtrTag.STREAM
          ? { kind: 'stream', id, name, streamKind: value }
          : { kind: 'generator', id, name, stream };
      this.declarations.push(declaration);
      if (declaration.kind === 'generator') this.generatorStreams.set(id, stream);
      this.sink.declare(declaration);
    });
  }

  private ofGenerator(eventType: number, at: number): boolean {
    if (this.namedFor !== this.declarations.length) this.nameAgain();
    const named = this.named[eventType];
    if (!named) return false;
    const t = this.u64(at + 8);
    if (named.isEnd) this.end(at, t);
    else this.begin(at, named.stream, named.generator, t);
    return true;
  }

  private nameAgain(): void {
    const { schema } = this.types;
    const plan = planNames(this.declarations);
    const byName = new Map(
      plan.generators.map(({ id, scope, event }) => [`${plan.scopes[scope].name}/${event}`, id] as const),
    );
    this.named = [];
    this.namedFor = this.declarations.length;
    for (const event of schema.events) {
      if (!this.types.ofStream[event.eventTypeId]) continue;
      const isEnd = event.name.endsWith(END_SUFFIX);
      const name = isEnd ? event.name.slice(0, -END_SUFFIX.length) : event.name;
      const generator = byName.get(`${schema.scopes[event.scopeId].name}/${name}`);
      if (generator === undefined) continue;
      const stream = this.generatorStreams.get(generator) ?? 0n;
      this.named[event.eventTypeId] = { generator, stream, isEnd };
    }
  }

  /** @param at of its id */
  private begin(at: number, stream: bigint, generator: bigint, start: bigint): void {
    const id = this.u64(at);
    const lo = this.view.getUint32(at, true);
    const hi = this.view.getUint32(at + 4, true);
    const outer = this.open.get(lo, hi);
    const transaction = { id, stream, generator, start, attributes: [], places: [], isOrdered: true, outer };
    this.open.set(lo, hi, transaction);
  }

  /** The open transaction whose id is at `at`. */
  private find(at: number): OpenTransaction | undefined {
    return this.open.get(this.view.getUint32(at, true), this.view.getUint32(at + 4, true));
  }

  private attribute(at: number, offsets: typeof ATTRIBUTE_OFFSETS | typeof NUMBER_OFFSETS): void {
    const { view } = this;
    const transaction = this.find(at);
    const phase = view.getUint8(at + offsets.phase);
    const type = view.getUint8(at + offsets.type) as FtrType;
    if (!transaction) this.faults.stray++;
    else if (phase >= PHASE_NAMES.length || type >= TYPE_NAMES.length) this.faults.invalid++;
    else {
      const isText = IS_TEXT[type] === 1;
      const attribute: OpenAttribute = {
        phase: phase as FtrPhase,
        name: this.text(view.getUint32(at + offsets.name, true)),
        type,
        value: isText
          ? offsets.str === null
            ? ''
            : this.text(view.getUint32(at + offsets.str, true))
          : IS_FLOAT[type] === 1
            ? view.getFloat64(at + offsets.bits, true)
            : valueOfBits(type, this.u64(at + offsets.bits)),
      };
      const idx = offsets.idx === null ? 0 : view.getUint16(at + offsets.idx, true);
      const { attributes, places } = transaction;
      if (places.length > 0 && idx < places[places.length - 1]) transaction.isOrdered = false;
      attributes.push(attribute);
      places.push(idx);
      this.lastAttribute = attribute;
    }
  }

  /** @param at of its id */
  private end(at: number, t: bigint): void {
    const transaction = this.find(at);
    if (!transaction) {
      this.faults.stray++;
      return;
    }
    const lo = this.view.getUint32(at, true);
    const hi = this.view.getUint32(at + 4, true);
    if (transaction.outer) this.open.set(lo, hi, transaction.outer);
    else this.open.delete(lo, hi);
    this.sink.transaction(completed(transaction, t));
  }

  private wait(name: number, value: number | null, commit: (texts: Texts) => void): void {
    const texts = { name: this.text(name), value: value === null ? '' : this.text(value) };
    this.waiting = { texts, bytes: [null, null], commit };
  }

  private textBytes(from: number): void {
    const { view } = this;
    const part = view.getUint8(from);
    const size = view.getUint32(from + 1, true);
    const at = view.getUint32(from + 5, true) * BYTES_PER_EVENT;
    if (this.lastAttribute) this.waitFor(this.lastAttribute);
    const { waiting } = this;
    if (!waiting || part > Part.VALUE || size > MAX_TEXT_BYTES || (at > 0 && at >= size)) {
      this.faults.invalid++;
      return;
    }
    // The memory grows with the received bytes: a size alone is not trusted.
    let known = waiting.bytes[part] ?? new Uint8Array(0);
    const end = Math.min(size, at + BYTES_PER_EVENT);
    if (at > known.length) {
      this.faults.invalid++;
      return;
    }
    if (end > known.length) known = appended(known, end);
    for (let i = at; i < end; i++) known[i] = view.getUint8(from + 9 + i - at);
    waiting.bytes[part] = known;
  }

  /** Bytes of its texts follow. */
  private waitFor(attribute: OpenAttribute): void {
    const isText = IS_TEXT[attribute.type] === 1;
    const texts: Texts = { name: attribute.name, value: isText ? (attribute.value as FtrText) : '' };
    const commit = ({ name, value }: Texts): void => {
      attribute.name = name;
      if (isText) attribute.value = value;
    };
    this.waiting = { texts, bytes: [null, null], commit };
    this.lastAttribute = null;
  }

  private commit(): void {
    this.lastAttribute = null;
    const { waiting } = this;
    if (!waiting) return;
    this.waiting = null;
    const { texts, bytes, commit } = waiting;
    if (bytes[0]) texts.name = textOf(bytes[0]);
    if (bytes[1]) texts.value = textOf(bytes[1]);
    commit(texts);
  }
}

/** Longer by a few bytes, in room that doubles. */
function appended(bytes: Uint8Array, length: number): Uint8Array {
  if (length <= bytes.buffer.byteLength) return new Uint8Array(bytes.buffer, 0, length);
  const grown = new Uint8Array(Math.max(64, length * 2));
  grown.set(bytes);
  return grown.subarray(0, length);
}

function completed(transaction: OpenTransaction, end: bigint): FtrTransaction {
  const { id, stream, generator, start, attributes, places, isOrdered } = transaction;
  if (isOrdered) return { id, stream, generator, start, end, attributes };
  const order = attributes.map((_, index) => index).sort((a, b) => places[a] - places[b]);
  return { id, stream, generator, start, end, attributes: order.map((index) => attributes[index]) };
}
