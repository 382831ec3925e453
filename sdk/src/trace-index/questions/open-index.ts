/** Finds the index of a trace, wherever it is. */
import type { Trace } from '../../reader/index.js';
import { ContainersBehindCommits, isContainer } from '../containers/container-source.js';
import { SegmentParts } from '../containers/segment-parts.js';
import { Directory } from '../directory/directory.js';
import { DIRECTORY_SECTION } from '../directory/format.js';
import { indexPlan } from '../plan.js';
import { DirectoryLevels } from './directory-levels.js';
import { PyramidLevels } from './level-set.js';
import { TraceIndex } from './trace-index.js';

/**
 * The index of a trace, finalized or still being written; it follows `trace.poll()`. null: the trace has none, or none that this release can use
 * (a live trace gets one with its first segment).
 * @throws UscopeError READER_* when the trace cannot be read
 */
export async function openIndex(trace: Trace): Promise<TraceIndex | null> {
  const plan = indexPlan(trace.schema, trace.dut);
  if (plan.groups.length === 0 || trace.segmentCount === 0) return null;
  const section = trace.section(DIRECTORY_SECTION);
  const read = (offset: number, length: number) => trace.bytes(offset, length);
  const directory = section && (await Directory.open(trace, plan, read, section));
  if (directory) {
    const parts = new SegmentParts(trace, plan, directory);
    const startPs = Number(directory.head.startPs);
    return new TraceIndex(parts, new DirectoryLevels(parts, directory), 'trace', startPs);
  }
  const containers = new ContainersBehindCommits(trace, plan.crc);
  // A writer that makes an index makes it from the first segment on.
  if (!isContainer(await containers.read(0))) return null;
  const parts = new SegmentParts(trace, plan, containers);
  return new TraceIndex(parts, new PyramidLevels(parts), 'trace');
}
