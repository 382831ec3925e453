/** A picture of pixels as rectangles: neighbours of one colour are one rectangle, so that boxes remain boxes. */

interface Run {
  readonly x0: number;
  readonly x1: number;
  readonly y0: number;
  readonly pixel: number;
}

/**
 * One path for each colour; together they cover the picture.
 * @param pixels as of `pixelOf`, row by row
 */
export function boxesOf(pixels: Uint32Array, width: number, height: number): string {
  const ground = commonest(pixels);
  const paths = new Map<number, string[]>();
  const close = ({ x0, x1, y0, pixel }: Run, y1: number): void => {
    const path = paths.get(pixel) ?? [];
    paths.set(pixel, path);
    path.push(`M${x0} ${y0}h${x1 - x0}v${y1 - y0}h${x0 - x1}z`);
  };
  let open: Run[] = [];
  for (let y = 0; y < height; y++) open = nextLine(open, runsOf(pixels, width, y, ground), y, close);
  for (const run of open) close(run, height);
  const all = [...paths].map(([pixel, path]) => `<path fill="${colourOf(pixel)}" d="${path.join('')}"/>`);
  const under = `<rect width="${width}" height="${height}" fill="${colourOf(ground)}"/>`;
  return `<g shape-rendering="crispEdges">${under}${all.join('')}</g>`;
}

/** Both are in the order of x. @returns what continues below */
function nextLine(
  open: readonly Run[],
  runs: readonly Run[],
  y: number,
  close: (run: Run, y1: number) => void,
): Run[] {
  const next: Run[] = [];
  let at = 0;
  for (const run of runs) {
    while (at < open.length && open[at]!.x0 < run.x0) close(open[at++]!, y);
    const above = open[at];
    const goesOn =
      above !== undefined && above.x0 === run.x0 && above.x1 === run.x1 && above.pixel === run.pixel;
    if (goesOn) at++;
    next.push(goesOn ? above : run);
  }
  while (at < open.length) close(open[at++]!, y);
  return next;
}

function runsOf(pixels: Uint32Array, width: number, y: number, ground: number): Run[] {
  const runs: Run[] = [];
  const start = y * width;
  for (let x = 0; x < width; ) {
    const pixel = pixels[start + x]!;
    let end = x + 1;
    while (end < width && pixels[start + end] === pixel) end++;
    if (pixel !== ground) runs.push({ x0: x, x1: end, y0: y, pixel });
    x = end;
  }
  return runs;
}

function commonest(pixels: Uint32Array): number {
  const counts = new Map<number, number>();
  // A part of them is enough to find what fills the picture.
  const step = Math.max(1, Math.floor(pixels.length / 20_000));
  for (let at = 0; at < pixels.length; at += step)
    counts.set(pixels[at]!, (counts.get(pixels[at]!) ?? 0) + 1);
  let [found, most] = [pixels[0] ?? 0, 0];
  for (const [pixel, count] of counts) if (count > most) [found, most] = [pixel, count];
  return found;
}

/** `#rrggbb` of a pixel. */
export function colourOf(pixel: number): string {
  const [r, g, b] = [pixel & 255, (pixel >>> 8) & 255, (pixel >>> 16) & 255];
  return `#${((1 << 24) | (r << 16) | (g << 8) | b).toString(16).slice(1)}`;
}
