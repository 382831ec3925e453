export { createCompressor } from './compression/compressor.js';
export { type Account, accountOf, completedIn } from './contract/account.js';
export {
  type AcceptedStats,
  DEFAULT_CHECKPOINT_INTERVAL_PS,
  type SessionEnd,
  type TraceStats,
  type WriterOptions,
} from './contract/options.js';
export { checkFingerprint, schemaFingerprint } from './fingerprint.js';
export { finishedTrace } from './finished.js';
export type { Summarizer, SummarizerFactory } from './frames/summarizer.js';
export { type OpenOutput, type OutputFile, openNodeOutput } from './output/output-file.js';
export { RecordWriter } from './record-writer.js';
export type { FieldValue } from './records/values.js';
export { resumeTrace } from './resume.js';
export { requireSmall, smallInterval } from './small.js';
export { createCpuSummarizer, type SummarizerLimits } from './summary/cpu-summarizer.js';
export {
  type CheckpointCallback,
  type CheckpointSnapshot,
  type EventFields,
  TraceWriter,
} from './trace-writer.js';
