/** Kanata logs as a library: reader and writer, independent of µScope. */

export { RetireType } from '../pipeline/retire-type.js';
export { checkHeader, parseLine } from './parse.js';
export { KanataReader } from './reader.js';
export { KanataClock, type KanataSummary, summarize } from './scan.js';
export { type KanataRecord, LabelKind, type PlacedRecord } from './types.js';
export { KanataWriter, lineOf } from './writer.js';
