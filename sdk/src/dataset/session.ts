/** A connection that can only ask: views of the tables of datasets, the ready-made questions, and no way to other files, the network or a change. */
import { join, resolve } from 'node:path';
import type { FunctionSymbol } from '../semantics/program/index.js';
import { checkDistinctRuns } from './distinct-runs.js';
import { type Connection, type Engine, named, quoted } from './engine/duckdb.js';
import { openDataset, TABLES } from './layout.js';
import { type LinkOf, Links, placeColumns } from './links.js';
import { loadMacros, type Macro } from './macros.js';
import { NamedTables, picksRuns } from './named-tables.js';
import { completeRuns } from './publish.js';
import { beginReading, type Reading } from './readers.js';
import { makeScratch, type Scratch } from './scratch.js';
import { SessionViews } from './session-views.js';
import { bindRange, type Periods, periodsOf, type ShownRange } from './shown-range.js';
import {
  type Ended,
  isOfGoneFile,
  type PreparedQuestion,
  prepareQuestion,
  queryError,
  withoutEnd,
} from './statements.js';
import { namesUnsigned, UNSIGNED } from './unsigned.js';
import { emptyView, functionsView } from './views.js';

export interface SessionOptions {
  /** Such as `2GB`. */
  readonly memory?: string | undefined;
  /** Longest time of a question. */
  readonly timeoutMs?: number | undefined;
  /** Rows of the table `functions`. */
  readonly functions?: readonly FunctionSymbol[] | undefined;
}

const INTERRUPT_MS = 50;
/** Of a question whose files go away before its first row. */
const ATTEMPTS = 5;

interface How {
  readonly signal?: AbortSignal | undefined;
  /** null: the question is about all that there is. */
  readonly range?: ShownRange | null;
}

type Begin<T> = (
  prepared: PreparedQuestion,
  readings: readonly Reading[],
  periods: Periods,
) => Promise<() => Promise<T>>;

type Result = Awaited<ReturnType<Connection['stream']>>;

export class SqlSession {
  private readonly names: NamedTables;
  private readonly ours: ReadonlySet<string>;
  private readonly views: SessionViews;
  private readonly links: Links;

  private constructor(
    private readonly engine: Engine,
    private readonly instance: import('@duckdb/node-api').DuckDBInstance,
    private readonly connection: Connection,
    private readonly roots: readonly string[],
    private readonly macros: readonly Macro[],
    private readonly scratch: Scratch,
    private readonly timeoutMs: number | undefined,
  ) {
    this.names = new NamedTables(connection, macros);
    this.ours = new Set(macros.map(({ name }) => name));
    this.views = new SessionViews(connection, roots);
    this.links = new Links(connection);
  }

  /**
   * @param datasets directories, read as one
   * @throws UscopeError DATASET_LAYOUT, DATASET_RUN for a run that two of them have, DATASET_QUERY for a wrong memory limit
   */
  static async open(
    engine: Engine,
    datasets: readonly string[],
    options: SessionOptions = {},
  ): Promise<SqlSession> {
    const roots = datasets.map((path) => resolve(path));
    for (const root of roots) {
      await openDataset(root);
      await completeRuns(root);
    }
    await checkDistinctRuns(roots);
    const scratch = await makeScratch('sql');
    try {
      const instance = await engine.api.DuckDBInstance.create(':memory:', {
        temp_directory: join(scratch.path, 'spill'),
      });
      const connection = await instance.connect();
      // The next question does not read the footers of a thousand files again.
      await connection.run('SET parquet_metadata_cache = true');
      const macros = await loadMacros();
      const session = new SqlSession(engine, instance, connection, roots, macros, scratch, options.timeoutMs);
      if (options.memory !== undefined) await connection.run(`SET memory_limit = ${quoted(options.memory)}`);
      await session.prepare(options.functions ?? []);
      await session.lock(roots);
      return session;
    } catch (error) {
      await scratch.remove();
      throw queryError(error);
    }
  }

  /** The tables are empty until a question names them: the engine opens every file of a view. */
  private async prepare(functions: readonly FunctionSymbol[]): Promise<void> {
    for (const table of TABLES)
      await this.connection.run(`CREATE VIEW ${named(table)} AS ${emptyView(table)}`);
    await this.connection.run(`CREATE SCHEMA ${UNSIGNED}`);
    await this.connection.run(`CREATE VIEW functions AS ${functionsView(functions)}`);
    for (const { sql } of this.macros) await this.connection.run(sql);
  }

  private async lock(roots: readonly string[]): Promise<void> {
    const allowed = [...roots, this.scratch.path].map((root) => quoted(`${root}/`)).join(', ');
    for (const setting of [
      `allowed_directories = [${allowed}]`,
      'autoinstall_known_extensions = false',
      'autoload_known_extensions = false',
      'enable_external_access = false',
      'lock_configuration = true',
    ]) {
      await this.connection.run(`SET ${setting}`);
    }
  }

  /** Runs one question and hands its result to `use`, which reads it, with the links of its rows to the viewer, if they have some. */
  ask<T>(
    sql: string,
    use: (result: Result, linkOf: LinkOf | null) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    return this.answer(sql, { signal }, async (prepared, readings) => {
      const linkOf = await this.linkOf(prepared, readings);
      const result = await prepared.stream();
      return () => use(result, linkOf);
    });
  }

