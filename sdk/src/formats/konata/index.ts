/** Kanata logs as a library: reader and writer, independent of µScope. */

export { type KanataRecord, type KanataVisitor, LabelKind } from './line.js';
export {
  KanataClock,
  KanataReader,
  type KanataSummary,
  type PlacedRecord,
  RetireType,
  summarize,
} from './reader.js';
export { KanataWriter, lineOf } from './writer.js';
