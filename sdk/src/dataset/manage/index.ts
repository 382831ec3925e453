export { type Check, checkDataset, type Problem } from './check.js';
export { type Compaction, type CompactOptions, compactDataset, purgeJoined } from './compact.js';
export { openWhole } from './complete.js';
export { listRuns, type RunListing } from './runs.js';
export { datasetStats, type TableStats } from './stats.js';
