/** STF (Simulation Trace Format): a reader and a writer of instruction and transaction traces. */

export type { ByteSource } from '../../codecs/byte-source.js';
export { canCompressZstd } from '../../codecs/zstd.js';
export { MemoryOutput } from '../common/foreign-format.js';
export { containerOf, type StfContainer } from './container.js';
export { HeaderRules, StfCursor } from './cursor.js';
export { listRecord, pcOf } from './listing.js';
export { isMarker, StfFile, type StfReadOptions, StfStream } from './reader.js';
export { decodeRecord } from './records.js';
export {
  Channel,
  GENERATORS,
  StfFeature,
  StfIem,
  StfIsa,
  type StfMetadata,
  type StfRecord,
  type StfTransaction,
  StfType,
  type TileLinkMessage,
  TYPE_NAMES,
} from './types.js';
export { type StfOutput, StfWriter, type StfWriterOptions } from './writer.js';
