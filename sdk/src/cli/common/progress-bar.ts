/** A bar on stderr for work that takes a while: on a terminal only, and only where it does not mix with data on the same terminal. */
import { io } from './io.js';

/** Where a bar goes: stderr when it is a terminal. */
export interface BarOutput {
  readonly columns: number;
  write(text: string): void;
}

const FIRST_DRAW_MS = 400;
const REDRAW_MS = 100;
const MAX_WIDTH = 40;
const CLEAR_LINE = '\r\x1b[K';

export class ProgressBar {
  private readonly started: number;
  private nextDraw: number;
  private drawn = false;

  /** @param output null: nothing is shown */
  constructor(
    private readonly label: string,
    private readonly output: BarOutput | null,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.started = now();
    this.nextDraw = this.started + FIRST_DRAW_MS;
  }

  /** How much is done, 0 to 1. Cheap enough to be called per segment. */
  update(fraction: number): void {
    if (!this.output) return;
    const now = this.now();
    if (now < this.nextDraw) return;
    this.nextDraw = now + REDRAW_MS;
    this.output.write(`${CLEAR_LINE}${this.line(Math.min(1, Math.max(0, fraction)), now)}`);
    this.drawn = true;
  }

  /** Leaves the terminal as it was. The bar comes back with the next update. */
  clear(): void {
    if (this.drawn) this.output?.write(CLEAR_LINE);
    this.drawn = false;
  }

  private line(fraction: number, now: number): string {
    const elapsed = now - this.started;
    const left = fraction > 0.01 ? `  ${formatDuration((elapsed * (1 - fraction)) / fraction)} left` : '';
    const percent = `${Math.floor(fraction * 100)}%`.padStart(4);
    const room = (this.output?.columns ?? 0) - this.label.length - percent.length - left.length - 4;
    const width = Math.min(MAX_WIDTH, room);
    if (width < 8) return `${this.label}${percent}`;
    const full = Math.round(fraction * width);
    return `${this.label} [${'#'.repeat(full)}${'-'.repeat(width - full)}]${percent}${left}`;
  }
}

/**
 * Runs work that says how far it is. The bar goes away before anything else is printed, and at the end.
 * @param streams the work prints data while it runs: no bar where the data goes to the same terminal
 */
export async function withProgress<T>(
  label: string,
  work: (update: (fraction: number) => void) => Promise<T>,
  { streams = false } = {},
): Promise<T> {
  const bar = new ProgressBar(label, io.bar && !(streams && io.bar.sharesStdout) ? io.bar : null);
  io.bar?.onOutput(() => bar.clear());
  try {
    return await work((fraction) => bar.update(fraction));
  } finally {
    bar.clear();
    io.bar?.onOutput(null);
  }
}

/** Spans of real time for people: `0:07`, `12:30`, `1:02:03`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const part = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const end = part(seconds % 60);
  return hours > 0 ? `${hours}:${part(minutes)}:${end}` : `${minutes}:${end}`;
}
