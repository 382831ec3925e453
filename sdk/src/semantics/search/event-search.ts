/** Searches the events of a trace, segment by segment. */
import type { Trace } from '../../reader/index.js';
import type { CpuCore } from '../cpu/cores.js';
import { EventMatcher } from './event-matcher.js';
import type { EventTerm } from './pattern.js';
import type { SearchCall, SearchIndex, SearchRange } from './search-call.js';

/** An event that matches. */
export interface FoundEvent {
  readonly kind: 'event';
  readonly timePs: bigint;
  /** Scope path and name. */
  readonly event: string;
  /** Labels, strings, and numbers in decimal, by field. */
  readonly fields: Readonly<Record<string, string>>;
}

export class EventSearch {
  private readonly matcher: EventMatcher;

  /** @param scopes of the cores asked for; null: any. @throws UscopeError READER_NAME */
  constructor(
    private readonly trace: Trace,
    term: EventTerm,
    cores: readonly CpuCore[],
    scopes: readonly number[] | null,
  ) {
    this.matcher = new EventMatcher(trace, term, cores, scopes);
  }

  /** Segment by segment, in file order. */
  async *search(
    range: SearchRange,
    { signal, pause, progress, index }: SearchCall,
  ): AsyncGenerator<readonly FoundEvent[]> {
    const { trace } = this;
    if (trace.segmentCount === 0) return;
    const first = await trace.firstSegmentReaching(range.from);
    const last = range.to === null ? trace.segmentCount - 1 : await trace.segmentAt(range.to - 1n);
    for (let at = first; at <= last; at++) {
      signal?.throwIfAborted();
      const segment = index ? await this.nextWith(index, at) : at;
      if (segment === null || segment > last) return;
      at = segment;
      await pause?.();
      progress?.((segment - first) / (last - first + 1));
      yield await this.inSegment(segment, range);
    }
  }

  /** The first segment from one on that may hold one of the events; null: none does. */
  private async nextWith(index: SearchIndex, from: number): Promise<number | null> {
    let first: number | null = null;
    for (const eventType of this.matcher.eventTypes) {
      const found = await index.segmentWithEvent(eventType, from);
      if (found !== null && (first === null || found < first)) first = found;
    }
    return first;
  }

  private async inSegment(segment: number, { from, to }: SearchRange): Promise<FoundEvent[]> {
    const found: FoundEvent[] = [];
    const loaded = await this.trace.loadSegment(segment);
    await this.matcher.match(
      loaded,
      (cursor, { name, fields }) => {
        const { timePs } = cursor;
        if (timePs < from || (to !== null && timePs >= to)) return;
        const values = fields.map((field) => [field.name, field.shown(field.raw(cursor))] as const);
        found.push({ kind: 'event', timePs, event: name, fields: Object.fromEntries(values) });
      },
      true,
    );
    return found;
  }
}
