/** What answers questions that few pictures ask: the viewer's page fetches it with the first of them. */
export { columnFinder } from './find.js';
export { RetiredRows } from './retired-rows.js';
export { segmentsWith } from './segments-with.js';
