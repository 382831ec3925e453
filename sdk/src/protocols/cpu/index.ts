/** Meaning of traces with the `cpu` protocol. */
export { createCpuSummarizer, isCounterStorage, type SummarizerLimits } from './summarizer.js';
