/** Strings of a trace by their references. */
import { appendAll } from '../../base/arrays.js';
import type { Trace } from '../../reader/index.js';

/** The reader keeps no more than some millions of characters. */
const BATCH = 4096;

/** In the order of the references. */
export async function textsOf(trace: Trace, references: readonly number[]): Promise<string[]> {
  const texts: string[] = [];
  for (let first = 0; first < references.length; first += BATCH) {
    const some = references.slice(first, first + BATCH);
    await trace.strings.load(some);
    appendAll(
      texts,
      some.map((reference) => trace.strings.peek(reference) ?? `#${reference}`),
    );
  }
  return texts;
}
