/** `--exact`: questions about a whole trace read it, where they would take its index. */
import type { Command } from 'commander';
import type { Trace } from '../../reader/index.js';
import type { TraceIndex } from '../../trace-index/index.js';

/** Of fewer segments a scan takes less time than looking for an index. */
const FEW_SEGMENTS = 4;

export function addExactOption(command: Command): Command {
  return command.option('--exact', 'read the whole range even where the index has the answer');
}

/**
 * What the index answers, else what a scan finds.
 * @param fromIndex null: the index does not have the answer
 * @param scan gets whether the trace has an index, which `--exact` does not ask
 */
export async function fromIndexOrScan<T>(
  file: string,
  trace: Trace,
  isExact: boolean | undefined,
  fromIndex: (index: TraceIndex) => Promise<T | null>,
  scan: (hasIndex: boolean) => Promise<T>,
): Promise<T> {
  if (trace.segmentCount < FEW_SEGMENTS) return scan(false);
  const { openIndexOf } = await import('../../trace-index/node/index.js');
  const index = await openIndexOf(trace, file);
  if (!index) return scan(false);
  try {
    const answer = isExact ? null : await fromIndex(index);
    return answer ?? (await scan(true));
  } finally {
    await index.close();
  }
}
