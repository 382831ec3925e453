/** Which rows follow each other where squashed instructions take no line: a row keeps its number, only its place changes. */
import type { RowLines } from '../../model/view.js';

/** Farther away, every row counts: only where the screen goes next depends on it. */
const MAX_STEPS = 32_768;

interface HiddenRows {
  readonly rows: number;
  /** Rows that are not here are shown. */
  isSquashed(row: number): boolean;
}

export class ShownLines implements RowLines {
  constructor(private readonly store: HiddenRows) {}

  below(row: number, lines: number): number {
    if (Math.abs(lines) > MAX_STEPS) return row + lines;
    let [at, part] = this.snapped(row);
    const whole = Math.floor(part + lines);
    part = part + lines - whole;
    for (let step = 0; step < whole; step++) at = this.next(at + 1);
    for (let step = 0; step > whole; step--) at = this.previous(at - 1);
    return at + part;
  }

  between(from: number, to: number): number {
    if (Math.abs(to - from) > MAX_STEPS) return to - from;
    const [a, partA] = this.snapped(from);
    const [b, partB] = this.snapped(to);
    let lines = 0;
    for (let row = a; row < b; row = this.next(row + 1)) lines++;
    for (let row = b; row < a; row = this.next(row + 1)) lines--;
    return lines + partB - partA;
  }

  /** A hidden row is where the next one is that is shown. */
  private snapped(row: number): [row: number, part: number] {
    const whole = Math.floor(row);
    const shown = this.next(whole);
    return shown === whole ? [whole, row - whole] : [shown, 0];
  }

  private next(row: number): number {
    let at = row;
    while (at >= 0 && at < this.store.rows && this.store.isSquashed(at)) at++;
    return at;
  }

  private previous(row: number): number {
    let at = row;
    while (at >= 0 && this.store.isSquashed(at)) at--;
    return at;
  }
}
