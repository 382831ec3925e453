/** The viewer: its page, and the small server for it. */
export { commandFor, openBrowser } from './browser.js';
export { exportView } from './export.js';
export type { Opening, OpeningStatus } from './opening.js';
export { type OpenTrace, openServedTrace } from './served-trace.js';
export { type ServedTrace, serveView, type ViewServer, type ViewServerOptions } from './server.js';
