/**
 * What some tests need and a machine may lack. A test that cannot run is skipped with the reason, and `npm test` lists the reasons
 * (scripts/skipped.mjs):
 *
 *     describe.skipIf(lacks('Verilator', hasVerilator))('SystemVerilog through DPI', () => { ... });
 */
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { expect } from 'vitest';

/** File to which each missing thing adds a line of JSON: {"file", "what"}. Unset: nobody asks. */
const LIST = process.env.USCOPE_SKIPPED;

/**
 * True when the tests must be skipped. Call it while tests are collected.
 * @param what that is needed, for people: `Chromium`, `traces of other writers (shared/samples)`
 */
export function lacks(what: string, isThere: unknown): boolean {
  if (isThere) return false;
  const file = relative(process.cwd(), expect.getState().testPath ?? '');
  if (LIST) appendFileSync(LIST, `${JSON.stringify({ file, what })}\n`);
  return true;
}
