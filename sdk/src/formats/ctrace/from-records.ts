/** µScope made of .ctrace back to .ctrace: the same events in the same order. */

import { concatBytes } from '../../base/bytes.js';
import { UscopeError } from '../../base/errors.js';
import { fromHex } from '../../base/hex.js';
import { CursorItem, type FrameCursor } from '../../format/frame.js';
import { FieldType, qualifiedName } from '../../format/types.js';
import { readRaw, type Trace } from '../../reader/index.js';
import { readU32 } from '../../stream/string-refs.js';
import { EventFields } from '../common/event-values.js';
import type { ConversionContext } from '../common/foreign-format.js';
import { itemsWithTexts } from '../common/items-with-texts.js';
import {
  bytesOfKept,
  MAPPING_PROPERTY,
  MAPPING_VERSION,
  META_NAMES,
  META_SCOPE,
  type MetaEvent,
  PERIOD_PROPERTY,
  RAW_PREFIX_BYTES,
  typesOfText,
} from './mapping.js';
import { decodeText } from './text.js';
import {
  ArgType,
  argBytes,
  type CtraceCategory,
  type CtraceFormat,
  type CtraceSchema,
  type CtraceUnit,
} from './types.js';
import type { CtraceOutput } from './writer.js';
import { CtraceWriter, type CtraceWriterOptions, type EventHead } from './writer.js';

/** What an event type represents. */
interface Meaning {
  readonly formatId: number;
  readonly source: number;
  /** null: arguments in hexadecimal digits. */
  readonly types: readonly number[] | null;
}

/** Whether a trace says that it was made of .ctrace. */
export function hasRecords(trace: Trace): boolean {
  return trace.dutProperty(MAPPING_PROPERTY) === MAPPING_VERSION && periodOf(trace) > 0n;
}

/**
 * False, with nothing written, when the trace no longer has what the events mean: a part of one.
 * @throws UscopeError CONVERT_SOURCE (events that do not follow the mapping), FORMAT_*
 */
export async function recordsToCtrace(
  trace: Trace,
  output: CtraceOutput,
  options: CtraceWriterOptions,
  context: ConversionContext,
): Promise<boolean> {
  const catalog = new Catalog(trace);
  const kept = context.report.kept('events');
  let assembler: Assembler | null = null;
  for await (const items of itemsWithTexts(trace, context)) {
    while (items.next()) {
      if (items.cursor.kind !== CursorItem.EVENT || catalog.take(items.cursor)) continue;
      if (!assembler && !catalog.isWhole) return false;
      assembler ??= new Assembler(trace, catalog, output, options);
      if (assembler.take(items.cursor)) kept.count++;
      if (assembler.writer.isFull) await assembler.writer.flush();
    }
  }
  if (!assembler && !catalog.isWhole) return false;
  assembler ??= new Assembler(trace, catalog, output, options);
  await assembler.writer.close();
  return true;
}

/** The events of the first frame. */
class Catalog {
  readonly meanings: Meaning[] = [];
  readonly ids: ReadonlyMap<number, MetaEvent>;
  /** The beginning has been seen. */
  isWhole = false;
  private readonly formats: CtraceFormat[] = [];
  private readonly typesById = new Map<number, readonly number[]>();
  private readonly units: CtraceUnit[] = [];
  private readonly categories: CtraceCategory[] = [];
  private version = 1;
  private configHash = 0n;
  private simulationName = '';

  private readonly fields: EventFields;

  constructor(trace: Trace) {
    this.fields = new EventFields(trace.schema, (index) => trace.strings.peek(index) ?? '');
    const names = new Map(META_NAMES.map((name) => [`${META_SCOPE}/${name}`, name]));
    const { events } = trace.schema;
    this.ids = new Map(
      events.flatMap((event) => {
        const name = names.get(qualifiedName(trace.schema, event));
        return name ? [[event.eventTypeId, name] as const] : [];
      }),
    );
  }

  get schema(): CtraceSchema {
    const { version, formats, categories, units, simulationName, configHash } = this;
    return { version, formats, categories, units, simulationName, configHash };
  }

  /** False for an event that is none of the catalog. */
  take(cursor: FrameCursor): boolean {
    const name = this.ids.get(cursor.eventType);
    if (!name || name === 'raw' || name === 'late') return false;
    const field = this.fields.at(cursor);
    const text = (index: number): string => decodeText(bytesOfKept(field.text(index)));
    switch (name) {
      case 'file':
        this.isWhole = true;
        [this.version, this.configHash, this.simulationName] = [field.number(0), field.wide(1), text(2)];
        break;
      case 'format':
        this.addFormat({
          ...{ id: field.number(0), line: field.number(1), isLog: field.number(2) !== 0 },
          ...{ logLevel: (field.number(3) << 24) >> 24, text: text(4), file: text(5) },
          argTypes: typesOfText(text(6)),
        });
        break;
      case 'unit':
        this.units.push({ id: field.number(0), name: text(1), typeName: text(2) });
        break;
      case 'category':
        this.categories.push({ mask: field.wide(0), name: text(1), description: text(2) });
        break;
      case 'event_type':
        this.meaning(field.number(0), field.number(1), field.number(2), field.number(3) !== 0);
    }
    return true;
  }

