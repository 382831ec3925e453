/** What a trace file holds, without the times and ids of its session: equal for two files that were written in the same way. */
import { decodeFile } from './decode-file.js';

export function contentsOf(path: string) {
  const { preamble, segments, strings, summary } = decodeFile(path);
  return {
    schema: preamble.schema,
    segments: segments.map(({ header, checkpoint, frames }) => ({ header, checkpoint, frames })),
    strings,
    summary,
  };
}
