/** Datasets that are read as one have no run in common: its rows would count twice. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { UscopeError } from '../base/errors.js';
import { RUNS } from './layout.js';

const RECORD = '.json';

/** @throws UscopeError DATASET_RUN, DATASET_LAYOUT for a directory that cannot be read */
export async function checkDistinctRuns(roots: readonly string[]): Promise<void> {
  if (roots.length < 2) return;
  const places = new Map<string, string>();
  for (const root of roots) {
    const names = await readdir(join(root, RUNS)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw new UscopeError('DATASET_LAYOUT', `the list of runs cannot be read: ${error.message}`, {
        file: root,
      });
    });
    for (const name of names.filter((one) => one.endsWith(RECORD))) {
      const run = name.slice(0, -RECORD.length);
      const other = places.get(run);
      if (other !== undefined) {
        throw new UscopeError(
          'DATASET_RUN',
          `the run "${run}" is in two of the sources, ${other} and ${root}: its rows would count twice; ` +
            'name one of them, or export one into a dataset under another name, with --run',
        );
      }
      places.set(run, root);
    }
  }
}
