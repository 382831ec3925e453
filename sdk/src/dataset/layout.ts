/** The folders and files of a dataset: docs/how-to/dataset.md. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { UscopeError } from '../base/errors.js';
import { replaceFile } from '../writer/output/atomic-file.js';
import { makeDirectories } from '../writer/output/directories.js';
import { type Access, directoryMode } from '../writer/output/file-access.js';
import { ioError } from '../writer/output/output-file.js';

export const MARKER = 'uscope-dataset.json';
/** Goes up when files of an older layout cannot be read together with new ones. */
export const LAYOUT = 1;
/** Engines ignore directories that begin with an underscore. */
export const RUNS = '_runs';
export const STAGING = '_staging';
/** Files that have the rows of many runs. */
export const JOINED = 'joined';

/** Tables that an export can make. */
export const TABLES = [
  'traces',
  'instructions',
  'stages',
  'events',
  'slots',
  'counters',
  'stalls',
  'transactions',
  'occupancy',
  'cycles',
  'gaps',
] as const;
export type TableName = (typeof TABLES)[number];

const bigints = (names: string): Record<string, string> =>
  Object.fromEntries(names.split(' ').map((name) => [name, 'BIGINT']));

/** Columns that every run has, for datasets without rows of a table: a question about it then has no rows, instead of an error. */
export const COLUMNS: Readonly<Record<TableName, Readonly<Record<string, string>>>> = {
  traces: {
    file: 'VARCHAR',
    kind: 'VARCHAR',
    isa: 'VARCHAR',
    ...bigints('period_ps total_time_ps cycles retired squashed lost in_flight'),
    is_complete: 'BOOLEAN',
    run_id: 'VARCHAR',
    status: 'VARCHAR',
    ...bigints('started_ms ended_ms lost_items rejected_items'),
    dut: 'MAP(VARCHAR, VARCHAR)',
    tags: 'MAP(VARCHAR, VARCHAR)',
  },
  instructions: {
    ...bigints('seq id thread pc bits'),
    text: 'VARCHAR',
    class: 'VARCHAR',
    ...bigints('birth_cycle end_cycle'),
    outcome: 'VARCHAR',
    flush_reason: 'VARCHAR',
    ...bigints('flush_cycle stalls'),
    dependencies: 'STRUCT(seq BIGINT, "type" VARCHAR, cycle BIGINT)[]',
    annotations: 'STRUCT(cycle BIGINT, "text" VARCHAR)[]',
  },
  stages: { ...bigints('seq id visit'), stage: 'VARCHAR', ...bigints('from_cycle cycles') },
  events: { event: 'VARCHAR', ...bigints('cycle time_ps') },
  slots: { storage: 'VARCHAR', ...bigints('slot from_cycle to_cycle') },
  counters: { counter: 'VARCHAR', ...bigints('from_cycle to_cycle delta value') },
  stalls: { cycle: 'BIGINT', reason: 'VARCHAR', id: 'BIGINT' },
  transactions: {
    id: 'BIGINT',
    opcode: 'VARCHAR',
    ...bigints('addr len size src_port dst_port birth_cycle end_cycle'),
    outcome: 'VARCHAR',
    ...bigints('beats retries timeouts arbitrations handoffs'),
  },
  occupancy: { buffer: 'VARCHAR', ...bigints('slots taken cycles') },
  cycles: bigints('cycle cycles retired'),
  gaps: { ...bigints('segment from_cycle to_cycle'), code: 'VARCHAR', detail: 'VARCHAR' },
};

/** What the dataset says of a run: from which files it was exported, and how. */
export interface RunRecord {
  readonly run: string;
  readonly sources: readonly { readonly path: string; readonly bytes: number; readonly modifiedMs: number }[];
  readonly tables: readonly string[];
  readonly window: number;
  readonly tags: Readonly<Record<string, string>>;
  /** Directories of the run, in the dataset: `instructions/run=R`. */
  readonly parts?: readonly string[];
}

/**
 * Opens a dataset.
 * @param create who may read it, where it is made because there is nothing; null: it is there, or an error
 * @throws UscopeError DATASET_LAYOUT, WRITER_*
 */
export async function openDataset(root: string, create: Access | null = null): Promise<void> {
  const path = join(root, MARKER);
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text !== null) {
    checkMarker(path, text);
    return;
  }
  if (create === null) {
    throw new UscopeError('DATASET_LAYOUT', `this is not a dataset: it has no ${MARKER}`, { file: root });
  }
  await makeDirectories(root, directoryMode(create.mode)).catch((error) => {
    throw ioError(error, root);
  });
  await replaceFile(path, `${JSON.stringify({ layout: LAYOUT })}\n`, create.mode);
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

export const recordPath = (root: string, run: string): string => join(root, RUNS, `${run}.json`);

/** The record of a run; null: there is none. One that cannot be read is as good as none: the run is exported again. */
export async function readRecord(root: string, run: string): Promise<RunRecord | null> {
  const text = await readFile(recordPath(root, run), 'utf8').catch(() => null);
  return text === null ? null : parseRecord(text);
}

export function parseRecord(text: string): RunRecord | null {
  try {
    const record = JSON.parse(text) as RunRecord | null;
    const isRecord =
      typeof record?.run === 'string' &&
      Array.isArray(record.sources) &&
      Array.isArray(record.tables) &&
      typeof record.tags === 'object';
    return isRecord ? record : null;
  } catch {
    return null;
  }
}
