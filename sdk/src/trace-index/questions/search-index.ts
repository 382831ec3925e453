/** The index as a search uses it: which segments need not be read. */
import type { SearchIndex } from '../../semantics/search/search-call.js';
import { BUCKET_CYCLES, type Channel, ChannelKind } from '../channels.js';
import type { TraceIndex } from './trace-index.js';

/** For the option `index` of `find`. */
export function searchIndex(index: TraceIndex): SearchIndex {
  const { trace, plan } = index;
  const channelOf = (eventType: number): Channel | undefined =>
    index.channels.find(({ kind, subject }) => {
      if (kind === ChannelKind.EVENTS) return subject === eventType;
      const role = kind === ChannelKind.FLUSHES ? 'flush' : kind === ChannelKind.STALLS ? 'stall' : null;
      return role !== null && plan.cores[subject]?.core.events.get(role)?.def.eventTypeId === eventType;
    });
  return {
    segmentWithEvent: async (eventType, segment) => {
      if (segment >= trace.segmentCount) return null;
      const channel = channelOf(eventType);
      if (!channel) return segment;
      const bucketPs = index.groupOf(channel).periodPs * BUCKET_CYCLES;
      const start = Number((await trace.segment(segment)).timeStartPs);
      // Those of the kinds FLUSHES and STALLS count all labels in their first column.
      const columns = channel.kind === ChannelKind.EVENTS ? channel.columns : 1;
      const bucket = await index.finder(channel, 0, columns).next(Math.floor(start / bucketPs));
      if (bucket === null) return null;
      // A bucket may begin in the segment before, and hold something of it.
      const reaching = await trace.firstSegmentReaching(BigInt(Math.floor(bucket * bucketPs)));
      return Math.max(segment, reaching);
    },
  };
}
