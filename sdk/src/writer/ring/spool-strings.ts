/** The strings of a client from the first one on, with their indices: those kept of segments let go, then those of the segments given. */
import type { SpoolFiles } from './spool-files.js';
import type { SpoolEntry } from './spooled-segment.js';
import type { IndexedText } from './string-file.js';

/** @param gone may grow meanwhile, and hold strings of the segments given already */
export async function* stringsOf(
  files: SpoolFiles,
  gone: { all(): AsyncIterable<IndexedText> } | null,
  segments: readonly SpoolEntry[],
): AsyncGenerator<IndexedText> {
  const [first] = segments;
  const end = first ? Number(first.nextString) - first.numStrings : 0;
  if (end > 0 && gone) {
    for await (const one of gone.all()) {
      if (one.index >= end) break;
      yield one;
    }
  }
  for (const { ordinal, numStrings, nextString } of segments) {
    if (numStrings === 0) continue;
    const { strings } = (await files.readSegment(ordinal)).record;
    const start = Number(nextString) - numStrings;
    for (const [i, text] of strings.entries()) yield { index: start + i, text };
  }
}
