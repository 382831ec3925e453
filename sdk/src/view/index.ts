/** The viewer: its page, and the small server for it. */

export { openBrowser } from './browser.js';
export {
  serveDirectory,
  type ViewCommand,
  type ViewedDirectory,
} from './directory-server.js';
export { drawPicture, PICTURE_FORMS, type Picture } from './draw-picture.js';
export { type ExportedView, exportView } from './export.js';
export type { Opening, OpeningStatus } from './opening.js';
export { ServedProgram } from './program.js';
export { type OpenTrace, openServedTrace, type ServedTraceOptions } from './served-trace.js';
export {
  type ServedTrace,
  serveView,
  type TraceServerOptions,
  type ViewServer,
  type ViewServerOptions,
} from './server.js';
export { serveComparison, serveTogether } from './several-server.js';
export type { ShownTime, SqlAnswerer, ViewQuestion } from './sql-requests.js';
