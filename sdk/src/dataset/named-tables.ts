/** Which tables a question needs: a view of a thousand files takes time, and a table of a trace even more. The engine's own parser says what names a table. */
import type { Connection, Engine } from './engine/duckdb.js';
import { TABLES, type TableName } from './layout.js';
import type { Macro } from './macros.js';
import { parsedQuestion } from './parsed-question.js';
import { explained } from './statements.js';

/** Questions about the tables themselves. */
const CATALOG = /\b(information_schema|duckdb_\w+|pg_catalog|sqlite_master|show|describe|summarize)\b/i;

/** Whether a question names the runs that it is about. Its answer does not depend on it. */
export const picksRuns = (question: string): boolean => /\brun"?\s*(==?|IN\s*\()\s*'/i.test(question);

/** Tables and ready-made questions that a text names. */
interface Names {
  readonly tables: readonly TableName[];
  readonly macros: readonly Macro[];
}

export class NamedTables {
  private readonly ofMacros = new Map<Macro, Names>();

  constructor(
    private readonly connection: Connection,
    private readonly macros: readonly Macro[],
  ) {}

  /** Tables that a question names, and those of the ready-made questions in it, directly or through others. */
  async of(question: string): Promise<TableName[]> {
    const found = new Set<TableName>();
    const asked = new Set<Macro>();
    const waiting = [await this.namesIn(explained(question) ?? question)];
    for (let names = waiting.pop(); names; names = waiting.pop()) {
      for (const table of names.tables) found.add(table);
      for (const macro of names.macros) {
        if (asked.has(macro)) continue;
        asked.add(macro);
        waiting.push(await this.namesOf(macro));
      }
    }
    return TABLES.filter((table) => found.has(table));
  }

  /** Tables whose views a question reads: all, when it asks what there is. */
  async viewsOf(question: string): Promise<readonly TableName[]> {
    const tables = await this.of(question);
    return tables.length === 0 && CATALOG.test(question) ? TABLES : tables;
  }

  private async namesOf(macro: Macro): Promise<Names> {
    let names = this.ofMacros.get(macro);
    if (!names) {
      const { sql } = macro;
      const body = sql.slice(sql.search(/\bAS TABLE\b/) + 'AS TABLE'.length);
      names = /\bAS TABLE\b/.test(sql)
        ? await this.namesIn(body.replace(/;\s*$/, ''))
        : { tables: [], macros: [] };
      this.ofMacros.set(macro, names);
    }
    return names;
  }

  private async namesIn(sql: string): Promise<Names> {
    const parsed = await parsedQuestion(this.connection, sql);
    // Of a text that the parser cannot read, any word may be one.
    const words = parsed.kind === 'select' ? parsed.names : new Set(sql.toLowerCase().match(/\w+/g) ?? []);
    return {
      tables: TABLES.filter((table) => words.has(table)),
      macros: this.macros.filter(({ name }) => words.has(name)),
    };
  }
}

/** As of a session, before there is one. */
export async function tablesIn(
  { api }: Engine,
  question: string,
  macros: readonly Macro[],
): Promise<TableName[]> {
  const instance = await api.DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    return await new NamedTables(connection, macros).of(question);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
