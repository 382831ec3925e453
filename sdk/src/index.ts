/**
 * The library in Node: describe a trace (schema), write it, read it. Parts be used alone too: `uscope/format`, `uscope/schema`,
 * `uscope/protocols`, `uscope/writer`, `uscope/reader`, `uscope/cpu`, `uscope/noc` and `uscope/timeline` (these four also in a browser), `uscope/reader/node`,
 * `uscope/bridge`.
 */
export { ERROR_CODES, type ErrorCode } from './base/codes.js';
export { type ErrorPlace, isUscopeError, UscopeError } from './base/errors.js';
export { type FileHeader, Flag } from './format/header.js';
export { type SessionInfo, SessionStatus } from './format/session-chunk.js';
export type { CounterSummary, MipmapLevel, TraceSummary } from './format/tsum.js';
export * from './format/types.js';
export * from './reader/index.js';
export { fileSource, nodeCodec, openSource, openTraceFile } from './reader/node.js';
export * from './schema/index.js';
/** What traces of networks mean: transactions with their stages, beats, retries and handoffs. */
export * as noc from './semantics/noc/index.js';
/** What traces of processor cores mean: instructions with their stages, stalls, counters. */
export * as cpu from './semantics/public-cpu.js';
export { StorageState } from './state/storage-state.js';
export {
  type Losses,
  type RecordMemory,
  type RecoverOptions,
  type RecoverReport,
  recoverTrace,
} from './tools/recover/index.js';
export { type Finding, type VerifyOptions, type VerifyReport, verifyTrace } from './tools/verify/index.js';
export { createSegmentIndexer } from './trace-index/recording/segment-indexer.js';
export * from './writer/index.js';
