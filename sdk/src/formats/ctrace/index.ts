/** .ctrace, the binary traces of the Chronon simulation framework: a reader, a writer, and the text that its trace_reader prints. */

export type { ByteSource } from '../../codecs/byte-source.js';
export { ByteText } from '../text/byte-text.js';
export { decodeArgs, EventCursor } from './cursor.js';
export { type DumpResult, type DumpSelection, dumpText } from './dump.js';
export { LineFormatter } from './formatter.js';
export { type InfoTextOptions, infoText } from './info-text.js';
export { CtraceFile, type CtraceReadOptions, CtraceStream } from './reader.js';
export { decodeText, encodeText } from './text.js';
export {
  ArgType,
  type CtraceBlock,
  type CtraceCategory,
  type CtraceEvent,
  CtraceFlag,
  type CtraceFooter,
  type CtraceFormat,
  type CtraceHeader,
  type CtraceSchema,
  type CtraceUnit,
  type CtraceValue,
  EMPTY_SCHEMA,
  LOG_LEVELS,
} from './types.js';
export { type CtraceOutput, CtraceWriter, type CtraceWriterOptions } from './writer.js';
