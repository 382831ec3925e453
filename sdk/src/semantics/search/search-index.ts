/** What a search asks of an index, so that it reads only segments in which something may be found. */
export interface SearchIndex {
  /** The first segment from `segment` on that may hold an event of a type; null: none does. */
  segmentWithEvent(eventType: number, segment: number): Promise<number | null>;
}
