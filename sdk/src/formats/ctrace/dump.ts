/** The events of a file as text: all, or those of some cycles and units. */

import type { UscopeError } from '../../base/errors.js';
import { untilCut } from '../common/cut.js';
import { ByteText } from '../text/byte-text.js';
import { decodeArgs, type EventCursor } from './cursor.js';
import { LineFormatter } from './formatter.js';
import { argNames, messageName } from './mapping.js';
import type { CtraceFile, CtraceStream } from './reader.js';
import type { CtraceSchema, CtraceValue } from './types.js';

// Events with names: of their type, and of their arguments.

/** Names of events and arguments, as the µScope trace of the file would have them. */
export class EventNames {
  private readonly units: ReadonlyMap<number, string>;
  private readonly formats = new Map<number, { readonly name: string; readonly args: readonly string[] }>();

  constructor(private readonly file: CtraceFile) {
    this.units = new Map(file.schema.units.map(({ id, name }) => [id, name]));
  }

  /** An event as a JSON object; 64-bit values are decimal strings. */
  json(cursor: EventCursor, message: string): string {
    const { cycle, formatId, category, source } = cursor;
    const unit = this.units.get(source) ?? null;
    const args = Object.fromEntries(this.fieldsOf(cursor));
    const line = { cycle, unit, format: formatId, category, message, args };
    return JSON.stringify(line, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
  }

  typeOf({ formatId, source }: EventCursor): string {
    return `${this.units.get(source) || `unit_${source}`}/${this.namesOf(formatId).name}`;
  }

  fieldsOf(cursor: EventCursor): (readonly [string, CtraceValue])[] {
    const { args } = this.namesOf(cursor.formatId);
    const values = decodeArgs(cursor, this.file.format(cursor.formatId)?.argTypes ?? []);
    return values.map((value, i) => [args[i], value] as const);
  }

  private namesOf(id: number) {
    const known = this.formats.get(id);
    if (known) return known;
    const format = this.file.format(id);
    // Ids that nobody knows may be many.
    if (!format) return { name: `format_${id}`, args: [] };
    const names = { name: messageName(format), args: argNames(format) };
    this.formats.set(id, names);
    return names;
  }
}

const FLUSH_BYTES = 64 * 1024;
const UNITS = 0x1_0000;

export interface DumpSelection {
  /** Least and greatest cycle, both included. */
  readonly cycles?: { readonly from: bigint; readonly to: bigint } | undefined;
  /** Part of a unit's name. */
  readonly unit?: string | undefined;
  /** The largest number of events. */
  readonly limit?: number | undefined;
  /** A JSON object per line instead of the text of trace_reader. */
  readonly json?: boolean | undefined;
}

export interface DumpResult {
  /** Those printed. */
  readonly events: number;
  /** CONVERT_TRUNCATED: the file ends early; everything before its end has been handed over. */
  readonly cut: UscopeError | null;
}

/**
 * @param take is given lines in pieces of some 64 KiB, which it must not keep
 * @param onBlock called after each block, for progress
 * @throws UscopeError CONVERT_*; everything before the fault has been handed over
 */
export async function dumpText(
  file: CtraceFile,
  selection: DumpSelection,
  take: (bytes: Uint8Array) => void,
  onBlock?: (stream: CtraceStream) => void,
): Promise<DumpResult> {
  const filter = new EventFilter(file.schema, selection);
  const lines = linesOf(file, selection.json === true);
  const out = new ByteText();
  const stream = file.stream({ cycles: selection.cycles });
  const { cursor } = stream;
  const limit = selection.limit ?? Number.POSITIVE_INFINITY;
  let events = 0;
  const flush = (): void => {
    if (out.length > 0) take(out.used);
    out.clear();
  };
  const pass = async (): Promise<void> => {
    while (events < limit && (await stream.more())) {
      while (events < limit && cursor.next()) {
        if (!filter.accepts(cursor)) continue;
        lines(cursor, out);
        events++;
        if (out.length >= FLUSH_BYTES) flush();
      }
      onBlock?.(stream);
    }
  };
  try {
    const cut = await untilCut(pass);
    return { events, cut };
  } finally {
    flush();
  }
}

function linesOf(file: CtraceFile, json: boolean): (cursor: EventCursor, out: ByteText) => void {
  const formatter = new LineFormatter(file.schema);
  if (!json) return (cursor, out) => formatter.line(cursor, out);
  const names = new EventNames(file);
  const message = new ByteText();
  const encoder = new TextEncoder();
  return (cursor, out) => {
    message.clear();
    formatter.message(cursor, message);
    const text = message.text();
    out.copy(encoder.encode(`${names.json(cursor, text)}\n`));
  };
}

/** Which events are wanted. */
class EventFilter {
  private readonly units: Uint8Array | null;
  private readonly cycles: DumpSelection['cycles'];

  constructor(schema: CtraceSchema, { cycles, unit }: DumpSelection) {
    this.units = unit ? unitsNamed(schema, unit) : null;
    this.cycles = cycles;
  }

  accepts(cursor: EventCursor): boolean {
    const { units, cycles } = this;
    if (units !== null && units[cursor.source] !== 1) return false;
    return !cycles || (cursor.cycle >= cycles.from && cursor.cycle <= cycles.to);
  }
}

function unitsNamed({ units }: CtraceSchema, part: string): Uint8Array {
  const wanted = new Uint8Array(UNITS);
  for (const { id, name } of units) wanted[id] = name.includes(part) ? 1 : 0;
  return wanted;
}
