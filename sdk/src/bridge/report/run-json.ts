/** The summary of a run for programs: one JSON document, 64-bit integers as decimal strings. */
import type { Account } from '../../writer/index.js';
import { writeFileAtomically } from '../../writer/output/atomic-file.js';
import type { RunIdentity } from '../daemon/run-identity.js';
import { cyclesOf, inOrder, quotient, runTotals } from './run-table.js';
import { lossesOf, remarksOf, STATUS_WORDS, type TraceReport } from './summary.js';

export interface RunSummary {
  readonly run: RunIdentity;
  /** From the run's start to the end of its last trace. */
  readonly durationMs: number;
  /** Of those, with any trace open. */
  readonly tracedMs: number;
  readonly command: readonly string[];
  /** Of the simulator. */
  readonly simulatorStatus: number;
  /** Of `uscope run`. */
  readonly exitStatus: number;
  readonly reports: readonly TraceReport[];
  /** Traces that could not be opened, and why. */
  readonly refused: ReadonlyMap<string, string>;
}

/**
 * Where the summary goes: `-` is stdout, after everything the simulator printed. That of an earlier run is replaced: a run of hours does not
 * fail in the end because of it.
 * @throws UscopeError WRITER_*
 */
export async function writeRunJson(target: string, summary: RunSummary): Promise<void> {
  const text = `${JSON.stringify(runJson(summary), bigintAsString, 2)}\n`;
  await writeFileAtomically(target === '-' ? '/dev/stdout' : target, text, { inputs: [], force: true });
}

export function runJson(summary: RunSummary) {
  const { run, reports, refused, tracedMs } = summary;
  return {
    runId: Buffer.from(run.id).toString('hex'),
    startTime: new Date(run.startTimeMs).toISOString(),
    durationMs: Math.round(summary.durationMs),
    tracedMs: Math.round(tracedMs),
    command: summary.command,
    simulatorStatus: summary.simulatorStatus,
    exitStatus: summary.exitStatus,
    traces: inOrder(reports).map(traceJson),
    totals: runTotals(reports, tracedMs),
    refused: [...refused].map(([name, reason]) => ({ name, reason })),
  };
}

function traceJson(report: TraceReport) {
  const { name, path, core = null, periodPs = 0, stats, account, failure, reasons } = report;
  const cycles = cyclesOf(report);
  return {
    name,
    path,
    core,
    status: stats ? STATUS_WORDS[stats.status].replace(' ', '_') : 'unfinished',
    clockPeriodPs: periodPs > 0 ? periodPs : null,
    cycles,
    totalTimePs: stats?.totalTimePs ?? null,
    frames: account?.committed ?? null,
    ...accountJson(account),
    items: stats?.items ?? null,
    itemsPerCycle: stats ? quotient(stats.items, cycles) : null,
    strings: stats?.strings ?? null,
    segments: stats?.segments ?? null,
    bytes: stats?.bytes ?? null,
    bytesPerItem: stats ? quotient(stats.bytes, stats.items) : null,
    lostItems: stats?.lost ?? null,
    rejected: stats?.rejected ?? null,
    skipped: report.skipped ?? 0n,
    keptMemory: account?.recoverable ? (report.keptMemory ?? null) : null,
    ring: stats?.ring ?? null,
    reasons: Object.fromEntries(reasons),
    failure,
    losses: lossesOf(report),
    remarks: remarksOf(report),
  };
}

/** The numbers of a trace's frames, each as writer/account.ts defines it. */
function accountJson(account: Account | null) {
  return {
    completed: account?.completed ?? null,
    atLeast: account?.atLeast ?? 0n,
    accepted: account?.accepted ?? null,
    committed: account?.committed ?? null,
    salvaged: account?.salvaged ?? null,
    expired: account?.expired ?? null,
    lost: account?.lost ?? null,
    recoverable: account?.recoverable ?? null,
  };
}

function bigintAsString(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
