/** Links from rows to the viewer: a row that names a run, a core and a cycle gets the command that opens the trace there. */
import type { Connection } from './engine/duckdb.js';

/** Name of the column that rows get. */
export const LINK = 'view';
/** Columns that say where a row is, the best one first. */
const PLACES = ['cycle', 'birth_cycle', 'from_cycle', 'end_cycle'];

export type LinkOf = (row: readonly unknown[]) => string | null;

interface Columns {
  readonly run: number;
  readonly core: number;
  readonly cycle: number;
}

/** Index of the column that says when a row was, in cycles of its core; -1: none. */
export const cycleColumn = (names: readonly string[]): number =>
  names.indexOf(PLACES.find((name) => names.includes(name)) ?? '');

/** null: rows of these columns do not name a place, or have a column of that name. */
export function placeColumns(names: readonly string[]): Columns | null {
  const [run, core] = [names.indexOf('run'), names.indexOf('core')];
  const cycle = cycleColumn(names);
  return run < 0 || core < 0 || cycle < 0 || names.includes(LINK) ? null : { run, core, cycle };
}

/** Which trace each run and core has; asked again when the table `traces` has changed. */
export class Links {
  private version: string | null = null;
  private files: ReadonlyMap<string, string> = new Map();

  /** @param connection its view `traces` is that of the files */
  constructor(private readonly connection: Connection) {}

  /** @param version of the table `traces` */
  async of({ run, core, cycle }: Columns, version: string): Promise<LinkOf> {
    if (version !== this.version) {
      this.files = await filesOf(this.connection);
      this.version = version;
    }
    const { files } = this;
    return (row) => {
      const file = files.get(`${row[run]}\n${row[core]}`);
      const at = row[cycle];
      if (file === undefined || (typeof at !== 'bigint' && typeof at !== 'number')) return null;
      return `uscope view ${quotedWord(file)} --core ${quotedWord(String(row[core]))} --at ${at}`;
    };
  }
}

async function filesOf(connection: Connection): Promise<ReadonlyMap<string, string>> {
  const result = await connection.runAndReadAll('SELECT run, core, file FROM traces WHERE file IS NOT NULL');
  return new Map(result.getRows().map(([run, core, file]) => [`${run}\n${core}`, String(file)]));
}

/** As a shell takes it. */
const quotedWord = (text: string): string =>
  /^[\w./:@%+=,-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", "'\\''")}'`;
