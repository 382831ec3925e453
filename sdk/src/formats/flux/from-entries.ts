/** µScope made of flux back to flux: the same entries. */
import { concatBytes } from '../../base/bytes.js';
import { UscopeError } from '../../base/errors.js';
import { fromHex } from '../../base/hex.js';
import { CursorItem, type FrameCursor } from '../../format/frame.js';
import { qualifiedName, type Schema } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import { ItemStream } from '../../stream/item-stream.js';
import { StringRefs } from '../../stream/string-refs.js';
import type { ConversionContext, OutputFiles } from '../common/foreign-format.js';
import { type DomainUnit, unitOf } from './domains.js';
import { EventFields } from './event-fields.js';
import { fluxOptions } from './export-options.js';
import {
  ALL_ONE,
  ALL_ZERO,
  DYNAMIC,
  ENTRIES_PROPERTY,
  ENTRIES_VERSION,
  Form,
  type MappedMember,
  META_EVENTS,
  META_SCOPE,
  type MetaEvent,
  Tag,
  UNIFORM,
} from './mapping.js';
import { bigIntToSint } from './numbers.js';
import type { FluxTraceWriter } from './trace-writer.js';
import { CONFLICT, type FluxEntry, FluxTag, FluxType, HeadMode, MAX_ITEM_ID, TAG_NAMES } from './types.js';
import { encodeValue, type FluxList, memberBytes, membersOf } from './values.js';
import { FluxWriter } from './writer.js';

/** Whether a trace holds the entries of a flux file. */
export function hasEntries(trace: Trace): boolean {
  return trace.dutProperty(ENTRIES_PROPERTY) === ENTRIES_VERSION;
}

/** @throws UscopeError CONVERT_SOURCE (the events are not those of a whole file, or break a limit of flux), FORMAT_* */
export async function entriesToFlux(
  trace: Trace,
  files: OutputFiles,
  context: ConversionContext,
): Promise<void> {
  const options = fluxOptions(context.options);
  const output = await files.open(null);
  const writer = new FluxWriter(output, { compress: options.compress });
  const text = (index: number): string => trace.strings.peek(index) ?? '';
  const builder = new EntryBuilder(trace.schema, writer, text, context);
  const items = new ItemStream(trace);
  const refs = new StringRefs(trace.schema);
  try {
    while (await items.nextSegment()) {
      context.signal?.throwIfAborted();
      const wanted = new Set<number>();
      refs.collect(items.segment, wanted);
      await trace.strings.load(wanted);
      while (items.next()) {
        if (items.cursor.kind !== CursorItem.EVENT) continue;
        builder.take(items.cursor);
        if (writer.isFull) await writer.flush();
      }
      context.onProgress?.(Math.min(1, items.segmentsRead / Math.max(1, trace.segmentCount)));
    }
  } finally {
    await items.close();
  }
  await writer.close();
}

interface Signal {
  readonly trace: number;
  readonly item: number;
  readonly form: Form;
  readonly members: readonly MappedMember[];
}

/** Time of a group: units of its domain by ps. */
interface Clock {
  readonly unit: DomainUnit;
  readonly origin: bigint;
}

class EntryBuilder {
  private readonly fields: EventFields;
  private readonly meta: (MetaEvent | undefined)[] = [];
  private readonly signals: (Signal | undefined)[] = [];
  private readonly byName: ReadonlyMap<string, number>;
  private readonly traces = new Map<number, FluxTraceWriter>();
  private readonly clocks = new Map<string, Clock>();
  private told: bigint | null = null;
  private parts: Uint8Array[] = [];
  private readonly count: (tag: number) => void;

  constructor(
    schema: Schema,
    private readonly writer: FluxWriter,
    text: (index: number) => string,
    context: ConversionContext,
  ) {
    this.fields = new EventFields(schema, text);
    this.byName = new Map(schema.events.map((event) => [qualifiedName(schema, event), event.eventTypeId]));
    for (const name of Object.keys(META_EVENTS)) {
      const id = this.byName.get(`${META_SCOPE}/${name}`);
      if (id !== undefined) this.meta[id] = name as MetaEvent;
    }
    const tallies = new Map(
      [...TAG_NAMES].map(([tag, name]) => [tag, context.report.kept(`${name} entries`)]),
    );
    this.count = (tag) => void tallies.get(tag)!.count++;
  }

  take(cursor: FrameCursor): void {
    const fields = this.fields.at(cursor);
    const meta = this.meta[cursor.eventType];
    if (meta !== undefined) {
      this.takeMeta(meta, fields, cursor);
      return;
    }
    const signal = this.signals[cursor.eventType];
    if (signal) this.value(signal, fields, cursor);
  }

