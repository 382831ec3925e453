/** Datasets on the command line: their verbs, `uscope run --export`, and SQL in the page of `uscope view`. */
import type { Leaf } from '../common/leaf.js';
import { append } from '../common/option-values.js';

export const DATASET: Leaf = {
  verbs: {
    export: ['traces as tables: a dataset of Parquet files', () => import('./export.js')],
    dataset: ['list, check, remove and join the runs of a dataset', () => import('./dataset.js')],
    sql: ['questions in SQL about datasets and traces', () => import('./sql.js')],
  },
  addRunOptions(command) {
    command
      .option('--export <dataset>', 'also export the traces into a dataset when the run has ended')
      .option('--run <name>', 'name of the run there (default: name of the directory of its traces)')
      .option('--tag <key=value>', 'a column of the table traces there (may be repeated)', append, []);
  },
  afterRun: async (options) => (await import('./after-run.js')).exportOf(options),
  servedSql: async () => (await import('./served-sql.js')).ServedSql,
};
