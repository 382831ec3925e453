/** Which statements may be run: those that ask. The engine's own parser says what a statement is. */
import { UscopeError } from '../base/errors.js';
import type { Connection, DuckDb } from './engine/duckdb.js';

export type PreparedQuestion = import('@duckdb/node-api').DuckDBPreparedStatement;

/** EXPLAIN runs what it explains when ANALYZE is asked for: the statement after it is checked as if it stood alone. */
const EXPLAIN = /^\s*EXPLAIN\b\s*(?:ANALYZE\b|\((?:[^()'"]*)\))?/i;

/** What an EXPLAIN explains; null: it is none. */
export function explained(sql: string): string | null {
  const rest = sql.replace(EXPLAIN, '');
  return rest === sql ? null : rest;
}

/**
 * The question, ready to run: what is run is what was checked.
 * @throws UscopeError DATASET_STATEMENT, DATASET_QUERY
 */
export async function prepareQuestion(
  api: DuckDb,
  connection: Connection,
  sql: string,
): Promise<PreparedQuestion> {
  const { SELECT, EXPLAIN: EXPLAINS } = api.StatementType;
  const prepared = await prepareOne(connection, sql);
  const type = prepared.statementType;
  if (type === SELECT) return prepared;
  try {
    const rest = type === EXPLAINS ? explained(sql) : null;
    if (rest !== null && (await typeOf(connection, rest)) === SELECT) return prepared;
  } catch (error) {
    prepared.destroySync();
    throw error;
  }
  prepared.destroySync();
  throw new UscopeError(
    'DATASET_STATEMENT',
    `${api.StatementType[type] ?? 'this statement'} is not allowed: a query may be SELECT, FROM, WITH, DESCRIBE, SUMMARIZE, SHOW, or EXPLAIN of one of them`,
  );
}

async function typeOf(connection: Connection, sql: string) {
  const prepared = await prepareOne(connection, sql);
  try {
    return prepared.statementType;
  } finally {
    prepared.destroySync();
  }
}

async function prepareOne(connection: Connection, sql: string): Promise<PreparedQuestion> {
  try {
    const statements = await connection.extractStatements(sql);
    if (statements.count !== 1) {
      throw new UscopeError(
        'DATASET_STATEMENT',
        `there are ${statements.count} statements; ask one question at a time`,
      );
    }
    return await statements.prepare(0);
  } catch (error) {
    throw queryError(error);
  }
}

/** Why a question was ended before its answer was complete. */
export type Ended = 'timeout' | 'interrupt';

const ADVICE: Readonly<Record<Ended, string>> = {
  timeout:
    'the question took longer than it may; raise the limit with --timeout, or ask about fewer runs or cycles',
  interrupt: 'the question was interrupted',
};

/** What the engine advises instead cannot be set here. */
const MORE_MEMORY = 'raise the limit with --memory, or ask about fewer runs or cycles';

/** What the engine says of a question, with a code. */
export function queryError(error: unknown, ended: Ended = 'interrupt'): unknown {
  if (error instanceof UscopeError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (/^INTERRUPT/i.test(message)) {
    return new UscopeError('DATASET_TIMEOUT', ADVICE[ended], {}, { cause: error });
  }
  const detail = /^Out of Memory/i.test(message)
    ? `${message.split('\n')[0]}; ${MORE_MEMORY}`
    : message.trim();
  return new UscopeError('DATASET_QUERY', detail, {}, { cause: error });
}
