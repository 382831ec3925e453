/**
 * How long tests may take. Each has a minute (vitest.config.ts), so that what hangs is seen soon. A test that needs more says so with one of
 * these limits, which are generous: a machine with two cores that twenty others use must not come near them.
 */
import { afterAll, vi } from 'vitest';

/** Waits for compilers: Verilator, C, packages. */
export const BUILDS_MS = 900_000;
/** Starts daemons, simulators or browsers, and waits for what they do. */
export const PROCESSES_MS = 300_000;
/** Tries hundreds or thousands of cases. */
export const MANY_CASES_MS = 300_000;
/** Starts threads, which run from sources here and compile them first. */
export const THREADS_MS = 300_000;

/** The limit of all tests and hooks that a file defines after the call. The next file in the same process has the usual one. */
export function limitOfFile(ms: number): void {
  vi.setConfig({ testTimeout: ms, hookTimeout: ms });
  afterAll(() => vi.resetConfig());
}
