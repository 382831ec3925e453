/** Events with names: of their type, and of their arguments. */
import { decodeArgs } from './args.js';
import type { EventCursor } from './cursor.js';
import { argNames, messageName } from './names.js';
import type { CtraceFile } from './reader.js';
import type { CtraceValue } from './types.js';

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
