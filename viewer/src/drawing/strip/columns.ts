/** Which cycles a column of pixels shows: whole intervals, so that the sum over them is exact. */
import type { Sums } from '../../model/sums.js';

export class PixelColumns {
  count = 0;
  /** null: nothing is known there, or nothing is there. */
  readonly layers: (Sums | null)[] = [];
  /** Multiples of the layer's step, `to` exclusive. */
  readonly from: number[] = [];
  readonly to: number[] = [];
  /** Cycles of the trace among them. */
  readonly cycles: number[] = [];

  /**
   * @param start cycle at the left edge of the first column
   * @param scale device pixels per cycle
   * @param layers the best first
   */
  fill(
    count: number,
    start: number,
    scale: number,
    layers: readonly Sums[],
    { firstCycle, lastCycle }: { readonly firstCycle: number; readonly lastCycle: number },
  ): void {
    this.count = count;
    for (let x = 0; x < count; x++) {
      const a = start + x / scale;
      const b = start + (x + 1) / scale;
      this.layers[x] = null;
      this.from[x] = 0;
      this.to[x] = 0;
      this.cycles[x] = 0;
      if (b <= firstCycle || a >= lastCycle) continue;
      const layer = layerOf(layers, Math.max(a, firstCycle), Math.min(b, lastCycle));
      if (!layer) continue;
      const { step } = layer;
      const from = Math.floor(a / step) * step;
      const to = Math.max(from + step, Math.floor(b / step) * step);
      this.layers[x] = layer;
      this.from[x] = from;
      this.to[x] = to;
      this.cycles[x] = Math.min(to, lastCycle) - Math.max(from, firstCycle);
    }
  }

  /** Something is known somewhere. */
  get hasAny(): boolean {
    for (let x = 0; x < this.count; x++) if (this.layers[x]) return true;
    return false;
  }

  sum(x: number, column: number): number {
    return this.layers[x]?.sum(column, this.from[x]!, this.to[x]!) ?? 0;
  }

  /** By cycle. */
  rate(x: number, column: number): number {
    const cycles = this.cycles[x]!;
    return cycles > 0 ? this.sum(x, column) / cycles : 0;
  }
}

function layerOf(layers: readonly Sums[], from: number, to: number): Sums | null {
  for (const layer of layers) {
    if (layer.from <= from && layer.to >= to) return layer;
  }
  return null;
}
