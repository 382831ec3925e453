/** flux: a reader and a writer of the trace format of toem, version 6 (4 and 5 are read). */

export type { ByteSource } from '../../codecs/byte-source.js';
export { decompressFastLz } from '../../codecs/fastlz.js';
export type { BlockCompression } from './blocks.js';
export { FluxCursor } from './cursor.js';
export { decodeEntry } from './entries.js';
export { FluxGroup, FluxTrace } from './groups.js';
export { listEntry } from './listing.js';
export type { FluxOutput, RingShape } from './outputs.js';
export { FluxFile, type FluxReadOptions, FluxStream } from './reader.js';
export {
  BlockMode,
  Enumeration,
  type FluxEntry,
  type FluxMember,
  type FluxSample,
  FluxTag,
  FluxType,
  HeadMode,
  MemberType,
} from './types.js';
export {
  decodeValue,
  encodeValue,
  type FluxList,
  type FluxLogic,
  type FluxValue,
  Format,
  logic,
  memberBytes,
  membersOf,
  memberValue,
} from './values.js';
export { type FluxHead, FluxTraceWriter, FluxWriter, type FluxWriterOptions } from './writer.js';
