/** Traces as one dataset: export to Parquet, and SQL over it. */
export { type Engine, loadEngine } from './engine/duckdb.js';
export type { RunExport } from './export-run.js';
export { exportAside, exportOneRun, exportRuns, type RunFailure, type RunsOptions } from './export-runs.js';
export type { RunReport } from './export-traces.js';
export { checkRunName, runNameOf } from './files/names.js';
export { isDataset, TABLES, type TableName } from './layout.js';
export { cycleColumn, LINK } from './links.js';
export { loadMacros, type Macro } from './macros.js';
export {
  type Check,
  type Compaction,
  checkDataset,
  compactDataset,
  datasetStats,
  listRuns,
  openWhole,
  type Problem,
  purgeJoined,
  type RunListing,
  type TableStats,
} from './manage/index.js';
export { tablesIn } from './named-tables.js';
export { runAccess } from './own-dataset.js';
export { removeRun } from './publish.js';
export { makeScratch, type Scratch } from './scratch.js';
export { type SessionOptions, SqlSession } from './session.js';
export type { Periods, ShownRange } from './shown-range.js';