  /** The same about a range, with the clock periods of all cores. */
  askAbout<T>(
    sql: string,
    range: ShownRange | null,
    use: (result: Result, periods: Periods) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    return this.answer(sql, { signal, range }, async (prepared, _, periods) => {
      const result = await prepared.stream();
      return () => use(result, periods);
    });
  }

  private async linkOf(prepared: PreparedQuestion, readings: readonly Reading[]): Promise<LinkOf | null> {
    const names = Array.from({ length: prepared.columnCount }, (_, index) => prepared.columnName(index));
    const columns = placeColumns(names);
    if (columns === null) return null;
    const version = this.views.versionOf('traces', readings);
    await this.views.make(['traces'], readings, { isOfFewRuns: true });
    return this.links.of(columns, version);
  }

  /** Tables, and the columns that each has now. */
  tables(): Promise<{ table: string; column: string }[]> {
    const question =
      "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal AND schema_name = 'main' ORDER BY table_name, column_index";
    return this.answer(question, {}, async () => {
      const result = await this.connection.runAndReadAll(question);
      return async () =>
        result.getRows().map(([table, column]) => ({ table: String(table), column: String(column) }));
    });
  }

  /** Names of all columns, for completion. */
  columns(): Promise<string[]> {
    const question = 'SELECT DISTINCT column_name FROM duckdb_columns() WHERE NOT internal ORDER BY 1';
    return this.answer(question, {}, async () => {
      const result = await this.connection.runAndReadAll(question);
      return async () => result.getRows().map(([name]) => String(name));
    });
  }

  /** Runs one question and writes its rows to a Parquet file in the scratch directory. */
  askToParquet(sql: string, signal?: AbortSignal): Promise<string> {
    const path = join(this.scratch.path, 'result.parquet');
    return this.answer(sql, { signal }, async () => {
      await this.connection.run(
        `COPY (${withoutEnd(sql)}\n) TO ${quoted(path)} (FORMAT parquet, COMPRESSION zstd)`,
      );
      return async () => path;
    });
  }

  /**
   * Joined files that are replaced meanwhile stay until the question has its answer. A run that is replaced takes its files with it: then the question begins again.
   * @param begin until the first row; what it returns reads the rows, once
   */
  private async answer<T>(sql: string, how: How, begin: Begin<T>): Promise<T> {
    const readings: Reading[] = [];
    try {
      for (const root of this.roots) readings.push(await beginReading(root));
      return await this.limited(how.signal, async () => {
        for (let attempt = 1; ; attempt++) {
          const begun = await this.begun(sql, how, readings, begin).catch((error) => {
            if (attempt < ATTEMPTS && isOfGoneFile(error)) return null;
            throw error;
          });
          if (begun === null) continue;
          try {
            return await begun.read();
          } finally {
            begun.prepared.destroySync();
          }
        }
      });
    } finally {
      for (const reading of readings) reading.end();
    }
  }

  private async begun<T>(
    sql: string,
    { range }: How,
    readings: readonly Reading[],
    begin: Begin<T>,
  ): Promise<{ readonly prepared: PreparedQuestion; readonly read: () => Promise<T> }> {
    const periods = range === undefined ? new Map<string, bigint>() : await this.periods(readings);
    const tables = await this.names.viewsOf(sql);
    const limit = range ? { range, periods } : undefined;
    await this.views.make(tables, readings, { limit, isOfFewRuns: picksRuns(sql) });
    if (namesUnsigned(sql)) await this.views.makeUnsigned(tables, readings);
    const prepared = await prepareQuestion(this.engine.api, this.connection, sql, this.ours);
    try {
      if (range !== undefined) bindRange(prepared, range);
      return { prepared, read: await begin(prepared, readings, periods) };
    } catch (error) {
      prepared.destroySync();
      throw error;
    }
  }

  private async periods(readings: readonly Reading[]): Promise<Periods> {
    await this.views.make(['traces'], readings);
    return periodsOf(this.connection);
  }

  private async limited<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    let ended: Ended | undefined;
    let repeat: NodeJS.Timeout | undefined;
    // What comes between two steps of a question interrupts nothing: it is repeated until the question has ended.
    const end = (why: Ended): void => {
      ended ??= why;
      this.connection.interrupt();
      repeat ??= setInterval(() => this.connection.interrupt(), INTERRUPT_MS);
    };
    const timer = this.timeoutMs === undefined ? undefined : setTimeout(end, this.timeoutMs, 'timeout');
    const interrupt = (): void => end('interrupt');
    signal?.addEventListener('abort', interrupt);
    try {
      if (signal?.aborted) throw new Error('INTERRUPT: before it began');
      return await work();
    } catch (error) {
      throw queryError(error, ended);
    } finally {
      clearTimeout(timer);
      clearInterval(repeat);
      signal?.removeEventListener('abort', interrupt);
    }
  }

  async close(): Promise<void> {
    this.connection.closeSync();
    this.instance.closeSync();
    await this.scratch.remove();
  }
}
