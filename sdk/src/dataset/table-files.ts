/**
 * The Parquet files of tables, as the directories of a dataset have them now. A directory is read again only when it has changed: with a thousand runs that takes
 * half the time of reading all. Calls are synchronous: through the thread pool each would take ten times as long.
 */
import { readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { KEYS, nameInPartition } from './files/names.js';
import type { JoinedRuns } from './joined-runs.js';
import type { TableName } from './layout.js';

export interface TableFile {
  readonly path: string;
  /** Another one when the file was replaced or changed. */
  readonly version: string;
}

/** A directory that changed shortly before it was read may change again without another time: file systems count in steps of up to two seconds. */
const SETTLED_MS = 2000;
const PARQUET = '.parquet';

export class TableFiles {
  private readonly tables = new Map<string, Directory>();

  /** Files of the runs that have directories, in the order of runs, cores and parts. @param without runs that are read from joined files */
  ofRuns(root: string, table: TableName, without: ReadonlySet<string>): TableFile[] {
    const path = join(root, table);
    let directory = this.tables.get(path);
    if (!directory) {
      const key = KEYS[table];
      directory = new Directory(path, [...(key === undefined ? [] : [`${key}=`]), 'run=', 'core=']);
      this.tables.set(path, directory);
    }
    return directory.files(without);
  }

  /** Joined files of a table, in the order in which they are listed. */
  ofGroup(root: string, table: TableName, { files }: JoinedRuns['groups'][number]): TableFile[] {
    return files
      .filter((file) => file.startsWith(`joined/${table}/`))
      .map((file) => join(root, file))
      .map((path) => ({ path, version: versionOf(statSync(path, { throwIfNoEntry: false })) }));
  }
}

class Directory {
  /** null: not read yet, or too early. */
  private version: string | null = null;
  private names: readonly string[] = [];
  private below = new Map<string, Directory>();

  /** @param prefixes of the names of directories, level by level; without one, there are files */
  constructor(
    private readonly path: string,
    private readonly prefixes: readonly string[],
  ) {}

  files(without: ReadonlySet<string>): TableFile[] {
    this.refresh();
    const [prefix] = this.prefixes;
    if (prefix === undefined) return this.names.flatMap((name) => fileAt(join(this.path, name)));
    const isRun = prefix === 'run=';
    return this.names.flatMap((name) =>
      isRun && without.has(nameInPartition(name.slice(prefix.length)))
        ? []
        : (this.below.get(name)?.files(without) ?? []),
    );
  }

  private refresh(): void {
    const found = statSync(this.path, { throwIfNoEntry: false });
    const version = versionOf(found);
    if (version === this.version) return;
    const readMs = Date.now();
    this.names = found?.isDirectory() ? this.read() : [];
    this.version = found && readMs - Math.max(found.mtimeMs, found.ctimeMs) > SETTLED_MS ? version : null;
    this.below = new Map(this.prefixes.length === 0 ? [] : this.names.map((name) => this.entry(name)));
  }

  private entry(name: string): [string, Directory] {
    return [name, this.below.get(name) ?? new Directory(join(this.path, name), this.prefixes.slice(1))];
  }

  private read(): string[] {
    const [prefix] = this.prefixes;
    const names = readdirSync(this.path);
    if (prefix !== undefined) return names.filter((name) => name.startsWith(prefix)).sort();
    // Names that begin so are for no engine.
    return names.filter((name) => name.endsWith(PARQUET) && !/^[._]/.test(name)).sort(byPart);
  }
}

/** Nothing for a file that is gone. */
function fileAt(path: string): TableFile[] {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() ? [{ path, version: versionOf(found) }] : [];
}

const versionOf = (found: Stats | undefined): string =>
  found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;

const partOf = (name: string): number => Number(/^part-(\d+)\.parquet$/.exec(name)?.[1] ?? Infinity);

/** Ours by number, the others after them. */
function byPart(a: string, b: string): number {
  const [first, second] = [partOf(a), partOf(b)];
  if (first !== second) return first - second;
  return a < b ? -1 : 1;
}
