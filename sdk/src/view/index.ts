/** The viewer: its page, and the small server for it. */

export { CANVAS_PACKAGE } from '../base/canvas-package.js';
export { openBrowser } from './browser.js';
export { type CanvasPictureRequest, drawPicture } from './canvas/draw-picture.js';
export { findChromium } from './chromium/find.js';
export { type PictureRequest, takePicture } from './chromium/take-picture.js';
export {
  serveDirectory,
  type ViewCommand,
  type ViewedDirectory,
} from './directory-server.js';
export { type ExportedView, exportView } from './export.js';
export type { Opening, OpeningStatus } from './opening.js';
export { choosePainter, PAINTERS, type Painter } from './painter.js';
export { PICTURE_FORMS } from './picture-forms.js';
export type { Picture } from './pictures/picture.js';
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
