/** STF (Simulation Trace Format): a reader and a writer of instruction and transaction traces. */

export { MemoryOutput } from '../formats/memory-output.js';
export type { ByteSource } from '../stream/byte-source.js';
export { containerOf, type StfContainer } from './container.js';
export { StfCursor } from './cursor.js';
export { decodeRecord } from './decode.js';
export { HeaderRules } from './header-rules.js';
export { listRecord, pcOf } from './listing.js';
export { isMarker, StfFile, type StfReadOptions, StfStream } from './reader.js';
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
export { canCompressZstd } from './zstd.js';
