/** The state before a time, from which a part of a trace continues. */
import type { Trace } from '../reader/index.js';
import { StorageState } from '../state/storage-state.js';
import { SnapshotFinder } from './snapshot-finder.js';

/** Where a trace begins in ps: its first segment's start; 0 without segments. */
export async function traceStart(trace: Trace): Promise<bigint> {
  return trace.segmentCount === 0 ? 0n : (await trace.segment(0)).timeStartPs;
}

/** The state before the first frame at or after `timePs`; of a trace that begins later, its first. The caller may change it. */
export async function stateJustBefore(trace: Trace, timePs: bigint): Promise<StorageState> {
  if (trace.segmentCount === 0) return new StorageState(trace.schema);
  if (timePs <= (await traceStart(trace))) return (await trace.stateBefore(0)).raw;
  return (await trace.stateAt(timePs - 1n)).raw;
}

/** For frames copied from `fromPs` on. null: checkpoints of other writers' files mean nothing beyond their frames. */
export async function snapshotFinder(trace: Trace, fromPs: bigint): Promise<SnapshotFinder | null> {
  if (trace.session === null) return null;
  return new SnapshotFinder(await stateJustBefore(trace, fromPs), fromPs);
}
