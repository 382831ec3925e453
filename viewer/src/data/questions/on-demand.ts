/** Questions that the first picture does not ask: a part of the data worker's script, fetched with the first of them. */
export { inFlight } from './in-flight.js';
export { inspect } from './inspect.js';
export { nearest } from './nearest.js';
export { relations } from './relations.js';
export { retired, rowOfRetired } from './retired.js';
export { timelineText } from './timeline-text.js';
export { window } from './window.js';
