/** STF (Simulation Trace Format): a reader and a writer of instruction and transaction traces. */

export type { ByteSource } from '../../codecs/byte-source.js';
export { canCompressZstd } from '../../codecs/zstd.js';
export { MemoryOutput } from '../common/memory-output.js';
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
