/** Searching a trace. */
export {
  type Completion,
  type Completions,
  completionsOf,
  type SearchNames,
  searchNames,
} from './completion.js';
export type { FoundEvent } from './event-search.js';
export { type FindOptions, find } from './find.js';
export type { Found, FoundInstruction } from './instruction-search.js';
export {
  type EventTerm,
  type FieldCondition,
  type NumberTerm,
  type Pattern,
  type PatternOptions,
  parsePattern,
  QUALIFIERS,
  type Qualifier,
  type Term,
  type TextTerm,
} from './pattern.js';
export type { SearchIndex } from './search-call.js';
