export { planSlice, SLICE_KEYS, type SlicePlan } from './plan.js';
export { type RedactionRules, readRules } from './redact/rules.js';
export { type SliceOptions, type SliceReport, sliceTrace } from './slice.js';
