export { MERGE_KEY } from './dut.js';
export { type MergedInput, type MergeOptions, type MergeReport, mergeTraces } from './merge.js';
export type { MergeInput, NamedInput } from './names.js';
export { type MergePlan, planMerge } from './plan.js';
