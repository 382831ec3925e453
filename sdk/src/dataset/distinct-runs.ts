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
    for (const run of await runNames(root)) {
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

/** Runs that have a record. @throws UscopeError DATASET_LAYOUT */
export async function runNames(root: string): Promise<string[]> {
  const names = await readdir(join(root, RUNS)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new UscopeError('DATASET_LAYOUT', `the list of runs cannot be read: ${error.message}`, {
      file: root,
    });
  });
  return names.filter((name) => name.endsWith(RECORD)).map((name) => name.slice(0, -RECORD.length));
}
