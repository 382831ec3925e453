/** All strings of a client from the first one on: those of segments let go, then those of the segments given. */
import type { SpoolFiles } from './spool-files.js';
import type { SpoolEntry } from './spooled-segment.js';
import type { StringFile } from './string-file.js';

/** @param gone may grow meanwhile, and hold strings of the segments given already */
export async function* stringsOf(
  files: SpoolFiles,
  gone: StringFile | null,
  segments: readonly SpoolEntry[],
): AsyncGenerator<Uint8Array> {
  const [first] = segments;
  const end = first ? Number(first.nextString) - first.numStrings : 0;
  let index = 0;
  if (end > 0 && gone) {
    for await (const text of gone.all()) {
      yield text;
      if (++index === end) break;
    }
  }
  for (const { ordinal, numStrings } of segments) {
    if (numStrings > 0) yield* (await files.readSegment(ordinal)).record.strings;
  }
}
