/** Names of runs, partitions and columns, as every engine takes them. */
import { isAbsolute } from 'node:path';
import { UscopeError } from '../../base/errors.js';

/** What Hive and its followers write for a partition whose value is NULL. */
const HIVE_NULL = '__HIVE_DEFAULT_PARTITION__';

/** Reserved by DuckDB, Spark or Trino: as the name of a column each would have to be quoted. */
const RESERVED = new Set(
  `all alter analyse analyze and anti any array as asc asof asymmetric at authorization between both by case cast check collate collation column
  columns concurrently constraint create cross cube current_catalog current_date current_path current_role current_schema current_time
  current_timestamp current_user deallocate default deferrable delete desc describe distinct do drop else end escape except execute exists extract
  false fetch filter for foreign freeze from full function generated glob grant group grouping having ilike in initially inner insert intersect
  into is isnull join json_array json_object lambda lateral leading left like limit listagg localtime localtimestamp map natural normalize not
  notnull null offset on only or order outer overlaps pivot pivot_longer pivot_wider placing positional prepare primary qualify recursive
  references returning right rollup select semi session_user show similar skip some struct summarize symmetric table tablesample then time to
  trailing trim true try_cast uescape union unique unknown unnest unpack unpivot user using values variadic verbose when where window with`.split(
    /\s+/,
  ),
);

/** Columns that come of a file's path, and the engine's for that path. */
export const OF_PATHS = ['run', 'core', 'filename'];

/** The partition above `run=`, of tables that have one. */
export const KEYS: Readonly<Record<string, string | undefined>> = { events: 'event', slots: 'storage' };

/** A value as it is in the name of a partition's directory. */
export const partition = (key: string, value: string): string =>
  `${key}=${encodeURIComponent(value).replaceAll('*', '%2A').replaceAll("'", '%27')}`;

/** The value in such a name. A directory that nobody exported may have any. */
export function nameInPartition(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** A run's name made of a directory's or a file's. */
export function runNameOf(text: string): string {
  const plain = text.normalize('NFD').replace(/\p{M}/gu, '');
  const name = plain
    .replace(/[^\w.+-]/g, '_')
    .replace(/^(?!\w)/, '_')
    .slice(0, 128);
  return name.toUpperCase() === HIVE_NULL ? `${name}_` : name;
}

/** @throws UscopeError DATASET_NAME for a name that cannot be a run */
export function checkRunName(name: string): string {
  if (/^\w[\w.+-]{0,127}$/.test(name) && name.toUpperCase() !== HIVE_NULL) return name;
  throw new UscopeError(
    'DATASET_NAME',
    `a run cannot be called "${name}": use 1 to 128 letters, digits and . _ + -; choose a name with --run`,
  );
}

/** Names of columns in lower case, of a-z, 0-9 and _, none of them reserved, and no two equal. */
export class ColumnNames {
  private readonly taken: Set<string>;

  /** @param taken columns of the table that are there already */
  constructor(taken: Iterable<string>) {
    this.taken = new Set([...OF_PATHS, ...taken]);
  }

  add(name: string): string {
    const plain = plainName(name);
    let column = plain;
    for (let number = 2; this.taken.has(column); number++) column = `${plain}_${number}`;
    this.taken.add(column);
    return column;
  }
}

export function plainName(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^(?=[0-9])|^$/, 's');
  return RESERVED.has(plain) ? `${plain}_` : plain;
}

/** A path that a file of the dataset names, relative to the dataset, and that leads nowhere else. */
export function isInside(path: unknown): path is string {
  return typeof path === 'string' && path !== '' && !isAbsolute(path) && !path.split(/[/\\]/).includes('..');
}
