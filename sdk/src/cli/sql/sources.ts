/** What is asked: datasets as they are, and traces as datasets that are kept beside them until they change. */

import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UscopeError } from '../../base/errors.js';
import { exportOneRun, isDataset, type TableName } from '../../dataset/index.js';
import { isHttpUrl } from '../../reader/http-url.js';
import { runsOf } from '../common/run-directories.js';

const CACHE = '.uscope-sql';
const WINDOW = 10_000;

/** The datasets to read. Of traces only the tables are made that may be needed. */
export async function datasetsOf(paths: readonly string[], tables: readonly TableName[]): Promise<string[]> {
  const datasets = new Set<string>();
  for (const path of paths) {
    if (isHttpUrl(path))
      throw new UscopeError(
        'CLI_USAGE',
        `export the trace first, since it has no directory to keep tables in: ${path}`,
      );
    if ((await isDirectory(path)) && (await isDataset(path))) {
      datasets.add(path);
      continue;
    }
    for (const { run, files } of await runsOf([path])) {
      // By name: a directory that was renamed or copied still has the tables of its former name, which are another run's.
      const cache = join(dirname(files[0]), CACHE, run);
      await exportOneRun(cache, {
        run,
        files,
        tables,
        window: WINDOW,
        tags: {},
        replace: true,
        keep: true,
      });
      datasets.add(cache);
    }
  }
  return [...datasets];
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
