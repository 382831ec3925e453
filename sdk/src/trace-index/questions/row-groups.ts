/** Rows added up: groups of a level of rows over a range, for a picture of a width. */
import { UscopeError } from '../../base/errors.js';
import type { RowLevel } from '../rows/row-levels.js';
import type { RowCountsChunk, RowsChunk } from '../rows/row-table.js';

/** Numbers of rows in the trace; the end is exclusive. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

export interface RowGroupsFound {
  /** Rows of a group; the last ones, and those at the end of a segment, may have fewer. */
  readonly rowsPerGroup: number;
  /** Those that have rows of the range, in order; the first and the last may reach beyond it. */
  readonly chunks: readonly RowsChunk[];
}

/** Of one answer: more groups than a picture has pixels are not wanted. */
const MAX_GROUPS = 65_536;

/** @throws UscopeError READER_RANGE, FORMAT_* */
export async function rowGroups(
  levels: readonly RowLevel[],
  { from, to }: RowRange,
  most: number,
): Promise<RowGroupsFound> {
  if (!(Number.isInteger(from) && Number.isInteger(to) && from >= 0 && to > from)) {
    throw new UscopeError('READER_RANGE', `rows ${from} to ${to} are not a range of rows`);
  }
  if (!(Number.isInteger(most) && most >= 1 && most <= MAX_GROUPS)) {
    throw new UscopeError('READER_RANGE', `rows are added up in 1 to ${MAX_GROUPS} groups, not ${most}`);
  }
  const wanted = (to - from) / most;
  const level = levels.findLast(({ rowsPerGroup }) => rowsPerGroup <= wanted) ?? levels[0]!;
  const chunks: RowsChunk[] = [];
  for await (const chunk of chunksOf(level, { from, to })) chunks.push(chunk);
  return { rowsPerGroup: level.rowsPerGroup, chunks };
}

/** The chunks of a level that have rows of a range. */
async function* chunksOf(level: RowLevel, range: RowRange): AsyncGenerator<RowsChunk> {
  yield* level.load(...(await placesOf(level, range)));
}

/** The same without stages. */
export async function* countsOf(level: RowLevel, range: RowRange): AsyncGenerator<RowCountsChunk> {
  yield* level.loadCounts(...(await placesOf(level, range)));
}

async function placesOf(level: RowLevel, { from, to }: RowRange): Promise<[first: number, end: number]> {
  const first = await firstChunk(level, 0, async (chunk) => (await level.firstRow(chunk + 1)) > from);
  const end = await firstChunk(level, first, async (chunk) => (await level.firstRow(chunk)) >= to);
  return [first, end];
}

async function firstChunk(
  { length }: RowLevel,
  least: number,
  holds: (chunk: number) => Promise<boolean>,
): Promise<number> {
  let low = least;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (await holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
