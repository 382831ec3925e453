/** The numbers of a trace as `closed` says them. */
import type { TraceStats } from '../../writer/index.js';
import type { WireStats } from './protocol.js';

export function wireStats(stats: TraceStats): WireStats {
  const { path, status, frames, items, strings, segments, bytes, totalTimePs, rejected, lost } = stats;
  return {
    path,
    status,
    frames,
    items,
    strings,
    segments,
    bytes,
    total_time_ps: totalTimePs,
    rejected,
    lost,
  };
}
