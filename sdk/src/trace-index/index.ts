/** The index of a trace: what happened per 256 cycles, so that questions about long stretches read little. Runs in a browser. */
export {
  decodeIndexContainer,
  encodeIndexContainer,
  type IndexContainer,
  IndexPart,
  type IndexPartBytes,
} from '../format/index-container.js';
export {
  BUCKET_CYCLES,
  type Channel,
  ChannelKind,
  type ClockGroup,
  type Labels,
  type PlannedCore,
} from './channels.js';
export { type DroppedPart, decodeDropped } from './dropped.js';
export { type IndexPlan, indexPlan } from './plan.js';
export type { BufferContents } from './questions/buffer-at.js';
export { IndexMaker } from './questions/index-maker.js';
export { type IndexOptions, openIndex } from './questions/open-index.js';
export type { RowGroupsFound, RowRange } from './questions/row-groups.js';
export { searchIndex } from './questions/search-index.js';
export type { SegmentCandidate, TextQuery } from './questions/segments-with.js';
export type { ChannelSeries, Series, SeriesColumn, SeriesRange } from './questions/series.js';
export { type ChannelName, TraceIndex, type Wanted } from './questions/trace-index.js';
export { countersFromIndex } from './reports/counters.js';
export { occupancyFromIndex } from './reports/occupancy.js';
export { performanceFromIndex } from './reports/performance.js';
export { stageColumns } from './row-plan.js';
export type { RowLevel } from './rows/row-levels.js';
export type { RowsChunk } from './rows/row-table.js';
export {
  decodeRowsPart,
  type LateGroups,
  type RowGroups,
  type RowsPart,
} from './rows/rows-part.js';
export { decodeStatics, decodeStrings, type StaticSet } from './texts/static-set.js';
export {
  decodeOccupancyPart,
  decodeTimePart,
  type OccupancyHistogram,
  type OccupancyPart,
  type PartTimes,
  type TimePart,
} from './time-part.js';