  private meaning(event: number, formatId: number, source: number, isHex: boolean): void {
    const types = isHex ? null : this.typesById.get(formatId);
    if (types === undefined) {
      throw new UscopeError('CONVERT_SOURCE', `an event type of format ${formatId}, which is missing`);
    }
    this.meanings[event] = { formatId, source, types };
  }

  /** Where ids repeat the first one counts. */
  private addFormat(format: CtraceFormat): void {
    this.formats.push(format);
    if (!this.typesById.has(format.id)) this.typesById.set(format.id, format.argTypes);
  }
}

/** Arguments that come in parts. */
interface Pending {
  readonly head: EventHead;
  readonly argCount: number;
  readonly size: number;
  bytes: Uint8Array;
}

class Assembler {
  readonly writer: CtraceWriter;
  private readonly periodPs: bigint;
  private late: bigint | null = null;
  private pending: Pending | null = null;

  constructor(
    private readonly trace: Trace,
    private readonly catalog: Catalog,
    output: CtraceOutput,
    options: CtraceWriterOptions,
  ) {
    this.writer = new CtraceWriter(output, { ...options, schema: catalog.schema });
    this.periodPs = periodOf(trace);
  }

  /** Whether an event is whole. @throws UscopeError CONVERT_SOURCE, CONVERT_LIMIT */
  take(cursor: FrameCursor): boolean {
    const { bytes, payloadOffset: at, eventType } = cursor;
    const name = this.catalog.ids.get(eventType);
    if (name === 'late') {
      this.late = readRaw(bytes, at, FieldType.U64);
      return false;
    }
    const cycle = this.late ?? cursor.timePs / this.periodPs;
    if (name === 'raw') {
      const head = {
        cycle,
        formatId: readU32(bytes, at),
        category: 0,
        source: bytes[at + 4] | (bytes[at + 5] << 8),
      };
      return this.hex(bytes, at + RAW_PREFIX_BYTES, head);
    }
    const meaning = this.catalog.meanings[eventType];
    if (!meaning)
      throw new UscopeError('CONVERT_SOURCE', `an event of type ${eventType}, which .ctrace does not have`);
    const head = { cycle, formatId: meaning.formatId, category: 0, source: meaning.source };
    if (meaning.types === null) return this.hex(bytes, at, head);
    this.typed(cursor, meaning.types, head);
    return true;
  }

  private typed(
    { bytes, payloadOffset, payloadSize }: FrameCursor,
    types: readonly number[],
    head: EventHead,
  ): void {
    const end = payloadOffset + payloadSize - 4;
    const pieces: Uint8Array[] = [];
    let at = payloadOffset;
    for (const type of types) {
      const size = type === ArgType.STRING ? 4 : argBytes(type);
      if (type === ArgType.STRING) pieces.push(this.bytesOf(readU32(bytes, at)), Uint8Array.of(0));
      else pieces.push(bytes.subarray(at, at + size));
      at += size;
    }
    if (at !== end)
      throw new UscopeError('CONVERT_SOURCE', 'an event whose fields are not those of its format');
    this.emit({ ...head, category: readU32(bytes, end) }, types.length, concatBytes(pieces));
  }

  private hex(bytes: Uint8Array, at: number, head: EventHead): boolean {
    const size = bytes[at + 1] | (bytes[at + 2] << 8);
    const part = bytes[at + 3] | (bytes[at + 4] << 8);
    const piece = fromHex(this.trace.strings.peek(readU32(bytes, at + 5)) ?? '');
    if (part === 0) {
      const category = readU32(bytes, at + 9);
      this.pending = { head: { ...head, category }, argCount: bytes[at], size, bytes: piece };
    } else if (this.pending) this.pending.bytes = concatBytes([this.pending.bytes, piece]);
    const { pending } = this;
    if (!pending || pending.bytes.length < pending.size) return false;
    this.pending = null;
    this.emit(pending.head, pending.argCount, pending.bytes);
    return true;
  }

  private emit(head: EventHead, argCount: number, args: Uint8Array): void {
    this.late = null;
    this.writer.rawEvent(head, argCount, args);
  }

  private bytesOf(index: number): Uint8Array {
    return encoder.encode(this.trace.strings.peek(index) ?? '');
  }
}

const encoder = new TextEncoder();

function periodOf(trace: Trace): bigint {
  const text = trace.dutProperty(PERIOD_PROPERTY) ?? '';
  return /^\d{1,10}$/.test(text) ? BigInt(text) : 0n;
}
