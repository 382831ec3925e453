/** The runs of a directory, for people and for programs. */
import { onOneLine } from '../../base/printable.js';
import { formatBytes, formatCount, formatTime } from '../../base/units.js';
import { table } from '../common/chart.js';
import { io, paint } from '../common/io.js';
import type { ListedRun, ListedTrace } from './listing.js';

const HEAD = ['trace', 'core', 'state', 'simulated', 'cycle', 'segs', 'size', ''];
/** Columns of texts. */
const LEFT = [0, 2, 7];

export function printRuns(runs: readonly ListedRun[]): void {
  runs.forEach((run, index) => {
    if (index > 0) io.out('\n');
    io.out(`${paint('bold', titleOf(run))}\n`);
    const lines = table([HEAD, ...run.traces.map(row)], LEFT);
    io.out(lines.replace(/^/gm, '  ').replace(/ +$/gm, ''));
  });
}

function titleOf({ id, startTimeMs, traces }: ListedRun): string {
  const cores = new Set(traces.flatMap(({ core }) => (core === null ? [] : [core]))).size;
  const bytes = traces.reduce((sum, trace) => sum + trace.bytes, 0);
  return [
    id === null ? 'no run' : `run ${onOneLine(id)}`,
    ...(startTimeMs === null || id === null ? [] : [isoTime(startTimeMs)]),
    `${countOf(traces)}${cores > 1 ? ` of ${cores} cores` : ''}, ${formatBytes(bytes)}`,
  ].join('  ');
}

/** `5 traces and 1 merged`. */
function countOf(traces: readonly ListedTrace[]): string {
  const merged = traces.filter(({ mergeOf }) => mergeOf !== null).length;
  const recorded = traces.length - merged;
  const words = `${recorded} ${recorded === 1 ? 'trace' : 'traces'}`;
  return merged > 0 ? `${words} and ${merged} merged` : words;
}

function row(trace: ListedTrace): string[] {
  const { name, core, state, status, reason, totalTimePs, lastCycle, segments, bytes } = trace;
  return [
    onOneLine(name),
    core === null ? '-' : String(core),
    state === 'complete' ? (status ?? 'complete').replace('_', ' ') : state,
    totalTimePs === null ? '-' : formatTime(totalTimePs),
    lastCycle === null ? '-' : formatCount(lastCycle),
    segments === null ? '-' : formatCount(segments),
    formatBytes(bytes),
    reason === null ? '' : onOneLine(reason),
  ];
}

export function runsJson(directory: string, runs: readonly ListedRun[]) {
  return {
    directory,
    runs: runs.map(({ id, startTimeMs, traces }) => ({
      runId: id,
      startTime: startTimeMs === null ? null : isoTime(startTimeMs),
      cores: [...new Set(traces.flatMap(({ core }) => (core === null ? [] : [core])))],
      bytes: traces.reduce((sum, trace) => sum + trace.bytes, 0),
      traces: traces.map(({ runId: _, startTimeMs: __, ...trace }) => trace),
    })),
  };
}

/** Times from a file may be beyond what a Date holds. */
function isoTime(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString();
}
