/** Rows in another order than that of fetch: within pages of 4,096, so that any place of a long trace takes only the blocks around it. */

import { UNKNOWN } from '../../model/blocks.js';
import type { Colouring } from '../colouring.js';
import type { Place, RowStore } from '../row-store.js';
import type { Sort } from '../settings.js';

export const PAGE_ROWS = 4096;
const MAX_PAGES = 16;

interface Page {
  /** Row of each line, counted from the page's first. */
  readonly rows: Uint16Array;
  /** Line of each row. */
  readonly lines: Uint16Array;
}

export class SortedPages {
  private readonly pages = new Map<string, Page>();

  /** The row on a line; null: its page is not here. */
  rowOf(line: number, sort: Sort, store: RowStore, colouring: Colouring): number | null {
    if (sort === 'fetch') return line;
    const first = Math.floor(line / PAGE_ROWS) * PAGE_ROWS;
    const page = this.page(first, sort, store, colouring);
    return page ? first + page.rows[line - first]! : null;
  }

  /** The line of a row; its own number where its page is not here. */
  lineOf(row: number, sort: Sort, store: RowStore, colouring: Colouring): number {
    if (sort === 'fetch') return row;
    const first = Math.floor(row / PAGE_ROWS) * PAGE_ROWS;
    const page = this.page(first, sort, store, colouring);
    return page ? first + page.lines[Math.floor(row) - first]! : row;
  }

  private page(first: number, sort: Sort, store: RowStore, colouring: Colouring): Page | null {
    const end = Math.min(first + PAGE_ROWS, store.rows);
    const key = `${first} ${end} ${sort}`;
    const known = this.pages.get(key);
    if (known) return known;
    const made = makePage(first, end, sort, store, colouring);
    if (!made) return null;
    this.pages.set(key, made);
    for (const other of this.pages.keys()) {
      if (this.pages.size <= MAX_PAGES) break;
      this.pages.delete(other);
    }
    return made;
  }
}

function makePage(
  first: number,
  end: number,
  sort: Sort,
  store: RowStore,
  colouring: Colouring,
): Page | null {
  const count = end - first;
  if (count <= 0) return null;
  const keys = new Float64Array(count);
  for (let index = 0; index < count; index++) {
    const place = store.locate(first + index);
    if (!place) return null;
    keys[index] = keyOf(place, sort, store, colouring);
  }
  // Rows with the same key stay in the order of fetch.
  const rows = Uint16Array.from({ length: count }, (_, index) => index).sort(
    (a, b) => keys[a]! - keys[b]! || a - b,
  );
  const lines = new Uint16Array(count);
  rows.forEach((row, line) => {
    lines[row] = line;
  });
  return { rows, lines };
}

function keyOf({ block, index }: Place, sort: Sort, store: RowStore, colouring: Colouring): number {
  if (sort === 'latency') return -latencyOf(block, index, store.extent.lastCycle);
  if (sort === 'class') return colouring.classOf(block, index);
  const at = block.code[index]! * 3;
  return block.statics[at + 1]! * 2 ** 32 + block.statics[at]!;
}

/** Cycles from fetch to the end. */
export function latencyOf(
  { birth, end, baseCycle }: Place['block'],
  index: number,
  lastCycle: number,
): number {
  return (end[index] === UNKNOWN ? lastCycle - baseCycle : end[index]!) - birth[index]!;
}
