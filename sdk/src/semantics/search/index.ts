/** Searching a trace. */
export type { FoundEvent } from './event-search.js';
export { type FindOptions, find } from './find.js';
export type { Found, FoundInstruction } from './instruction-search.js';
export { type FieldCondition, type Pattern, type PatternOptions, parsePattern } from './pattern.js';
