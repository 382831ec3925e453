/** A connection that can only ask: views of the tables of datasets, the ready-made questions, and no way to other files, the network or a change. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Connection, type Engine, named, quoted } from './engine/duckdb.js';
import { COLUMNS, KEYS, openDataset, TABLES, type TableName } from './layout.js';
import { loadMacros } from './macros.js';
import { completeRuns } from './publish.js';
import { queryError, requireQuestion } from './statements.js';

export interface SessionOptions {
  /** Such as `2GB`. */
  readonly memory?: string | undefined;
  /** Longest time of a question. */
  readonly timeoutMs?: number | undefined;
}

type Result = Awaited<ReturnType<Connection['stream']>>;

export class SqlSession {
  private constructor(
    private readonly engine: Engine,
    private readonly instance: import('@duckdb/node-api').DuckDBInstance,
    private readonly connection: Connection,
    readonly scratch: string,
    private readonly timeoutMs: number | undefined,
  ) {}

  /**
   * @param datasets directories, read as one
   * @throws UscopeError DATASET_LAYOUT, DATASET_QUERY for a wrong memory limit
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
    const scratch = await mkdtemp(join(tmpdir(), 'uscope-sql-'));
    try {
      const instance = await engine.api.DuckDBInstance.create(':memory:', {
        temp_directory: join(scratch, 'spill'),
      });
      const connection = await instance.connect();
      const session = new SqlSession(engine, instance, connection, scratch, options.timeoutMs);
      if (options.memory !== undefined) await connection.run(`SET memory_limit = ${quoted(options.memory)}`);
      await session.prepare(roots);
      await session.lock(roots);
      return session;
    } catch (error) {
      await rm(scratch, { recursive: true, force: true });
      throw queryError(error);
    }
  }

  private async prepare(roots: readonly string[]): Promise<void> {
    for (const table of TABLES) {
      const key = KEYS[table];
      const globs: string[] = [];
      for (const root of roots) {
        if (!(await hasRows(root, table))) continue;
        globs.push(quoted(join(root, table, ...(key ? ['*'] : []), '*', '*', '*.parquet')));
      }
      await this.connection.run(
        `CREATE VIEW ${named(table)} AS ${globs.length > 0 ? viewOf(globs, key) : emptyView(table)}`,
      );
    }
    for (const { sql } of await loadMacros()) await this.connection.run(sql);
  }

  private async lock(roots: readonly string[]): Promise<void> {
    const allowed = [...roots, this.scratch].map((root) => quoted(`${root}/`)).join(', ');
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

  /** Runs one question and hands its result to `use`, which reads it. */
  async ask<T>(sql: string, use: (result: Result) => Promise<T>, signal?: AbortSignal): Promise<T> {
    await requireQuestion(this.engine.api, this.connection, sql);
    return this.limited(signal, async () => use(await this.connection.stream(sql)));
  }

  /** Runs one question and writes its rows to a Parquet file in the scratch directory. */
  async askToParquet(sql: string, signal?: AbortSignal): Promise<string> {
    await requireQuestion(this.engine.api, this.connection, sql);
    const path = join(this.scratch, 'result.parquet');
    const question = sql.replace(/[;\s]+$/, '');
    await this.limited(signal, () =>
      this.connection.run(`COPY (${question}\n) TO ${quoted(path)} (FORMAT parquet, COMPRESSION zstd)`),
    );
    return path;
  }

  private async limited<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const interrupt = (): void => this.connection.interrupt();
    const timer = this.timeoutMs === undefined ? undefined : setTimeout(interrupt, this.timeoutMs);
    signal?.addEventListener('abort', interrupt);
    try {
      return await work();
    } catch (error) {
      throw queryError(error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', interrupt);
    }
  }

  async close(): Promise<void> {
    this.connection.closeSync();
    this.instance.closeSync();
    await rm(this.scratch, { recursive: true, force: true });
  }
}

/** Files of runs whose designs differ are read together, by the names of their columns. */
function viewOf(globs: readonly string[], key: string | undefined): string {
  const partitions = ['run', 'core', ...(key ? [key] : [])]
    .map((name) => `${named(name)}: VARCHAR`)
    .join(', ');
  return (
    `SELECT * FROM read_parquet([${globs.join(', ')}], union_by_name = true, ` +
    `hive_partitioning = true, hive_types = {${partitions}})`
  );
}

function emptyView(table: TableName): string {
  const columns = { ...COLUMNS[table], run: 'VARCHAR', core: 'VARCHAR' };
  const casts = Object.entries(columns).map(([name, type]) => `NULL::${type} AS ${named(name)}`);
  return `SELECT ${casts.join(', ')} WHERE false`;
}

async function hasRows(root: string, table: TableName): Promise<boolean> {
  const names = await readdir(join(root, table)).catch(() => [] as string[]);
  if (KEYS[table] === undefined) return names.some((name) => name.startsWith('run='));
  for (const name of names) {
    const runs = await readdir(join(root, table, name)).catch(() => [] as string[]);
    if (runs.some((run) => run.startsWith('run='))) return true;
  }
  return false;
}
