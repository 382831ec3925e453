/** Completion of patterns: what `uscope find` takes. */
export { type Completion, type Completions, completionsOf, type SearchNames } from 'uscope/search';
