/** Questions that go beyond one state or one scan. */
export { type FieldInterval, type FieldOfSlot, fieldTimeline } from './field-timeline.js';
export {
  type Change,
  type FieldChange,
  type HistoryOptions,
  history,
  type PropertyChange,
  type SlotCleared,
  type Watch,
} from './history.js';
export { stateBefore } from './state-before.js';
export { historyOfValues, type WideChange } from './wide-changes.js';
