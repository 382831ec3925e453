/** Pictures that are drawn on the main thread take turns: a frame draws the number that fits, and the next one continues. So no task is long. */

/** For all of a frame, in ms. A picture that has begun is finished. */
const BUDGET_MS = 4;

const waiting = new Set<() => void>();
let isScheduled = false;

/** Draws it soon, once, however often it is wanted until then. */
export function drawSoon(draw: () => void): void {
  waiting.add(draw);
  schedule();
}

/** It is not drawn any more. */
export function drawNever(draw: () => void): void {
  waiting.delete(draw);
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(drawFrame);
}

function drawFrame(): void {
  isScheduled = false;
  const started = performance.now();
  for (const draw of waiting) {
    waiting.delete(draw);
    draw();
    if (performance.now() - started >= BUDGET_MS) break;
  }
  if (waiting.size > 0) schedule();
}
