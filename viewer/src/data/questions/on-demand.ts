/** Questions that the first picture does not ask: a part of the data worker's script, fetched with the first of them. */
export { inFlight } from './in-flight.js';
export { inspect } from './inspect.js';
export { nearest } from './nearest.js';
export { relations } from './relations.js';
export { retired, rowOfRetired } from './retired.js';
export { searchNames } from './search-names.js';
export { series } from './series.js';
export { timelineText } from './timeline-text.js';
export { transactions } from './transactions.js';
export { window } from './window.js';
