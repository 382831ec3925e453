/** The events of a file as text: all, or those of some cycles and units. */
import { isUscopeError, type UscopeError } from '../../base/errors.js';
import { ByteText } from '../text/byte-text.js';
import type { EventCursor } from './cursor.js';
import { EventNames } from './event-names.js';
import { LineFormatter } from './formatter.js';
import type { CtraceFile, CtraceStream } from './reader.js';
import type { CtraceSchema } from './types.js';

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
  let cut: UscopeError | null = null;
  const flush = (): void => {
    if (out.length > 0) take(out.used);
    out.clear();
  };
  try {
    while (events < limit && (await stream.more())) {
      while (events < limit && cursor.next()) {
        if (!filter.accepts(cursor)) continue;
        lines(cursor, out);
        events++;
        if (out.length >= FLUSH_BYTES) flush();
      }
      onBlock?.(stream);
    }
  } catch (error) {
    if (!isUscopeError(error) || error.code !== 'CONVERT_TRUNCATED') throw error;
    cut = error;
  } finally {
    flush();
  }
  return { events, cut };
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

/** Which events are wanted, by numbers alone. */
class EventFilter {
  private readonly units: Uint8Array | null;
  private readonly fromLo: number;
  private readonly fromHi: number;
  private readonly toLo: number;
  private readonly toHi: number;

  constructor(schema: CtraceSchema, { cycles, unit }: DumpSelection) {
    this.units = unit ? unitsNamed(schema, unit) : null;
    const { from, to } = cycles ?? { from: 0n, to: (1n << 64n) - 1n };
    [this.fromLo, this.fromHi] = [Number(from & 0xffff_ffffn), Number(from >> 32n)];
    [this.toLo, this.toHi] = [Number(to & 0xffff_ffffn), Number(to >> 32n)];
  }

  accepts({ cycleLo, cycleHi, source }: EventCursor): boolean {
    const isOutside =
      cycleHi < this.fromHi ||
      cycleHi > this.toHi ||
      (cycleHi === this.fromHi && cycleLo < this.fromLo) ||
      (cycleHi === this.toHi && cycleLo > this.toLo);
    return !isOutside && (this.units === null || this.units[source] === 1);
  }
}

function unitsNamed({ units }: CtraceSchema, part: string): Uint8Array {
  const wanted = new Uint8Array(UNITS);
  for (const { id, name } of units) wanted[id] = name.includes(part) ? 1 : 0;
  return wanted;
}
