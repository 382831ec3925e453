/** The pipeline as text: rows of letters, as `uscope timeline` prints them. Runs in a browser. */
export { stageLetters } from './letters.js';
export { DEFAULT_TIMELINE_WIDTH, type PrintedRows, type PrintOptions, printTimeline } from './print.js';
export type { TimelineRange } from './selection.js';
