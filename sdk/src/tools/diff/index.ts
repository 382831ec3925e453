export { diffRetired, type RetiredCore, type RetiredOptions } from './by-retired.js';
export {
  DEFAULT_CONTEXT,
  type DiffOptions,
  diffRetiredCores,
  diffTraces,
  type RetiredDiffOptions,
} from './diff.js';
export type { SchemaDifference, ScopePair } from './match.js';
export type * from './report.js';
export type { DiffInput } from './side.js';
