/** Stretches looked at in this process, by another reader of the same bytes, with everything copied as between threads. */
import { memorySource, openTrace } from '../../sdk/src/reader/index.js';
import type { StretchRunner } from '../../sdk/src/semantics/common/stretches.js';
import { STRETCH_WORK } from '../../sdk/src/semantics/stretch-work.js';

export interface CountingRunner extends StretchRunner {
  /** What was done so far, by kind. */
  readonly done: string[];
}

/** @param borders as `StretchRunner.borders` */
export function localRunner(
  bytes: Uint8Array,
  borders: (first: number, last: number) => readonly number[],
): CountingRunner {
  const done: string[] = [];
  return {
    jobs: 3,
    done,
    borders,
    run: async (kind, work, { signal }) => {
      const trace = await openTrace(memorySource(bytes));
      const given = await STRETCH_WORK[kind]!(trace, structuredClone(work), { signal });
      done.push(kind);
      return structuredClone(given);
    },
  };
}

/** Those of the segments that a mask of bits names. */
export function maskedBorders(mask: number): (first: number, last: number) => number[] {
  return (first, last) =>
    Array.from({ length: last - first }, (_, i) => first + 1 + i).filter((_, i) => (mask >>> (i % 31)) & 1);
}
