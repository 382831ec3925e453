/**
 * Runs whose files were joined: `joined/TABLE/GROUP.parquet` has the rows of many runs, with `run` and `core` as columns. One file, replaced whole,
 * says which groups count. A run is read from its group as long as it is there, whatever directories of it are left.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UscopeError } from '../base/errors.js';
import { replaceFile } from '../writer/output/atomic-file.js';
import { syncDirectory } from '../writer/output/output-file.js';
import { JOINED } from './layout.js';
import { makeShared, sharedMode } from './own-dataset.js';

const GROUPS = 'groups.json';

export interface JoinedGroup {
  readonly name: string;
  /** Runs that are read from the group. */
  readonly runs: readonly string[];
  /** Runs whose rows are in its files, and no longer count. */
  readonly dropped: readonly string[];
  /** Relative to the dataset. */
  readonly files: readonly string[];
}

export interface JoinedRuns {
  /** Goes up with every change. */
  readonly generation: number;
  readonly groups: readonly JoinedGroup[];
}

const NOTHING: JoinedRuns = { generation: 0, groups: [] };

/** @throws UscopeError DATASET_LAYOUT */
export async function readJoined(root: string): Promise<JoinedRuns> {
  const path = join(root, JOINED, GROUPS);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw new UscopeError('DATASET_LAYOUT', `the list of joined runs cannot be read: ${error.message}`, {
      file: path,
    });
  });
  if (text === null) return NOTHING;
  const joined = parse(text);
  if (joined) return joined;
  throw new UscopeError(
    'DATASET_LAYOUT',
    'the list of joined runs is damaged; restore it, or export the runs into a new dataset',
    { file: path },
  );
}

function parse(text: string): JoinedRuns | null {
  try {
    const { generation, groups } = JSON.parse(text) as JoinedRuns;
    const isStrings = (list: unknown): boolean =>
      Array.isArray(list) && list.every((one) => typeof one === 'string');
    const isWhole =
      Number.isSafeInteger(generation) &&
      groups.every(
        ({ name, runs, dropped, files }) =>
          typeof name === 'string' &&
          [runs, dropped, files].every(isStrings) &&
          files.every((file) => file.startsWith(`${JOINED}/`) && !file.split('/').includes('..')),
      );
    return isWhole ? { generation, groups } : null;
  } catch {
    return null;
  }
}

/** The caller has the lock for moves. */
export async function changeJoined(
  root: string,
  change: (groups: readonly JoinedGroup[]) => readonly JoinedGroup[],
): Promise<JoinedRuns> {
  const there = await readJoined(root);
  const next = { generation: there.generation + 1, groups: change(there.groups) };
  await makeShared(root, JOINED);
  await replaceFile(join(root, JOINED, GROUPS), `${JSON.stringify(next)}\n`, await sharedMode(root));
  await syncDirectory(root);
  return next;
}

/** Takes a run out of its group, if it is in one. The caller has the lock for moves. */
export async function dropJoined(root: string, run: string): Promise<boolean> {
  const { groups } = await readJoined(root);
  if (!groups.some(({ runs }) => runs.includes(run))) return false;
  await changeJoined(root, (all) =>
    all.map((group) =>
      group.runs.includes(run)
        ? {
            ...group,
            runs: group.runs.filter((one) => one !== run),
            dropped: [...group.dropped.filter((one) => one !== run), run],
          }
        : group,
    ),
  );
  return true;
}

export const joinedNames = ({ groups }: JoinedRuns): Set<string> =>
  new Set(groups.flatMap(({ runs }) => runs));
