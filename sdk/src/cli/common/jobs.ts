/** `--jobs`: questions over a whole trace are answered by several threads. */
import { availableParallelism } from 'node:os';
import type { Command } from 'commander';
import { UscopeError } from '../../base/errors.js';
import type { Trace } from '../../reader/index.js';
import type { StretchRunner } from '../../semantics/common/stretches.js';

const MAX_JOBS = 256;
/** Less is read before threads have started. */
const MIN_BYTES = 16 * 1024 * 1024;

export function addJobsOption(command: Command): Command {
  return command.option('--jobs <n>', 'threads that read a long trace (default: one for each processor)');
}

/** @throws UscopeError CLI_USAGE */
export function parseJobs(jobs: string | undefined): number {
  if (jobs === undefined) return Math.min(MAX_JOBS, availableParallelism());
  if (/^\d{1,3}$/.test(jobs) && Number(jobs) >= 1 && Number(jobs) <= MAX_JOBS) return Number(jobs);
  throw new UscopeError('CLI_USAGE', `--jobs "${jobs}" is not a number from 1 to ${MAX_JOBS}`);
}

/** Runs `ask` with threads over the trace at `file`; without, where the trace is short or there is to be one only. */
export async function withJobs<T>(
  file: string,
  trace: Trace,
  jobs: number,
  ask: (stretches: StretchRunner | undefined) => Promise<T>,
): Promise<T> {
  if (jobs < 2 || (await bytesOf(trace)) < MIN_BYTES) return ask(undefined);
  const { workersOf } = await import('../../workers/index.js');
  const workers = workersOf(file, { threads: jobs, onWarning: (warning) => trace.noteWarning(warning) });
  try {
    return await ask(workers);
  } finally {
    workers.close();
  }
}

/** About how much is to be read: from the first segment to the last. */
async function bytesOf(trace: Trace): Promise<number> {
  const { segmentCount } = trace;
  if (segmentCount === 0) return 0;
  const [first, last] = [await trace.segment(0), await trace.segment(segmentCount - 1)];
  return last.offset - first.offset;
}
