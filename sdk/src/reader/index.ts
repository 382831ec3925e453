/** Reading traces, in Node and in a browser. Files in Node: `uscope/reader/node`. */
export { type Codec, DEFAULT_MAX_SEGMENT_BYTES } from './codec.js';
export { checkConditionValues } from './condition-values.js';
export { type FollowedSource, followedSource, GROWN_TYPE } from './followed-source.js';
export { type HttpOptions, httpSource, httpVersion } from './http.js';
export { isHttpUrl } from './http-url.js';
export type { Watched } from './kernel/watch.js';
export { NameIndex } from './names.js';
export type { OpenOptions } from './options.js';
export { interpret, isStringRef, payloadLayout, readRaw, TraceEvent } from './payload.js';
export { type FieldInterval, type FieldOfSlot, fieldTimeline } from './queries/field-timeline.js';
export {
  type Change,
  type FieldChange,
  type HistoryOptions,
  history,
  type PropertyChange,
  type SlotCleared,
  type Watch,
} from './queries/history.js';
export { stateBefore } from './queries/state-before.js';
export { historyOfValues, type WideChange } from './queries/wide-changes.js';
export type { ScanVisitor } from './scan.js';
export type { SegmentEntry } from './segment-list.js';
export type { LoadedSegment } from './segment-loader.js';
export type { Found } from './segment-watch.js';
export { blobSource, memorySource, type Source } from './source.js';
export type { TraceStrings } from './strings.js';
export type { Density, SummaryLevel } from './summary.js';
export { openTrace, type PollResult, type Trace } from './trace.js';
export { type StorageView, TraceState } from './trace-state.js';
export type { TimedItem, TimePs, TimeRange } from './walker.js';
export type { TraceWarning, WarningKind } from './warnings.js';
