/** In how many cycles how many instructions retired. */
import type { CycleWindow } from './window.js';

/** Wider cycles count as this wide. */
const MAX_WIDTH = 256;

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

  private close(): void {
    if (this.width === 0) return;
    this.cycles[this.width] = (this.cycles[this.width] ?? 0) + 1;
    this.width = 0;
    this.busy++;
  }
}
