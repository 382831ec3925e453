/** Which statements may be run: those that ask. The engine's own parser says what a statement is. */
import { UscopeError } from '../base/errors.js';
import type { Connection, DuckDb } from './engine/duckdb.js';
import { parsedQuestion } from './parsed-question.js';
import { checkTableFunctions } from './table-functions.js';

export type PreparedQuestion = import('@duckdb/node-api').DuckDBPreparedStatement;

/** EXPLAIN runs what it explains when ANALYZE is asked for: the statement after it is checked as if it stood alone. */
const EXPLAIN = /^\s*EXPLAIN\b\s*(?:ANALYZE\b|\((?:[^()'"]*)\))?/i;

/** What an EXPLAIN explains; null: it is none. */
export function explained(sql: string): string | null {
  const rest = sql.replace(EXPLAIN, '');
  return rest === sql ? null : rest;
}

/** What may hold a semicolon that ends nothing, or a semicolon. */
const ENDS =
  /(?<!\w)e'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\/|;/gi;

/** The one statement of a question, to be put into another: without the semicolon, and the comments after it. */
export function withoutEnd(sql: string): string {
  for (const { 0: found, index } of sql.matchAll(ENDS)) if (found === ';') return sql.slice(0, index);
  return sql;
}

/**
 * The question, ready to run: what is run is what was checked. Nothing is prepared before the parser's tree was, since some functions act when they are prepared.
 * @param ours ready-made questions
 * @throws UscopeError DATASET_STATEMENT, DATASET_QUERY
 */
export async function prepareQuestion(
  api: DuckDb,
  connection: Connection,
  sql: string,
  ours: ReadonlySet<string>,
): Promise<PreparedQuestion> {
  const { SELECT, EXPLAIN: EXPLAINS } = api.StatementType;
  const rest = explained(sql);
  await checkParsed(connection, rest ?? sql, ours);
  const prepared = await prepareOne(connection, sql);
  if (prepared.statementType === (rest === null ? SELECT : EXPLAINS)) return prepared;
  prepared.destroySync();
  throw notAllowed(api.StatementType[prepared.statementType] ?? 'this statement');
}

async function checkParsed(connection: Connection, sql: string, ours: ReadonlySet<string>): Promise<void> {
  const parsed = await parsedQuestion(connection, sql);
  if (parsed.kind === 'wrong') {
    // It says where.
    await statementsOf(connection, sql);
    throw new UscopeError('DATASET_QUERY', parsed.message);
  }
  if (parsed.kind === 'other') {
    const word = /\w+/.exec(sql.replace(COMMENTS, ' '))?.[0].toUpperCase();
    if (word === undefined) throw new UscopeError('DATASET_QUERY', 'there is no question');
    throw ASKING.has(word) ? several() : notAllowed(word);
  }
  if (parsed.statements > 1) throw several();
  await checkTableFunctions(connection, parsed.tableFunctions, ours);
}

const COMMENTS = /--[^\n]*|\/\*[\s\S]*?\*\//g;
/** How statements that ask begin. */
const ASKING = new Set([
  'SELECT',
  'FROM',
  'WITH',
  'DESCRIBE',
  'DESC',
  'SUMMARIZE',
  'SHOW',
  'TABLE',
  'VALUES',
]);

const several = (): UscopeError =>
  new UscopeError('DATASET_STATEMENT', 'there are several statements; ask one question at a time');

const notAllowed = (what: string): UscopeError =>
  new UscopeError(
    'DATASET_STATEMENT',
    `${what} is not allowed: a query may be SELECT, FROM, WITH, DESCRIBE, SUMMARIZE, SHOW, or EXPLAIN of one of them`,
  );

async function prepareOne(connection: Connection, sql: string): Promise<PreparedQuestion> {
  const statements = await statementsOf(connection, sql);
  if (statements.count !== 1) throw several();
  try {
    return await statements.prepare(0);
  } catch (error) {
    throw queryError(error);
  }
}

async function statementsOf(connection: Connection, sql: string) {
  try {
    return await connection.extractStatements(sql);
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

/** What its package puts before it. */
const EXTRACTING = /^Failed to extract statements: /;

/** What the engine says of a question, with a code. */
export function queryError(error: unknown, ended: Ended = 'interrupt'): unknown {
  if (error instanceof UscopeError) return error;
  const message = (error instanceof Error ? error.message : String(error)).replace(EXTRACTING, '');
  if (/^INTERRUPT/i.test(message)) {
    return new UscopeError('DATASET_TIMEOUT', ADVICE[ended], {}, { cause: error });
  }
  const detail = /^Out of Memory/i.test(message)
    ? `${message.split('\n')[0]}; ${MORE_MEMORY}`
    : message.trim();
  return new UscopeError('DATASET_QUERY', detail, {}, { cause: error });
}

/** Whether the engine found a file no more. */
export const isOfGoneFile = (error: unknown): boolean =>
  /IO Error: (No files found|Cannot open file)/.test(error instanceof Error ? error.message : '');
