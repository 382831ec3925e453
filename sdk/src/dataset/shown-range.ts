/** A range of time that a question is about: its tables have rows of that time only, and the question may name its ends. */
import { UscopeError } from '../base/errors.js';
import type { Connection } from './engine/duckdb.js';
import { named, quoted } from './engine/duckdb.js';
import type { TableName } from './layout.js';
import type { PreparedQuestion } from './statements.js';

export interface ShownRange {
  /** Picoseconds. */
  readonly fromPs: bigint;
  /** Exclusive. */
  readonly toPs: bigint;
  /** Of the clock whose cycles `$from` and `$to` are; picoseconds. */
  readonly periodPs: bigint;
  /** Whether the tables have rows of the range only. */
  readonly isLimited: boolean;
}

/** Clock period of each core and scope, in picoseconds, by run and name. */
export type Periods = ReadonlyMap<string, bigint>;

/** As `Periods` has it. */
export const periodKey = (run: unknown, core: unknown): string => `${run}\n${core}`;

/** @param connection its view `traces` is that of the files */
export async function periodsOf(connection: Connection): Promise<Periods> {
  const result = await connection.runAndReadAll('SELECT run, core, period_ps FROM traces');
  // Without a clock, cycles are picoseconds.
  return new Map(
    result
      .getRows()
      .map(([run, core, period]) => [periodKey(run, core), typeof period === 'bigint' ? period : 1n]),
  );
}

/** When a row begins and ends, as SQL; a row without an end is there until the end of the trace. The others are of the whole run. */
const SPANS: Readonly<Partial<Record<TableName, readonly [begin: string, end: string]>>> = {
  instructions: ['birth_cycle', 'end_cycle + 1'],
  transactions: ['birth_cycle', 'end_cycle + 1'],
  stages: ['from_cycle', 'from_cycle + greatest(cycles, 1)'],
  events: ['cycle', 'cycle + 1'],
  stalls: ['cycle', 'cycle + 1'],
  slots: ['from_cycle', 'to_cycle'],
  counters: ['from_cycle', 'to_cycle'],
  cycles: ['cycle', 'cycle + cycles'],
  gaps: ['from_cycle', 'to_cycle'],
};

/** The query of a view, with the rows that touch the range only. Each core counts in cycles of its own clock. */
export function limitedQuery(query: string, table: TableName, range: ShownRange, periods: Periods): string {
  const span = SPANS[table];
  if (!range.isLimited || !span) return query;
  const [begin, end] = span;
  const limits = [...periods].map(([key, period]) => {
    const [run = '', core = ''] = key.split('\n');
    return `(${quoted(run)}, ${quoted(core)}, ${firstCycle(range.fromPs, period)}, ${firstCycle(range.toPs, period)})`;
  });
  if (limits.length === 0) return query;
  const [run, core, from, to] = ['run', 'core', 'from', 'to'].map((name) => named(`~${name}`));
  return (
    `SELECT t.* FROM (${query}) t JOIN (VALUES ${limits.join(', ')}) AS l(${run}, ${core}, ${from}, ${to}) ` +
    `ON t.run = l.${run} AND t.core = l.${core} ` +
    `WHERE coalesce(t.${begin} < l.${to}, true) AND coalesce(${withTable(end)} > l.${from}, true)`
  );
}

const withTable = (expression: string): string => expression.replace(/\b(\w*cycles?)\b/g, 't.$1');

/** The first cycle that begins at a time or after it. */
const firstCycle = (timePs: bigint, periodPs: bigint): bigint => (timePs + periodPs - 1n) / periodPs;

/**
 * Gives `$from` and `$to` of a question their values: cycles of the clock shown.
 * @throws UscopeError DATASET_QUERY for another one
 */
export function bindRange(prepared: PreparedQuestion, range: ShownRange | null): void {
  for (let index = 1; index <= prepared.parameterCount; index++) {
    const name = prepared.parameterName(index);
    const value = name === 'from' ? range?.fromPs : name === 'to' ? range?.toPs : undefined;
    if (value === undefined || range === null) {
      const known = range === null ? 'there are none here' : 'there are $from and $to';
      throw new UscopeError('DATASET_QUERY', `the question names the variable $${name}; ${known}`);
    }
    prepared.bindBigInt(index, firstCycle(value, range.periodPs));
  }
}
