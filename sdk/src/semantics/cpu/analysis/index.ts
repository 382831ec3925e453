/** Performance analysis of the cores of a trace. */
export { analyzePerformance, type PerformanceOptions, SYNTHETIC_TIME } from './analyze.js';
export type * from './report.js';