  private takeMeta(meta: MetaEvent, fields: EventFields, cursor: FrameCursor): void {
    const n = (field: number): number => fields.number(field);
    switch (meta) {
      case 'mapping':
        this.mapping(fields);
        break;
      case 'head':
        this.head(fields);
        break;
      case 'position':
        this.told = fields.wide(2);
        break;
      case 'open':
        this.open(fields);
        break;
      case 'sample': {
        const data = this.whole(fields, 2, 4);
        if (data === null) return;
        const format = n(3);
        this.put(n(0), n(1), n(2), format & 3, format >> 2, data, cursor);
        break;
      }
      case 'control': {
        const data = this.whole(fields, 4, 5);
        if (data === null) return;
        const tag = n(1) as typeof FluxTag.CREQ;
        this.entry(n(0), { tag, control: n(2), message: n(3), members: membersOf(data) });
        break;
      }
      default:
        this.entry(n(0), entryOf(meta, fields));
    }
  }

  private mapping(fields: EventFields): void {
    const id = this.byName.get(fields.text(3));
    if (id === undefined) throw source(`the event ${fields.text(3)} does not exist`);
    const members = fields.text(4);
    this.signals[id] = {
      trace: fields.number(0),
      item: fields.number(1),
      form: fields.number(2) as Form,
      members: members ? (JSON.parse(members) as MappedMember[]) : [],
    };
  }

  private head(fields: EventFields): void {
    const traceId = fields.number(0);
    const head = {
      traceId,
      name: fields.text(3),
      description: fields.text(4),
      maxItemId: Math.min(fields.number(5), MAX_ITEM_ID),
      maxEntrySize: fields.number(6),
    };
    const mode = fields.number(2);
    const known = this.traces.get(traceId);
    this.count(FluxTag.HEAD);
    if (known && mode === HeadMode.SYNC) known.entry({ tag: FluxTag.HEAD, version: 6, mode, ...head });
    else this.traces.set(traceId, this.writer.trace(head));
  }

  private open(fields: EventFields): void {
    const trace = this.trace(fields.number(0));
    const id = fields.number(1);
    const [given, effective] = [fields.text(2), fields.text(3)];
    const domain = given || trace.state.domain === effective ? given : effective;
    const [start, rate] = [fields.wide(4), BigInt(fields.text(5))];
    this.clocks.set(`${trace.id}:${id}`, { unit: unitOf(effective), origin: fields.wide(6) });
    this.count(FluxTag.OPEN);
    trace.entry({ tag: FluxTag.OPEN, id, domain, start, rate });
  }

  private entry(trace: number, entry: FluxEntry): void {
    this.count(entry.tag);
    this.trace(trace).entry(entry);
  }

  private trace(id: number): FluxTraceWriter {
    const trace = this.traces.get(id);
    if (!trace) throw source(`trace ${id} has no head`);
    return trace;
  }

  private value({ trace, item, form, members }: Signal, fields: EventFields, cursor: FrameCursor): void {
    const tag = fields.number(0);
    const writer = this.trace(trace);
    if (tag & Tag.NONE) {
      this.put(trace, item, tag, 0, 0, EMPTY, cursor);
      return;
    }
    const put = (df: number, xdf: number, data: Uint8Array): void =>
      this.put(trace, item, tag, df, xdf, data, cursor);
    const whole = writer.state.typeOf(item) === FluxType.EVENT ? 2 : 1;
    switch (form) {
      case Form.INTEGER:
        put(whole, 0, bigIntToSint(fields.wide(1)));
        break;
      case Form.DECIMAL:
        put(whole, 0, bigIntToSint(BigInt(fields.text(1))));
        break;
      case Form.FLOAT:
        put(1, fields.number(1) / 32, bytesOf(fields.wide(2), fields.number(1) / 8));
        break;
      case Form.TEXT:
        put(1, 0, encoder.encode(fields.text(1)));
        break;
      case Form.BINARY: {
        const data = this.whole(fields, 0, 1);
        if (data !== null) put(1, 0, data);
        break;
      }
      case Form.LOGIC: {
        const shape = fields.number(1);
        if (shape === ALL_ZERO || shape === ALL_ONE) put(1, shape - ALL_ZERO, EMPTY);
        else put(1, 2, bytesOf(fields.wide(2), shape).reverse());
        break;
      }
      case Form.STRUCT:
        put(1, 0, structBytes(members, fields));
        break;
      default: {
        const { df, xdf, data } = encodeValue(listOrStates(form, writer.state.typeOf(item), fields));
        put(df, xdf, data);
      }
    }
  }

  private put(
    trace: number,
    item: number,
    tag: number,
    df: number,
    xdf: number,
    data: Uint8Array,
    cursor: FrameCursor,
  ): void {
    const writer = this.trace(trace);
    const position = this.told ?? this.position(writer, item, cursor);
    this.told = null;
    this.count(FluxTag.SAMPLE);
    writer.sample(item, position, df, xdf, data, (tag & CONFLICT) !== 0);
  }

  private position(writer: FluxTraceWriter, item: number, cursor: FrameCursor): bigint {
    const group = writer.state.groupOf(item);
    const clock = group && this.clocks.get(`${writer.id}:${group.id}`);
    if (!clock) throw source(`item ${item} of trace ${writer.id} has a value but is not open`);
    const { unit, origin } = clock;
    return ((cursor.timePs + origin) * unit.den) / unit.num;
  }

