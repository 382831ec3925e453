/** In how many cycles how many instructions retired. */
import type { CycleWindow } from './window.js';

/** Wider cycles count as this wide. */
export const MAX_WIDTH = 256;

/** What an index has counted in a segment: cycles by width, all of them, and which were the first and the last. */
export interface WidthsCounts {
  readonly cycles: readonly number[];
  readonly busy: number;
  readonly first: number;
  readonly firstWidth: number;
  readonly last: number;
  readonly lastWidth: number;
}

export class RetireWidths {
  private readonly cycles: number[] = [];
  private last = 0;
  private width = 0;
  private busy = 0;

  constructor(private readonly window: CycleWindow) {}

  add(cycle: number): void {
    if (cycle !== this.last) this.close();
    this.last = cycle;
    if (this.width < MAX_WIDTH) this.width++;
  }

  /** Cycles by width, from 0. */
  report(): number[] {
    this.close();
    const widths = [...this.cycles];
    widths[0] = this.window.cycles - this.busy;
    return Array.from(widths, (cycles) => cycles ?? 0);
  }

  /** Adds the next segment. Its last cycle stays open: the one after may retire more in it. */
  addCounted({ cycles, busy, first, firstWidth, last, lastWidth }: WidthsCounts): void {
    if (busy === 0) return;
    const isShared = this.width > 0 && this.last === first;
    if (isShared) this.width = Math.min(MAX_WIDTH, this.width + firstWidth);
    else {
      this.close();
      this.width = firstWidth;
    }
    this.last = first;
    if (busy === 1) return;
    this.close();
    cycles.forEach((count, width) => {
      const open = (width === firstWidth ? 1 : 0) + (width === lastWidth ? 1 : 0);
      if (count > open) this.cycles[width] = (this.cycles[width] ?? 0) + count - open;
    });
    this.busy += busy - 2;
    this.width = lastWidth;
    this.last = last;
  }

  private close(): void {
    if (this.width === 0) return;
    this.cycles[this.width] = (this.cycles[this.width] ?? 0) + 1;
    this.width = 0;
    this.busy++;
  }
}
