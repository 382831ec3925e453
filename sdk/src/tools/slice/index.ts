export { planSlice, SLICE_KEYS, type SlicePlan } from './plan.js';
export { type RedactionRules, readRules } from './redact/index.js';
export { type SliceOptions, type SliceReport, sliceTrace } from './slice.js';
