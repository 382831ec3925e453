/** SQL about the trace of a page: its tables are made when a question names them first, next to no trace, and go with the server. */
import { basename, join } from 'node:path';
import { isUscopeError, UscopeError } from '../../base/errors.js';
import {
  cycleColumn,
  type Engine,
  exportAside,
  loadEngine,
  loadMacros,
  type Macro,
  makeScratch,
  type Periods,
  runNameOf,
  type Scratch,
  type ShownRange,
  SqlSession,
  type TableName,
  tablesIn,
} from '../../dataset/index.js';
import { isHttpUrl } from '../../reader/http-url.js';
import type { FunctionSymbol } from '../../semantics/program/index.js';
import type { ShownTime, SqlAnswerer, ViewQuestion } from '../../view/index.js';
import { type Cell, json } from './print.js';

/** Beyond, a page is not a place to read a table; neither is a longer text. */
const MAX_ROWS = 1000;
const MAX_CHARACTERS = 4_000_000;
const WINDOW = 10_000;

/** What the page gets. Rows that name a cycle have a place: a cycle of the clock that the page shows. */
export interface SqlAnswer {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly places: readonly (number | null)[];
  /** The column that the places are of; -1: rows have none. */
  readonly placeColumn: number;
  /** There are more rows. */
  readonly isCut: boolean;
}

interface Opened {
  readonly engine: Engine;
  readonly macros: readonly Macro[];
  readonly scratch: Scratch;
  readonly root: string;
  /** Of the tables so far; null: there are none yet. */
  session: SqlSession | null;
}

export class ServedSql implements SqlAnswerer {
  private opening: Promise<Opened> | null = null;
  private readonly turns = new Turns();
  /** Of a trace from the network, which says nothing of its changes. */
  private readonly fetched = new Set<TableName>();
  private readonly closing = new AbortController();

  /** @param whereNow path or URL of the trace; null: it is not there yet */
  constructor(
    private readonly whereNow: () => Promise<string | null>,
    private readonly functions: readonly FunctionSymbol[] = [],
  ) {}

  async names(): Promise<unknown> {
    const { macros } = await this.opened();
    return this.turns.take(this.closing.signal, async () => {
      const session = await this.sessionWith(['traces'], this.closing.signal);
      return {
        columns: await session.tables(),
        questions: macros.map(({ name, summary }) => ({ name, summary })),
      };
    });
  }

  async ask(question: ViewQuestion, signal: AbortSignal): Promise<SqlAnswer> {
    const { engine, macros } = await this.opened();
    const either = AbortSignal.any([signal, this.closing.signal]);
    return this.turns.take(either, async () => {
      const tables = await tablesIn(engine, question.sql, macros);
      const session = await this.sessionWith(['traces', ...tables.filter((one) => one !== 'traces')], either);
      return this.answer(session, question, either);
    });
  }

  async close(): Promise<void> {
    this.closing.abort();
    const opened = await this.opening?.catch(() => null);
    if (!opened) return;
    await this.turns.ended();
    await opened.session?.close();
    await opened.scratch.remove();
  }

  private async answer(
    session: SqlSession,
    { sql, timeoutMs, shown, isLimited }: ViewQuestion,
    signal: AbortSignal,
  ): Promise<SqlAnswer> {
    const limit = AbortSignal.timeout(timeoutMs);
    const range = shown && rangeOf(shown, isLimited);
    try {
      return await session.askAbout(
        sql,
        range,
        (result, periods) => readAnswer(result, placesOf(result, periods, shown?.periodPs ?? 1)),
        AbortSignal.any([signal, limit]),
      );
    } catch (error) {
      const isLate = limit.aborted && isUscopeError(error) && error.code === 'DATASET_TIMEOUT';
      if (!isLate) throw error;
      const detail = 'the question took longer than it may: raise the limit, or ask about fewer cycles';
      throw new UscopeError('DATASET_TIMEOUT', detail, {}, { cause: error });
    }
  }

