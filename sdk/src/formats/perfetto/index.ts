/** Perfetto traces as a library: a writer, independent of µScope. */
export { PerfettoWriter, type SliceDetails, type TrackSpec } from './writer.js';
