/** Indexes as files beside the traces that they belong to. */
export { makeSidecar, type SidecarOptions, type SidecarReport } from './make-sidecar.js';
