/** `uscope events`: events, by type, time and field. */
import type { Command } from 'commander';
import { UscopeError } from '../../base/errors.js';
import type { FrameCursor } from '../../format/frame.js';
import type { Trace } from '../../reader/index.js';
import { io } from '../io.js';
import { frameTime, ItemFormat } from '../item-format.js';
import { parseOptionalTime } from '../times.js';
import { withTrace } from '../trace-file.js';

interface EventsOptions {
  readonly event: readonly string[];
  readonly where: readonly string[];
  readonly from?: string;
  readonly to?: string;
  readonly limit?: string;
  readonly json?: boolean;
}

interface Condition {
  readonly field: string;
  readonly value: string;
  /** `value` as a decimal number, when it is one; hexadecimal is understood. */
  readonly number: string | null;
}

const append = (value: string, all: readonly string[]): string[] => [...all, value];

export function register(program: Command): void {
  program
    .command('events')
    .summary('events, by type, time and field')
    .description(
      'Prints events in file order, one per line. Names may leave out the scope where they are unique.',
    )
    .argument('<file>', 'trace file')
    .option('--event <name>', 'only events of this type (may be repeated)', append, [])
    .option('--from <time>', 'first time, inclusive: 4000 (ps), 4ns, 1.5us, …')
    .option('--to <time>', 'last time, exclusive')
    .option(
      '--where <field=value>',
      'only events whose field has this value (repeated: all must hold)',
      append,
      [],
    )
    .option('--limit <n>', 'stop after n events')
    .option('--json', 'one JSON object per line, as `dump --jsonl` prints them')
    .action((file: string, options: EventsOptions) => {
      const range = { from: parseOptionalTime(options.from), to: parseOptionalTime(options.to) };
      const limit = parseLimit(options.limit);
      const conditions = options.where.map(parseCondition);
      return withTrace(file, async (trace) => {
        const types = selectTypes(trace, options.event, conditions);
        await printEvents(trace, range, types, limit, Boolean(options.json));
      });
    });
}

/** Event type -> the fields to compare, for the types wanted that have all of them. */
type Selection = ReadonlyMap<number, readonly { index: number; condition: Condition }[]>;

async function printEvents(
  trace: Trace,
  range: { from?: bigint | undefined; to?: bigint | undefined },
  selection: Selection,
  limit: number,
  asJson: boolean,
): Promise<void> {
  if (limit === 0) return;
  const format = new ItemFormat(trace);
  const types = new Set(selection.keys());
  let left = limit;
  await trace.scan(range, {
    segment: (segment) => format.loadStrings(segment, types),
    event: (cursor) => {
      const tests = selection.get(cursor.eventType);
      if (!tests?.every(({ index, condition }) => holds(format, cursor, index, condition))) return true;
      const time = frameTime(cursor);
      io.out(asJson ? format.eventJson(cursor, time) : format.eventText(cursor, time));
      return --left > 0;
    },
  });
}

function holds(format: ItemFormat, cursor: FrameCursor, index: number, condition: Condition): boolean {
  const { plain, integer } = format.eventField(cursor, index);
  return plain === condition.value || integer === condition.number;
}

function selectTypes(trace: Trace, names: readonly string[], conditions: readonly Condition[]): Selection {
  const defs = names.length > 0 ? names.map((name) => trace.names.event(name)) : trace.schema.events;
  const selection = new Map<number, { index: number; condition: Condition }[]>();
  for (const def of defs) {
    const tests = conditions.map((condition) => ({
      index: def.fields.findIndex((field) => field.name === condition.field),
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
  return selection;
}

function parseCondition(text: string): Condition {
  const equals = text.indexOf('=');
  if (equals <= 0) throw new UscopeError('CLI_USAGE', `--where "${text}" is not of the form field=value`);
  const value = text.slice(equals + 1);
  const isNumber = /^(-?\d+|0[xX][0-9a-fA-F]+)$/.test(value);
  return { field: text.slice(0, equals), value, number: isNumber ? BigInt(value).toString() : null };
}

function parseLimit(text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  if (!/^\d+$/.test(text)) throw new UscopeError('CLI_USAGE', `--limit "${text}" is not a number`);
  return Number(text);
}
