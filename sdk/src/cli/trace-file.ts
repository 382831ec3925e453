/** Opens the trace a verb is about, names it in errors, and tells what the reader found odd. */
import { isUscopeError } from '../base/errors.js';
import type { Trace } from '../reader/index.js';
import { openTraceFile } from '../reader/node.js';
import { io } from './io.js';

/** Runs `use` on the trace at `path` and closes it. Errors get the path, warnings go to stderr once. */
export async function withTrace<T>(path: string, use: (trace: Trace) => Promise<T>): Promise<T> {
  try {
    const trace = await openTraceFile(path, {
      onWarning: ({ message }) => io.err(`uscope: warning: ${message} (${path})`),
    });
    try {
      return await use(trace);
    } finally {
      await trace.close();
    }
  } catch (error) {
    throw isUscopeError(error) && error.code !== 'CLI_USAGE' ? error.at({ file: path }) : error;
  }
}
