/** The runs of a dataset: what there is of each. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { nameInPartition } from '../files/names.js';
import { joinedNames, readJoined } from '../joined-runs.js';
import { openDataset, RUNS, type RunRecord, readRecord, TABLES } from '../layout.js';
import { partsOf } from '../publish.js';

export interface RunListing {
  readonly run: string;
  /** null: the files are there, and nothing says what they were made of. */
  readonly record: RunRecord | null;
  readonly parts: readonly string[];
  /** Its rows are in files together with those of other runs. */
  readonly isJoined: boolean;
  readonly files: number;
  readonly bytes: number;
}

/** By name. @throws UscopeError DATASET_LAYOUT */
export async function listRuns(root: string): Promise<RunListing[]> {
  await openDataset(root);
  const joined = joinedNames(await readJoined(root));
  const names = [...new Set([...(await namesOf(root)), ...joined])].sort();
  return Promise.all(
    names.map(async (run) => {
      const parts = await partsOf(root, run);
      const files = (await Promise.all(parts.map((part) => filesBelow(join(root, part))))).flat();
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
      return {
        run,
        record: await readRecord(root, run),
        parts,
        isJoined: joined.has(run),
        files: files.length,
        bytes,
      };
    }),
  );
}

async function namesOf(root: string): Promise<Set<string>> {
  const names = new Set<string>();
  for (const name of await readdir(join(root, RUNS)).catch(() => [] as string[]))
    if (name.endsWith('.json')) names.add(name.slice(0, -'.json'.length));
  for (const table of TABLES) {
    for (const name of await readdir(join(root, table)).catch(() => [] as string[])) {
      const runs = name.startsWith('run=') ? [name] : await readdir(join(root, table, name)).catch(() => []);
      for (const run of runs)
        if (run.startsWith('run=')) names.add(nameInPartition(run.slice('run='.length)));
    }
  }
  return names;
}

/** All Parquet files below a directory. Links are none of them, and neither is what another process removes meanwhile. */
export async function filesBelow(path: string): Promise<{ path: string; bytes: number }[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(unlessGone([]));
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.parquet'));
  const found = await Promise.all(
    files.map(async (entry) => {
      const file = join(entry.parentPath, entry.name);
      const size = await stat(file).then(({ size }) => size, unlessGone(null));
      return size === null ? [] : [{ path: file, bytes: size }];
    }),
  );
  return found.flat();
}

const unlessGone =
  <T>(instead: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT') return instead;
    throw error;
  };