  /** Bytes of a value that may take several events; null until the last one. */
  private whole(fields: EventFields, tag: number, hex: number): Uint8Array | null {
    this.parts.push(fromHex(fields.text(hex)));
    if (fields.number(tag) & Tag.GOES_ON) return null;
    const all = concatBytes(this.parts);
    this.parts = [];
    return all;
  }
}

const EMPTY = new Uint8Array(0);
const encoder = new TextEncoder();

function entryOf(meta: MetaEvent, fields: EventFields): FluxEntry {
  const n = (field: number): number => fields.number(field);
  switch (meta) {
    case 'item':
      return itemOf(fields);
    case 'domain':
      return { tag: FluxTag.DOMD, domain: fields.text(1) };
    case 'close':
      return { tag: FluxTag.CLOS, id: n(1), end: fields.wide(2) };
    case 'current':
      return { tag: FluxTag.CURR, id: n(1), position: fields.wide(2) };
    case 'enumeration': {
      const [label, value] = [fields.text(3), fields.wide(4)];
      return { tag: FluxTag.ENMD, id: n(1), enumeration: n(2), label, value };
    }
    case 'member': {
      const [label, descriptor] = [fields.text(4), fields.text(6)];
      return { tag: FluxTag.MEMD, id: n(1), member: n(2), parent: n(3), label, type: n(5), descriptor };
    }
    case 'relation': {
      const delta = BigInt(fields.text(5));
      return { tag: FluxTag.ATRE, id: n(1), type: n(2), target: n(3), style: n(4), delta, base: n(6) };
    }
    case 'label': {
      const [x, y] = [BigInt(fields.text(3)), BigInt(fields.text(4))];
      return { tag: FluxTag.ATLA, id: n(1), style: n(2), x, y };
    }
    default:
      throw source(`${meta} is not an entry`);
  }
}

function itemOf(fields: EventFields): FluxEntry {
  const n = (field: number): number => fields.number(field);
  const named = { id: n(2), parent: n(4), name: fields.text(5), description: fields.text(6) };
  const typed = { ...named, type: n(7), descriptor: fields.text(8) };
  const [from, to] = [n(9), n(10)];
  switch (n(1)) {
    case FluxTag.SCPD:
      return { tag: FluxTag.SCPD, ...named };
    case FluxTag.SIGD:
      return { tag: FluxTag.SIGD, ...typed };
    case FluxTag.MSGD:
      return { tag: FluxTag.MSGD, ...typed, idTo: n(3) };
    case FluxTag.SIRD:
      return { tag: FluxTag.SIRD, ...named };
    case FluxTag.SSGD:
      return { tag: FluxTag.SSGD, ...typed, from, to };
    default:
      return { tag: FluxTag.SSRD, ...named, from, to };
  }
}

function listOrStates(form: Form, type: number, fields: EventFields) {
  const shape = fields.number(1);
  if (form === Form.STATES) {
    const bits = (shape & 7) as 1 | 2 | 4;
    return { kind: 'logic', bits, states: fields.text(2), uniform: (shape & UNIFORM) !== 0 } as const;
  }
  const list: FluxList = { dynamic: (shape & DYNAMIC) !== 0, width: shape & 3 };
  const text = fields.text(2);
  if (type === FluxType.TEXTS) return { kind: 'texts', list, values: JSON.parse(text) as string[] } as const;
  if (type === FluxType.FLOATS)
    return { kind: 'floats', list, values: JSON.parse(text) as number[] } as const;
  const items = text.slice(1, -1);
  const values = items ? items.split(',').map((item) => BigInt(item)) : [];
  return { kind: type === FluxType.EVENTS ? 'events' : 'integers', list, values } as const;
}

function structBytes(members: readonly MappedMember[], fields: EventFields): Uint8Array {
  const present = fields.wide(1);
  const values: { member: number; type: number; data: Uint8Array }[] = [];
  let field = 2;
  for (const [i, { member, type, form }] of members.entries()) {
    const at = field;
    field += form === Form.FLOAT ? 2 : 1;
    if (!((present >> BigInt(i)) & 1n)) continue;
    values.push({ member, type, data: memberData(form, fields, at) });
  }
  return memberBytes(values);
}

function memberData(form: Form, fields: EventFields, at: number): Uint8Array {
  switch (form) {
    case Form.INTEGER:
      return bigIntToSint(fields.wide(at));
    case Form.DECIMAL:
      return bigIntToSint(BigInt(fields.text(at)));
    case Form.FLOAT:
      return bytesOf(fields.wide(at), fields.number(at + 1) / 8);
    case Form.TEXT:
      return encoder.encode(fields.text(at));
    default:
      return fromHex(fields.text(at));
  }
}

function bytesOf(value: bigint, size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn));
}

function source(what: string): UscopeError {
  return new UscopeError('CONVERT_SOURCE', `the events of flux do not make a file: ${what}`);
}
