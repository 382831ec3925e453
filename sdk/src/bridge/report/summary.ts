/** What is said about traces when they are over, and the exit status that follows. */

import { relative } from 'node:path';
import { appendAll } from '../../base/arrays.js';
import { formatBytes, formatCount, formatTime } from '../../base/units.js';
import { SessionStatus } from '../../format/session-chunk.js';
import type { Account, TraceStats } from '../../writer/index.js';
import type { RingReport } from '../../writer/ring/index.js';
import type { Failure } from './host-messages.js';

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
  /** null: nothing is known. */
  readonly account: Account | null;
  /** The memory of its client, where that still holds what is not in the file. */
  readonly keptMemory?: string | null | undefined;
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
  if (!stats) return [...losses, 'the file is unfinished: it could not be finalized'];
  appendAll(losses, lostCycles(report));
  appendAll(losses, stats.ring?.failures ?? []);
  if (stats.rejected > 0n) {
    const why = reasons.map(([code, count]) => `${code} ${formatCount(count)}`).join(', ');
    losses.push(`${formatCount(stats.rejected)} items were rejected${why ? ` (${why})` : ''}`);
  }
  return losses;
}

/** Frames are what people know as cycles. */
function lostCycles(report: TraceReport): string[] {
  const { stats, account } = report;
  if (!account || account.lost === null) return [unknownCycles(report)];
  const { lost, completed } = account;
  if (lost > 0n) {
    return [
      `${formatCount(lost)} of the ${formatCount(completed!)} cycles that its client completed are not in the file`,
    ];
  }
  return stats && stats.lost > 0n ? [`${formatCount(stats.lost)} items are lost`] : [];
}

function unknownCycles(report: TraceReport): string {
  const { account } = report;
  const why = endedUnclosed(report) ? 'its client ended without closing it; ' : '';
  const bound = account ? `: at least ${formatCount(account.atLeast)}` : '';
  const missing = account ? account.atLeast - account.committed - account.expired : 0n;
  const lost = missing > 0n ? `, of which ${formatCount(missing)} are not in the file` : '';
  return `${why}how many cycles it completed is not known${bound}${lost}`;
}

/** How what is not in the file can still be put into one. */
function salvation({ path, account, keptMemory }: TraceReport): string[] {
  if (!account || account.recoverable === 0n || !keptMemory) return [];
  const shown = shortPath(path);
  const output = shown.replace(/(\.uscope)?$/, '.recovered.uscope');
  return [
    `${formatCount(account.recoverable)} cycles are kept in ${keptMemory}: when the client has ended, the next daemon with this directory takes them, or "uscope recover ${shown} -o ${output}"`,
  ];
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
  const kept = salvation(report);
  if (!endedUnclosed(report) || report.account?.lost !== 0n) return [...ring, ...asked, ...kept];
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
    `${formatCount(report.account?.committed ?? stats.frames)} frames`,
    `${formatCount(stats.items)} items`,
    `${formatCount(stats.strings)} strings`,
    `${formatCount(stats.segments)} segments`,
    formatBytes(stats.bytes),
    `${formatTime(stats.totalTimePs)} simulated`,
    `${formatCount(stats.rejected)} rejected`,
    lostText(report.account),
  ];
  const lines = [`${path}: ${numbers.join(', ')}`, ...lossesOf(report), ...remarksOf(report)];
  return lines.map((line) => `${name}: ${line}`);
}

function lostText(account: Account | null): string {
  const { lost = null } = account ?? {};
  return lost === null ? 'lost: not known' : `${formatCount(lost)} lost`;
}

/** The simulator's own status wins; an incomplete trace, or `refused`, counts when there is nothing worse. */
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

/** The flight recorder when its trace is over. */
function ringLines(ring: RingReport): string[] {
  const { expiredSegments, expiredFrames, firstTimePs, peakBytes, files, triggersWithoutFile } = ring;
  const gone = `${formatCount(expiredFrames)} frames in ${formatCount(expiredSegments)} segments let go before`;
  const lines = [
    expiredSegments > 0
      ? `flight recorder: kept from ${formatTime(firstTimePs)} on, ${gone}; at most ${formatBytes(peakBytes)} on disk`
      : `flight recorder: kept everything; at most ${formatBytes(peakBytes)} on disk`,
  ];
  for (const { path, label, timePs, bytes } of files) {
    lines.push(`trigger at ${formatTime(timePs)} (${label}): ${shortPath(path)}, ${formatBytes(bytes)}`);
  }
  if (triggersWithoutFile > 0) {
    lines.push(`${formatCount(triggersWithoutFile)} more triggers made no file (--trigger-files)`);
  }
  return lines;
}
