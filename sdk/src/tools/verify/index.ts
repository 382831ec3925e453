/** Checks of whole files. */
export type { Finding, Severity } from './finding.js';
export { type VerifyOptions, type VerifyReport, verifyTrace } from './verify.js';
