export { type Account, accountOf, completedIn } from './account.js';
export { createCompressor } from './compressor.js';
export { finishedTrace } from './finished.js';
export {
  type AcceptedStats,
  DEFAULT_CHECKPOINT_INTERVAL_PS,
  type SessionEnd,
  type TraceStats,
  type WriterOptions,
} from './options.js';
export { type OpenOutput, type OutputFile, openNodeOutput } from './output-file.js';
export { RecordWriter } from './record-writer.js';
export { resumeTrace } from './resume.js';
export { requireSmall, smallInterval } from './small.js';
export type { Summarizer, SummarizerFactory } from './summarizer.js';
export {
  type CheckpointCallback,
  type CheckpointSnapshot,
  type EventFields,
  TraceWriter,
} from './trace-writer.js';
export type { FieldValue } from './values.js';
