/** Where a dataset keeps what: docs/dataset.md. */
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UscopeError } from '../base/errors.js';
import { writeAtomically } from '../stream/index.js';

export const MARKER = 'uscope-dataset.json';
/** Goes up when files of an older layout cannot be read together with new ones. */
export const LAYOUT = 1;
/** Engines ignore directories that begin with an underscore. */
export const RUNS = '_runs';
export const STAGING = '_staging';

/** Tables that an export can make. */
export const TABLES = ['traces', 'instructions', 'counters', 'stalls', 'gaps'] as const;
export type TableName = (typeof TABLES)[number];

/** What the dataset says of a run: from which files it was exported, and how. */
export interface RunRecord {
  readonly run: string;
  readonly sources: readonly { readonly path: string; readonly bytes: number; readonly modifiedMs: number }[];
  readonly tables: readonly string[];
  readonly window: number;
  readonly tags: Readonly<Record<string, string>>;
  /** Tables that the run has rows of. */
  readonly parts?: readonly string[];
}

/** Opens a dataset; makes it where there is nothing. */
export async function openDataset(root: string, { create = false } = {}): Promise<void> {
  const path = join(root, MARKER);
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text !== null) {
    checkMarker(path, text);
    return;
  }
  if (!create) {
    throw new UscopeError('DATASET_LAYOUT', `this is no dataset: it has no ${MARKER}`, { file: root });
  }
  await mkdir(root, { recursive: true });
  await writeAtomically(path, { inputs: [], force: true }, (temporary) =>
    writeFile(temporary, `${JSON.stringify({ layout: LAYOUT })}\n`),
  );
}

export const isDataset = (root: string): Promise<boolean> =>
  stat(join(root, MARKER)).then(
    (found) => found.isFile(),
    () => false,
  );

function checkMarker(path: string, text: string): void {
  let layout: unknown;
  try {
    layout = (JSON.parse(text) as { layout?: unknown } | null)?.layout;
  } catch {
    layout = undefined;
  }
  if (layout === LAYOUT) return;
  const problem =
    typeof layout === 'number' && layout > LAYOUT
      ? `the dataset has layout ${layout}, this release reads ${LAYOUT}; use a newer release`
      : 'the layout of the dataset cannot be read; export into a new directory';
  throw new UscopeError('DATASET_LAYOUT', problem, { file: path });
}

/** A value as it is in the name of a partition's directory. */
export const partition = (key: string, value: string): string =>
  `${key}=${encodeURIComponent(value).replaceAll('*', '%2A')}`;

/** @throws UscopeError DATASET_NAME for a name that cannot be a run */
export function checkRunName(name: string): string {
  if (/^[\w][\w.+-]{0,127}$/.test(name)) return name;
  throw new UscopeError(
    'DATASET_NAME',
    `a run cannot be called "${name}": use 1 to 128 letters, digits and . _ + -; choose a name with --run`,
  );
}
