/** What is said about traces when they are over, and the exit status that follows. */
import { relative } from 'node:path';
import { SessionStatus } from '../format/session-chunk.js';
import type { TraceStats } from '../writer/index.js';
import type { Failure } from './host-messages.js';
import { ringLines } from './ring-lines.js';
import { formatBytes, formatCount, formatTime } from './units.js';

/** A trace as its supervisor knows it. */
export interface TraceReport {
  readonly name: string;
  readonly path: string;
  /** Index of the core it is about; null: not one of several. */
  readonly core?: number | null | undefined;
  /** Of the first clock, in ps; 0: unknown. */
  readonly periodPs?: number | undefined;
  /** null: it was never finalized. */
  readonly stats: TraceStats | null;
  readonly failure: Failure | null;
  /** What the client refused, by error code. */
  readonly reasons: readonly (readonly [code: string, count: bigint])[];
  /** Its client is gone and everything it had completed was taken from its memory. */
  readonly isDrained?: boolean | undefined;
  /** Items left out because their scope was disabled. */
  readonly skipped?: bigint | undefined;
}

/** How `uscope run` ends when a trace is not whole. */
const EXIT_LOSS = 3;

export const STATUS_WORDS: Readonly<Record<SessionStatus, string>> = {
  [SessionStatus.OPEN]: 'unfinished',
  [SessionStatus.CLOSED]: 'closed',
  [SessionStatus.CLIENT_LOST]: 'client lost',
  [SessionStatus.RECOVERED]: 'recovered',
  [SessionStatus.RING]: 'ring',
};

/** Why the trace does not hold all that the simulator meant to record; empty when it does. */
export function lossesOf(report: TraceReport): string[] {
  const { stats, failure, reasons } = report;
  const losses: string[] = [];
  if (failure) losses.push(failure.message);
  if (!stats) return [...losses, 'the file is unfinished: nobody could finalize it'];
  if (stats.lost > 0n) losses.push(`${formatCount(stats.lost)} items are lost`);
  losses.push(...(stats.ring?.failures ?? []));
  if (stats.rejected > 0n) {
    const why = reasons.map(([code, count]) => `${code} ${formatCount(count)}`).join(', ');
    losses.push(`${formatCount(stats.rejected)} items were rejected${why ? ` (${why})` : ''}`);
  }
  if (endedUnclosed(report) && !report.isDrained) {
    losses.push(
      'its client ended without closing it, and its memory could not be read: what it had not sent is missing',
    );
  }
  return losses;
}

/** Whether the client was gone before it could close the trace. */
function endedUnclosed({ stats }: TraceReport): boolean {
  return stats?.status === SessionStatus.CLIENT_LOST || stats?.status === SessionStatus.RECOVERED;
}

/** What is worth a line and no loss. */
export function remarksOf(report: TraceReport): string[] {
  const { skipped = 0n, stats } = report;
  const ring = stats?.ring ? ringLines(stats.ring) : [];
  const asked =
    skipped > 0n
      ? [
          `${formatCount(skipped)} items were not recorded, as asked: tracing was paused or their scope disabled`,
        ]
      : [];
  if (!endedUnclosed(report) || !report.isDrained) return [...ring, ...asked];
  const which = stats?.ring ? 'taken' : 'in the file';
  return [
    ...ring,
    ...asked,
    `its client ended without closing it; every cycle that it had completed is ${which}`,
  ];
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
  const lines = [`${path}: ${numbers.join(', ')}`, ...lossesOf(report), ...remarksOf(report)];
  return lines.map((line) => `${name}: ${line}`);
}

/** The simulator's own status wins; a trace that is not whole, or `refused`, is told when there is nothing worse. */
export function exitStatus(simulator: number, reports: readonly TraceReport[], refused = 0): number {
  if (simulator !== 0) return simulator;
  const whole =
    refused === 0 && reports.length > 0 && reports.every((report) => lossesOf(report).length === 0);
  return whole ? 0 : EXIT_LOSS;
}

/** Relative to the working directory for what lies below it. */
export function shortPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}
