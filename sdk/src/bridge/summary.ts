/** What is said about traces when they are over, and the exit status that follows. */
import { relative } from 'node:path';
import { SessionStatus } from '../format/session-chunk.js';
import type { TraceStats } from '../writer/index.js';
import type { Failure } from './host-messages.js';
import { formatBytes, formatCount, formatTime } from './units.js';

/** A trace as its supervisor knows it. */
export interface TraceReport {
  readonly name: string;
  readonly path: string;
  /** null: it was never finalized. */
  readonly stats: TraceStats | null;
  readonly failure: Failure | null;
  /** What the client refused, by error code. */
  readonly reasons: readonly (readonly [code: string, count: bigint])[];
}

/** How `uscope run` ends when a trace is not whole. */
export const EXIT_LOSS = 3;

const STATUS_WORDS: Readonly<Record<SessionStatus, string>> = {
  [SessionStatus.OPEN]: 'unfinished',
  [SessionStatus.CLOSED]: 'closed',
  [SessionStatus.CLIENT_LOST]: 'client lost',
  [SessionStatus.RECOVERED]: 'recovered',
  [SessionStatus.RING]: 'ring',
};

/** Why the trace does not hold all that the simulator meant to record; empty when it does. */
export function lossesOf({ stats, failure, reasons }: TraceReport): string[] {
  const losses: string[] = [];
  if (failure) losses.push(failure.message);
  if (!stats) return [...losses, 'the file is unfinished: nobody could finalize it'];
  if (stats.lost > 0n) losses.push(`${formatCount(stats.lost)} items are lost`);
  if (stats.rejected > 0n) {
    const why = reasons.map(([code, count]) => `${code} ${formatCount(count)}`).join(', ');
    losses.push(`${formatCount(stats.rejected)} items were rejected${why ? ` (${why})` : ''}`);
  }
  if (stats.status === SessionStatus.CLIENT_LOST || stats.status === SessionStatus.RECOVERED) {
    losses.push(
      'its client ended without closing it: a cycle that was not complete is missing, and what was not sent if it was not in shared memory',
    );
  }
  return losses;
}

/** One line of numbers, one for each loss. */
export function traceLines(report: TraceReport): string[] {
  const { name, stats } = report;
  const path = shortPath(report.path);
  if (!stats) return [`${name}: ${path}`, ...lossesOf(report).map((loss) => `${name}: ${loss}`)];
  const numbers = [
    STATUS_WORDS[stats.status],
    `${formatCount(stats.frames)} frames`,
    `${formatCount(stats.items)} items`,
    `${formatCount(stats.strings)} strings`,
    `${formatCount(stats.segments)} segments`,
    formatBytes(stats.bytes),
    `${formatTime(stats.totalTimePs)} simulated`,
    `${formatCount(stats.rejected)} rejected`,
    `${formatCount(stats.lost)} lost`,
  ];
  return [`${name}: ${path}: ${numbers.join(', ')}`, ...lossesOf(report).map((loss) => `${name}: ${loss}`)];
}

/** The simulator's own status wins; a trace that is not whole is told when there is nothing worse. */
export function exitStatus(simulator: number, reports: readonly TraceReport[]): number {
  if (simulator !== 0) return simulator;
  const whole = reports.length > 0 && reports.every((report) => lossesOf(report).length === 0);
  return whole ? 0 : EXIT_LOSS;
}

/** Relative to the working directory for what lies below it. */
function shortPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}
