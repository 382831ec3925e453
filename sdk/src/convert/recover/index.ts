/** Finalized files from damaged ones. */
export { type RecordMemory, type RecoverOptions, recoverTrace } from './recover.js';
export type { Losses, LostTime, RecoverReport } from './report.js';
