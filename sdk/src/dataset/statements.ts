/** Which statements may be run: those that ask. The engine's own parser says what a statement is. */
import { UscopeError } from '../base/errors.js';
import type { Connection, DuckDb } from './engine/duckdb.js';

/** EXPLAIN runs what it explains when ANALYZE is asked for: the statement after it is checked as if it stood alone. */
const EXPLAIN = /^\s*EXPLAIN\b\s*(?:ANALYZE\b|\((?:[^()'"]*)\))?/i;

/** What an EXPLAIN explains; null: it is none. */
export function explained(sql: string): string | null {
  const rest = sql.replace(EXPLAIN, '');
  return rest === sql ? null : rest;
}

/** @throws UscopeError DATASET_STATEMENT, DATASET_QUERY */
export async function requireQuestion(api: DuckDb, connection: Connection, sql: string): Promise<void> {
  const { SELECT, EXPLAIN: EXPLAINS } = api.StatementType;
  const type = await typeOf(connection, sql);
  if (type === SELECT) return;
  if (type === EXPLAINS) {
    const rest = explained(sql);
    if (rest !== null && (await typeOf(connection, rest)) === SELECT) return;
  }
  throw new UscopeError(
    'DATASET_STATEMENT',
    `${api.StatementType[type] ?? 'this statement'} is not allowed: a query may be SELECT, FROM, WITH, DESCRIBE, SUMMARIZE, SHOW, or EXPLAIN of one of them`,
  );
}

async function typeOf(connection: Connection, sql: string) {
  try {
    const statements = await connection.extractStatements(sql);
    if (statements.count !== 1) {
      throw new UscopeError(
        'DATASET_STATEMENT',
        `there are ${statements.count} statements; ask one question at a time`,
      );
    }
    const prepared = await statements.prepare(0);
    try {
      return prepared.statementType;
    } finally {
      prepared.destroySync();
    }
  } catch (error) {
    throw queryError(error);
  }
}

/** What the engine says of a question, with a code. */
export function queryError(error: unknown): unknown {
  if (error instanceof UscopeError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (/^INTERRUPT/i.test(message)) {
    return new UscopeError(
      'DATASET_TIMEOUT',
      'the question was interrupted; raise the limit with --timeout, or ask about fewer runs or cycles',
      {},
      { cause: error },
    );
  }
  return new UscopeError('DATASET_QUERY', message.trim(), {}, { cause: error });
}
