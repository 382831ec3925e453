export { Redaction } from './redaction.js';
export { type RedactionRules, readRules } from './rules.js';
