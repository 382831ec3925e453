/** Ctrl-C while an output is written: nothing of it is left behind, and the exit status says so. */
import { io } from './io.js';

class Interrupted extends Error {}
const INTERRUPTED = 130;

/** Runs `work` with a signal that Ctrl-C or SIGTERM raises; null when it was raised. */
export async function withInterrupt<T>(
  output: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const controller = new AbortController();
  const stop = (): void => controller.abort(new Interrupted());
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    return await work(controller.signal);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    io.err(`uscope: interrupted; ${output} was not written`);
    process.exitCode = INTERRUPTED;
    return null;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}
