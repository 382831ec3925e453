/**
 * The library in Node: describe a trace (schema), write it, read it. Parts stand alone too: `uscope/format`, `uscope/schema`,
 * `uscope/writer`, `uscope/reader` (also in a browser), `uscope/reader/node`, `uscope/bridge`.
 */
export { ERROR_CODES, type ErrorCode } from './base/codes.js';
export { type ErrorPlace, isUscopeError, UscopeError } from './base/errors.js';
export { type FileHeader, Flag } from './format/header.js';
export { type SessionInfo, SessionStatus } from './format/session-chunk.js';
export type { CounterSummary, MipmapLevel, TraceSummary } from './format/tsum.js';
export * from './format/types.js';
export * from './reader/index.js';
export { fileSource, nodeCodec, openTraceFile } from './reader/node.js';
export * from './schema/index.js';
export { StorageState } from './state/index.js';
export * from './writer/index.js';
