/** Finalized files from damaged ones. */
export { type RecordMemory, type RecoverOptions, recoverTrace } from './recover.js';
export { type Losses, type LostTime, PREAMBLE_UNTRUSTED, type RecoverReport } from './report.js';
