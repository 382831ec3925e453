/** `uscope run --export`: the traces of a run go into a dataset when it has ended. */
import { basename, dirname, resolve } from 'node:path';
import { UscopeError } from '../../base/errors.js';
import { checkRunName, runNameOf } from '../../dataset/files/names.js';
import { io } from '../common/io.js';
import type { AfterRun } from '../common/leaf.js';
import {
  DEFAULT_TABLES,
  DEFAULT_WINDOW,
  describeFailure,
  describeRows,
  parseTags,
} from './export-arguments.js';

interface ExportOptions {
  readonly export?: string;
  readonly run?: string;
  readonly tag?: readonly string[];
}

/** The arguments are checked before the simulator starts; a failed export is not a reason to call the traces bad. */
export function exportOf(options: ExportOptions): AfterRun | undefined {
  const { export: dataset, run, tag = [] } = options;
  if (dataset === undefined) {
    if (run !== undefined || tag.length > 0)
      throw new UscopeError('CLI_USAGE', '--run and --tag are for --export; name a dataset');
    return undefined;
  }
  const tags = parseTags(tag);
  if (run !== undefined) checkRunName(run);
  let hasFailed = false;
  return {
    get hasFailed() {
      return hasFailed;
    },
    run: async (paths) => {
      const [first] = paths;
      if (first === undefined) return;
      const { exportRuns, openWhole } = await import('../../dataset/index.js');
      const request = {
        run: run ?? runNameOf(basename(dirname(resolve(first)))),
        files: [...paths].sort(),
        tables: DEFAULT_TABLES,
        window: DEFAULT_WINDOW,
        tags,
        replace: true,
      };
      const [report] = await exportRuns(dataset, [request]);
      hasFailed = report === undefined || 'error' in report;
      if (!hasFailed) await openWhole(dataset);
      if (report && 'error' in report)
        io.err(`uscope: ${report.run} was not exported: ${describeFailure(report)}`);
      else if (report) io.err(`uscope: ${report.run}: exported to ${dataset}, ${describeRows(report)}`);
    },
  };
}
