/** Finds the index of a trace, wherever it is. */
import type { Source, Trace } from '../../reader/index.js';
import { CheckedSource } from '../../reader/source.js';
import { ContainersInRecords, isContainer } from '../containers/container-source.js';
import { SegmentParts } from '../containers/segment-parts.js';
import { Directory } from '../directory/directory.js';
import { DIRECTORY_SECTION } from '../directory/format.js';
import { endsTooLate, type IndexPlan, indexPlan } from '../plan.js';
import { decodeSidecarHead, isSameTrace, SIDECAR_HEAD_SIZE, sidecarHeadOf } from '../sidecar/format.js';
import { DirectoryLevels } from './directory-levels.js';
import { PyramidLevels } from './level-set.js';
import { TraceIndex } from './trace-index.js';

export interface IndexOptions {
  /** The file beside the trace (`NAME.uscope.idx`); asked for where the trace has no index. null: there is none. */
  readonly sidecar?: (() => Promise<Source | null>) | undefined;
  /** Memory for the index of single segments between questions, bytes; by default 64 MiB. Levels made of a trace without directory come in addition. */
  readonly cacheBytes?: number | undefined;
}

/**
 * The index of a trace, finalized or still being written; it follows `trace.poll()`. null: the trace has none, or none that this release can use
 * (a live trace gets one with its first segment), or it ends after more than 2.5 hours, 2^53 ps, beyond which no index is exact.
 * @throws UscopeError READER_* when the trace cannot be read
 */
export async function openIndex(trace: Trace, options: IndexOptions = {}): Promise<TraceIndex | null> {
  const plan = indexPlan(trace.schema, trace.dut);
  if (plan.groups.length === 0 || trace.segmentCount === 0 || endsTooLate(trace)) return null;
  const { sidecar, cacheBytes } = options;
  const own = await ownIndex(trace, plan, cacheBytes);
  if (own) return own;
  const source = await sidecar?.();
  if (!source) return null;
  const beside = await sidecarIndex(trace, plan, source, cacheBytes);
  if (!beside) await source.close?.();
  return beside;
}

async function ownIndex(trace: Trace, plan: IndexPlan, cacheBytes?: number): Promise<TraceIndex | null> {
  const section = trace.section(DIRECTORY_SECTION);
  const read = (offset: number, length: number) => trace.bytes(offset, length);
  const directory = section && (await Directory.open(trace, plan, read, section));
  if (directory) {
    const parts = new SegmentParts(trace, plan, directory, cacheBytes);
    const startPs = Number(directory.head.startPs);
    return new TraceIndex(parts, new DirectoryLevels(parts, directory), 'trace', startPs, null, directory);
  }
  const containers = new ContainersInRecords(trace, plan.crc);
  // A writer that makes an index makes it from the first segment on.
  if (!isContainer(await containers.read(0))) return null;
  const parts = new SegmentParts(trace, plan, containers, cacheBytes);
  return new TraceIndex(parts, new PyramidLevels(parts), 'trace');
}

/** null, and a warning, where it is of another trace, not finished, or damaged. */
async function sidecarIndex(
  trace: Trace,
  plan: IndexPlan,
  source: Source,
  cacheBytes?: number,
): Promise<TraceIndex | null> {
  const file = new CheckedSource(source);
  const read = (offset: number, length: number) => file.upTo(offset, length);
  const name = source.name ?? 'the index beside the trace';
  const refuse = (detail: string): null => {
    trace.warn('index-foreign', `${name} is not used: ${detail}; "uscope index" makes a new one`);
    return null;
  };
  const head = decodeSidecarHead(await read(0, SIDECAR_HEAD_SIZE), trace.crc32);
  if (!head) return refuse('it is not an index');
  if (!isSameTrace(head, await sidecarHeadOf(trace, plan))) return refuse('it belongs to another trace');
  if (!head.directory) return refuse('it is not finished');
  const directory = await Directory.open(trace, plan, read, head.directory);
  if (!directory) return refuse('its directory is damaged');
  const parts = new SegmentParts(trace, plan, directory, cacheBytes);
  const startPs = Number(directory.head.startPs);
  return new TraceIndex(parts, new DirectoryLevels(parts, directory), 'sidecar', startPs, source, directory);
}
