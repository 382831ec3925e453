/** A picture as an array of pixels. Boxes are filled by plain loops: measured faster than every drawing API without a GPU. */
import { pixelOf } from '../model/palette.js';

export class Raster {
  readonly image: ImageData;
  private readonly pixels: Uint32Array;
  private clipLeft = 0;
  private clipTop = 0;

  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    this.image = new ImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  /** As of `pixelOf`, row by row. */
  get values(): Uint32Array {
    return this.pixels;
  }

  /** Nothing is drawn left of and above these. */
  clip(left: number, top: number): void {
    this.clipLeft = left;
    this.clipTop = top;
  }

  clear(colour: string): void {
    this.pixels.fill(pixelOf(colour));
  }

  /** Device pixels; the right and lower edge exclusive. @param pixel of `pixelOf` */
  fill(x0: number, y0: number, x1: number, y1: number, pixel: number): void {
    const left = Math.max(x0, this.clipLeft);
    const right = Math.min(x1, this.width);
    const top = Math.max(y0, this.clipTop);
    const bottom = Math.min(y1, this.height);
    const { pixels, width } = this;
    const length = right - left;
    if (length <= 0) return;
    for (let y = top; y < bottom; y++) {
      const from = y * width + left;
      // `fill` has a price per call that short runs do not earn back.
      if (length > 24) pixels.fill(pixel, from, from + length);
      else for (let i = from, end = from + length; i < end; i++) pixels[i] = pixel;
    }
  }

  /**
   * Columns of one pixel with colours stacked from below: a row is the one above it, changed where a part begins, and copied as a whole. Filling
   * columns one after the other jumps through memory.
   * @param tops of each part, for each column: pixels below y0, never rising from one part to the next
   */
  stack(x0: number, y0: number, y1: number, tops: readonly Int32Array[], colours: readonly number[]): void {
    const width = Math.min(tops[0]?.length ?? 0, this.width - x0);
    const height = Math.min(y1, this.height) - y0;
    if (width <= 0 || height <= 0) return;
    /** By row: the first change in it, and by change the next one. Of two parts that begin in one row the lower one comes last. */
    const first = new Int32Array(height).fill(-1);
    const next = new Int32Array(width * tops.length);
    for (let part = 0; part < tops.length; part++) {
      const of = tops[part]!;
      for (let x = 0; x < width; x++) {
        const down = of[x]!;
        if (down >= height) continue;
        next[part * width + x] = first[down]!;
        first[down] = part * width + x;
      }
    }
    const start = y0 * this.width + x0;
    const row = this.pixels.slice(start, start + width);
    for (let down = 0; down < height; down++) {
      for (let at = first[down]!; at >= 0; at = next[at]!) row[at % width] = colours[Math.floor(at / width)]!;
      this.pixels.set(row, start + down * this.width);
    }
  }

  /** Mixes a colour into what is there. @param part 0 to 1 */
  tint(x0: number, y0: number, x1: number, y1: number, pixel: number, part: number): void {
    const left = Math.max(x0, this.clipLeft);
    const right = Math.min(x1, this.width);
    const bottom = Math.min(y1, this.height);
    for (let y = Math.max(y0, this.clipTop); y < bottom; y++) {
      for (let x = left; x < right; x++) {
        const index = y * this.width + x;
        this.pixels[index] = blend(this.pixels[index]!, pixel, part);
      }
    }
  }
}

/** Pixels as of `pixelOf`. */
export function blend(below: number, above: number, part: number): number {
  const channel = (shift: number): number => {
    const a = (below >>> shift) & 255;
    return Math.round(a + (((above >>> shift) & 255) - a) * part) << shift;
  };
  return ((255 << 24) | channel(16) | channel(8) | channel(0)) >>> 0;
}
