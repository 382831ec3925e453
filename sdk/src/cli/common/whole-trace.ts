/** `--exact`: questions about a whole trace read it, where they would take its index. */
import type { Command } from 'commander';
import type { Trace } from '../../reader/index.js';
import type { TraceIndex } from '../../trace-index/index.js';

/** Of fewer segments a scan takes less time than looking for an index. */
const FEW_SEGMENTS = 4;

export function addExactOption(command: Command): Command {
  return command.option('--exact', 'reads the whole range, also where the index of the trace has the answer');
}

/** What the index answers, else what a scan finds. @param fromIndex null: the index does not have the answer */
export async function fromIndexOrScan<T>(
  file: string,
  trace: Trace,
  isExact: boolean | undefined,
  fromIndex: (index: TraceIndex) => Promise<T | null>,
  scan: () => Promise<T>,
): Promise<T> {
  if (isExact || trace.segmentCount < FEW_SEGMENTS) return scan();
  const { openIndexOf } = await import('../../trace-index/node/index.js');
  const index = await openIndexOf(trace, file);
  if (!index) return scan();
  try {
    return (await fromIndex(index)) ?? (await scan());
  } finally {
    await index.close();
  }
}