  private opened(): Promise<Opened> {
    this.opening ??= this.open().catch((error) => {
      // The engine may be installed by then.
      this.opening = null;
      throw error;
    });
    return this.opening;
  }

  private async open(): Promise<Opened> {
    const [engine, macros] = [await loadEngine(), await loadMacros()];
    const scratch = await makeScratch('view-sql');
    return { engine, macros, scratch, root: join(scratch.path, 'dataset'), session: null };
  }

  /** Tables of a trace that has changed are made again. */
  private async sessionWith(tables: readonly TableName[], signal: AbortSignal): Promise<SqlSession> {
    const opened = await this.opened();
    const { engine, root } = opened;
    const file = await this.whereNow();
    if (file === null)
      throw new UscopeError('DATASET_QUERY', 'the trace is not there yet: ask again when the page shows it');
    const isFetched = isHttpUrl(file) && tables.every((table) => this.fetched.has(table));
    if (!isFetched) {
      const wanted = new Set([...tables, ...this.fetched]);
      const request = {
        run: runNameOf(basename(file, '.uscope')),
        files: [file],
        tables: [...wanted],
        window: WINDOW,
        tags: {},
      };
      await exportAside(root, { ...request, replace: true, keep: true }, signal);
      if (isHttpUrl(file)) for (const table of wanted) this.fetched.add(table);
    }
    opened.session ??= await SqlSession.open(engine, [root], { functions: this.functions });
    return opened.session;
  }
}

const rangeOf = ({ from, to, periodPs }: ShownTime, isLimited: boolean): ShownRange => {
  const period = BigInt(periodPs);
  return { fromPs: BigInt(from) * period, toPs: BigInt(to) * period, periodPs: period, isLimited };
};

type Result = Parameters<Parameters<SqlSession['askAbout']>[2]>[0];

async function readAnswer(result: Result, placeOf: PlaceOf): Promise<SqlAnswer> {
  const columns = result.deduplicatedColumnNames();
  const placeColumn = cycleColumn(columns);
  const rows: unknown[][] = [];
  const places: (number | null)[] = [];
  let characters = 0;
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return { columns, rows, places, placeColumn, isCut: false };
    for (const cells of chunk.getRows() as Cell[][]) {
      const row = cells.map(json);
      for (const cell of row) characters += String(cell).length;
      if (rows.length >= MAX_ROWS || characters > MAX_CHARACTERS)
        return { columns, rows, places, placeColumn, isCut: true };
      rows.push(row);
      places.push(placeOf(cells));
    }
  }
}

type PlaceOf = (cells: readonly Cell[]) => number | null;

/** A row's cycle is one of its core's clock; where it names no core, of the one shown. */
function placesOf(result: Result, periods: Periods, shownPs: number): PlaceOf {
  const columns = result.deduplicatedColumnNames();
  const [cycle, core] = [cycleColumn(columns), columns.indexOf('core')];
  // There is one run.
  const ofCore = new Map([...periods].map(([key, period]) => [key.split('\n')[1], Number(period)]));
  return (cells) => {
    const at = cycle < 0 ? null : cells[cycle];
    if (typeof at !== 'bigint' && typeof at !== 'number') return null;
    const period = core < 0 ? undefined : ofCore.get(String(cells[core]));
    const place = period === undefined ? Number(at) : (Number(at) * period) / shownPs;
    return Number.isFinite(place) && place >= 0 ? Math.floor(place) : null;
  };
}

/** One piece of work after the other. */
class Turns {
  private last: Promise<unknown> = Promise.resolve();

  /** @throws what `work` throws; the signal's reason, when it is raised while others have their turn */
  async take<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const turn = this.last.then(() => {
      signal.throwIfAborted();
      return work();
    });
    this.last = turn.catch(() => undefined);
    return turn;
  }

  /** Nobody has a turn any more. */
  async ended(): Promise<void> {
    await this.last;
  }
}
