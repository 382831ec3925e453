/** Progress of the traces of a run, what is not on disk yet included: one line redrawn on a terminal, plain lines now and then elsewhere. */
import { printable } from '../../base/printable.js';
import { formatBytes, formatCount, formatRate, formatTime } from '../../base/units.js';
import type { TraceStats } from '../../writer/index.js';

/** Where progress goes: stderr, or what a test puts in its place. */
export interface ProgressOutput {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

interface Shown {
  readonly name: string;
  /** Of the first clock; 0: unknown. */
  readonly periodPs: number;
  stats: TraceStats | null;
  /** For the rate: what was shown last, and when. */
  lastItems: bigint;
  lastAt: number;
  rate: number;
  stalled: boolean;
}

const REDRAW_MS = 250;
const PLAIN_LINE_MS = 5000;
const CLEAR_LINE = '\r\x1b[K';
const DEFAULT_COLUMNS = 80;

export class Progress {
  private readonly traces = new Map<string, Shown>();
  private readonly terminal: boolean;
  private lastDrawn: number;
  private drawn = false;

  constructor(
    private readonly output: ProgressOutput,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.terminal = output.isTTY === true;
    this.lastDrawn = now();
  }

  opened(session: string, name: string, periodPs: number): void {
    const known = this.traces.get(session);
    const lastItems = known?.lastItems ?? 0n;
    this.traces.set(session, {
      name,
      periodPs,
      stats: null,
      lastItems,
      lastAt: this.now(),
      rate: 0,
      stalled: false,
    });
  }

  update(session: string, stats: TraceStats): void {
    const trace = this.traces.get(session);
    if (trace) trace.stats = stats;
    this.drawWhenDue();
  }

  stalled(session: string, stalled: boolean): void {
    const trace = this.traces.get(session);
    if (trace) trace.stalled = stalled;
  }

  ended(session: string): void {
    this.traces.delete(session);
  }

  /** A line for people, above the progress. */
  note(text: string): void {
    this.clear();
    this.output.write(`uscope: ${printable(text)}\n`);
  }

  /** Leaves the terminal as it was. */
  clear(): void {
    if (this.drawn) this.output.write(CLEAR_LINE);
    this.drawn = false;
  }

  private drawWhenDue(): void {
    const now = this.now();
    if (now - this.lastDrawn < (this.terminal ? REDRAW_MS : PLAIN_LINE_MS)) return;
    this.lastDrawn = now;
    const shown = [...this.traces.values()].filter(({ stats }) => stats);
    const parts = shown.map((trace) => describe(trace, now));
    if (parts.length === 0) return;
    if (parts.length > 1) parts.unshift(describeAll(shown));
    if (this.terminal) this.redraw(parts);
    else for (const part of parts) this.output.write(`uscope: ${printable(part)}\n`);
  }

  /** The cursor goes back to the start of the line, so that what the simulator prints next overwrites it. */
  private redraw(parts: string[]): void {
    // A terminal that does not know its size reports 0.
    const width = (this.output.columns || DEFAULT_COLUMNS) - 1;
    const line = printable(parts.join(' | '));
    this.output.write(`${CLEAR_LINE}${line.length > width ? `${line.slice(0, width - 1)}…` : line}\r`);
    this.drawn = true;
  }
}

/** After each of them: their rates are those of now. */
function describeAll(traces: readonly Shown[]): string {
  const rate = traces.reduce((sum, trace) => sum + trace.rate, 0);
  const bytes = traces.reduce((sum, { stats }) => sum + stats!.bytes, 0n);
  return `${traces.length} traces: ${formatRate(rate)} items/s, ${formatBytes(bytes)}`;
}

function describe(trace: Shown, now: number): string {
  const stats = trace.stats!;
  const seconds = (now - trace.lastAt) / 1000;
  if (seconds > 0) {
    trace.rate = Math.max(0, Number(stats.accepted.items - trace.lastItems)) / seconds;
    trace.lastItems = stats.accepted.items;
    trace.lastAt = now;
  }
  const { totalTimePs } = stats.accepted;
  const parts = [`${trace.name}: ${formatTime(totalTimePs)}`];
  if (trace.periodPs > 0) parts.push(`${formatCount(totalTimePs / BigInt(trace.periodPs))} cycles`);
  parts.push(
    `${formatRate(trace.rate)} items/s`,
    formatBytes(stats.bytes),
    `${formatCount(stats.segments)} segments`,
  );
  if (trace.stalled) parts.push('waiting for disk space');
  return parts.join(', ');
}
