/** What `uscope export` and `uscope run --export` have in common. */
import { UscopeError } from '../../base/errors.js';
import { OF_PATHS } from '../../dataset/files/names.js';
import type { RunFailure, RunReport } from '../../dataset/index.js';
import { COLUMNS, TABLES } from '../../dataset/layout.js';

export const DEFAULT_WINDOW = 10_000;
/** A row for each cycle is only for those who ask for it. */
export const DEFAULT_TABLES = TABLES.filter((table) => table !== 'cycles');

/** Columns that `traces` has already; those of the DUT's properties begin with `dut_`. */
const RESERVED = new Set([...OF_PATHS, ...Object.keys(COLUMNS.traces)]);

/** @throws UscopeError CLI_USAGE */
export function parseTags(tags: readonly string[]): Record<string, string> {
  const parsed: Record<string, string> = {};
  for (const tag of tags) {
    const [, key, value] = /^([a-z][a-z0-9_]{0,62})=(.*)$/s.exec(tag) ?? [];
    if (key === undefined || RESERVED.has(key) || key.startsWith('dut_')) {
      throw new UscopeError(
        'CLI_USAGE',
        `--tag "${tag}" is not key=value with a key of a-z, 0-9 and _ that is not a column of traces`,
      );
    }
    parsed[key] = value;
  }
  return parsed;
}

/** As `describeError`. */
export const describeFailure = ({ error: { code, detail, file } }: RunFailure): string =>
  `${code}: ${detail}${file === undefined ? '' : ` (${file})`}`;

/** What was exported: instructions, or the rows of each table where there is no core that could have some. */
export function describeRows({ cores, instructions, rows }: RunReport): string {
  if (cores > 0) return `${cores} ${cores === 1 ? 'core' : 'cores'}, ${instructions} instructions`;
  const tables = Object.entries(rows).filter(([table]) => table !== 'traces' && table !== 'gaps');
  const found = tables.map(([table, count]) => `${count} ${table}`).join(', ');
  return `no core, ${found === '' ? 'no rows but those of traces' : found}`;
}
