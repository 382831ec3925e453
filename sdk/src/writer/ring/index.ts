export type { RingReport, TriggerFile } from '../contract/ring-report.js';
export { FinishedRing, finishedRing } from './finished.js';
export { headerPath, spoolDirectory } from './layout.js';
export { DEFAULT_TRIGGER_FILES, MIN_RING_BYTES, type RingOptions } from './options.js';
export { recoverSpool, type SpoolRecovery } from './recover.js';
export { type RingStats, RingWriter } from './ring-writer.js';
export { createRing, resumeRing } from './spool-start.js';
export type { EventTrigger, FieldTest, TriggerSource } from './trigger-scan.js';
