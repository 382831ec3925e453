/** When events happen, segment by segment: to find a place within the 256 cycles of a bucket. */
import type { Trace } from '../../reader/index.js';
import type { Labels } from '../channels.js';
import { BoundedCache } from '../containers/bounded-cache.js';
import { lowerBound } from './birth-times.js';

const CACHE_BYTES = 8 * 1024 * 1024;

/** Events of one type. */
export interface WantedEvents {
  readonly eventType: number;
  /** Only those with one of the labels; null: all. */
  readonly label: { readonly labels: Labels; readonly index: number } | null;
}

/** In ps; the end is exclusive. */
export interface TimeSpan {
  readonly fromPs: bigint;
  readonly endPs: bigint;
}

export class EventTimes {
  /** Who steps from one event to the next stays in a segment for a while. */
  private readonly known = new BoundedCache<string, Float64Array>(
    CACHE_BYTES,
    ({ byteLength }) => byteLength + 128,
  );

  constructor(private readonly trace: Trace) {}

  /** The first or the last event of a span, in ps; null: there is none. @throws UscopeError FORMAT_* for damage */
  async find(
    wanted: WantedEvents,
    { fromPs, endPs }: TimeSpan,
    which: 'first' | 'last',
  ): Promise<number | null> {
    const { trace } = this;
    let found: number | null = null;
    for (let segment = await trace.firstSegmentReaching(fromPs); segment < trace.segmentCount; segment++) {
      if ((await trace.segment(segment)).timeStartPs >= endPs) break;
      const times = await this.ofSegment(segment, wanted);
      const [begin, end] = [lowerBound(times, Number(fromPs)), lowerBound(times, Number(endPs))];
      if (begin === end) continue;
      found = times[which === 'first' ? begin : end - 1]!;
      if (which === 'first') break;
    }
    return found;
  }

  /** All of a segment, rising. */
  private async ofSegment(segment: number, { eventType, label }: WantedEvents): Promise<Float64Array> {
    const key = `${segment}/${eventType}/${label?.index ?? ''}`;
    const known = this.known.get(key);
    if (known) return known;
    const isWanted = label && {
      offset: label.labels.offset,
      wanted: label.labels.indexOf.map((index) => (index === label.index ? 1 : 0)),
    };
    const { times } = await this.trace.watchSegment(segment, () => ({
      eventType,
      label: isWanted ?? undefined,
    }));
    this.known.set(key, times);
    return times;
  }
}
