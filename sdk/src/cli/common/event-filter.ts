/** Which events a verb is about: `--event`, `--where`; and how it prints them. */
import type { Command } from 'commander';
import { UscopeError } from '../../base/errors.js';
import type { FrameCursor } from '../../format/frame.js';
import { logicalFields } from '../../format/wide-fields.js';
import { checkConditionValues, type LoadedSegment, type Trace } from '../../reader/index.js';
import { frameTime, ItemFormat } from './item-format.js';
import { append } from './option-values.js';

export interface EventArguments {
  readonly event: readonly string[];
  readonly where: readonly string[];
}

export interface Condition {
  readonly field: string;
  readonly value: string;
  /** `value` as a decimal number, when it is one; hexadecimal is understood. */
  readonly number: string | null;
}

/** Event type -> the fields to compare, by number among the logical ones, for the types wanted that have all of them. */
type Selection = ReadonlyMap<number, readonly { index: number; condition: Condition }[]>;

export function addEventOptions(command: Command): Command {
  return command
    .option('--event <name>', 'only events of this type (may be repeated)', append, [])
    .option(
      '--where <field=value>',
      'only events whose field has this value (repeated: all must hold)',
      append,
      [],
    );
}

/** @throws UscopeError CLI_USAGE */
export function parseConditions({ where }: EventArguments): Condition[] {
  return where.map(parseCondition);
}

/** Finds the events asked for and prints them as lines. */
export class EventFilter {
  private readonly format: ItemFormat;
  private readonly selection: Selection;
  private readonly types: ReadonlySet<number>;

  /** @throws UscopeError READER_NAME when the trace has no such event, or none of them has the fields */
  constructor(
    trace: Trace,
    names: readonly string[],
    conditions: readonly Condition[],
    private readonly asJson: boolean,
  ) {
    this.selection = selectTypes(trace, names, conditions);
    this.types = new Set(this.selection.keys());
    this.format = new ItemFormat(trace);
  }

  /** To be waited for before the events of a segment are printed. */
  loadStrings(segment: LoadedSegment): Promise<void> {
    return this.format.loadStrings(segment, this.types);
  }

  /** The line of an event, with its newline; null for one that is not asked for. */
  line(cursor: FrameCursor): string | null {
    const tests = this.selection.get(cursor.eventType);
    if (!tests?.every(({ index, condition }) => this.holds(cursor, index, condition))) return null;
    const time = frameTime(cursor);
    return this.asJson ? this.format.eventJson(cursor, time) : this.format.eventInCycle(cursor, time);
  }

  private holds(cursor: FrameCursor, index: number, condition: Condition): boolean {
    const { plain, integer } = this.format.eventField(cursor, index);
    return plain === condition.value || (integer !== null && integer === condition.number);
  }
}

function selectTypes(trace: Trace, names: readonly string[], conditions: readonly Condition[]): Selection {
  const defs = names.length > 0 ? names.map((name) => trace.names.event(name)) : trace.schema.events;
  const selection = new Map<number, { index: number; condition: Condition }[]>();
  for (const def of defs) {
    const fields = logicalFields(def.fields);
    const tests = conditions.map((condition) => ({
      index: fields.findIndex((field) => field.name === condition.field),
      condition,
    }));
    if (tests.every(({ index }) => index >= 0)) selection.set(def.eventTypeId, tests);
  }
  if (selection.size === 0 && defs.length > 0) {
    const fields = conditions.map((condition) => `"${condition.field}"`).join(', ');
    throw new UscopeError(
      'READER_NAME',
      `none of the events asked for has the field${conditions.length > 1 ? 's' : ''} ${fields}`,
    );
  }
  for (const condition of conditions) checkValue(trace, selection, condition);
  return selection;
}

/** Pieces of wide fields have no names, and are not looked at. @throws UscopeError READER_NAME: none of the events can have the value */
function checkValue(trace: Trace, selection: Selection, { field: name, value }: Condition): void {
  const { schema, names } = trace;
  const asked = [...selection.keys()].flatMap((type) =>
    schema.events[type].fields
      .filter((field) => field.name === name)
      .map((field) => ({ owner: names.eventNames[type], field, value })),
  );
  checkConditionValues(schema, asked);
}

function parseCondition(text: string): Condition {
  const equals = text.indexOf('=');
  if (equals <= 0) throw new UscopeError('CLI_USAGE', `--where "${text}" is not of the form field=value`);
  const value = text.slice(equals + 1);
  const isNumber = /^(-?\d+|0[xX][0-9a-fA-F]+)$/.test(value);
  return { field: text.slice(0, equals), value, number: isNumber ? BigInt(value).toString() : null };
}
