/** FTR (Fast Transaction Recording): a reader and a writer of recorded transactions. */

export type { ByteSource } from '../../codecs/byte-source.js';
export { MemoryOutput } from '../common/foreign-format.js';
export { CborWriter } from './cbor.js';
export { dictionaryEntries, directoryEntries, relationEntries } from './content.js';
export { encodeChunk } from './encode.js';
export { type Declaration, FtrModel } from './model.js';
export type { ChunkHead } from './reader.js';
export { FtrFile, type FtrReadOptions, type RawChunk } from './reader.js';
export { TransactionCursor } from './transaction-cursor.js';
export {
  type FtrAttribute,
  type FtrChunk,
  FtrForm,
  FtrPhase,
  type FtrRawAttribute,
  type FtrRawRelation,
  type FtrRawTransaction,
  type FtrRelation,
  type FtrText,
  type FtrTransaction,
  FtrType,
  type FtrValue,
  MAGIC,
} from './types.js';
export { Dictionary } from './values.js';
export { type FtrOutput, FtrWriter, type FtrWriterOptions } from './writer.js';
