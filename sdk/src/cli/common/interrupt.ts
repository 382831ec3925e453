/** Ctrl-C while an output is written: nothing of it is left behind, and the exit status says so. */
import { constants } from 'node:os';
import { io } from './io.js';

class Interrupted extends Error {
  constructor(readonly by: NodeJS.Signals) {
    super(`interrupted by ${by}`);
  }
}

/** What a shell reports of a process that a signal has ended. */
const exitStatus = (by: NodeJS.Signals): number => 128 + constants.signals[by];

/** Runs `work` with a signal that Ctrl-C or SIGTERM raises; null when it was raised. */
export async function withInterrupt<T>(
  output: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const controller = new AbortController();
  const stop = (by: NodeJS.Signals): void => controller.abort(new Interrupted(by));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    return await work(controller.signal);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    io.err(`uscope: interrupted; ${output} was not written`);
    process.exitCode = exitStatus(error.by);
    return null;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}
