/**
 * A run appears in a dataset whole or not at all. Its files are written aside and synced; then its commit gets its name, and is synced with all directories
 * above it; then the directories are moved, and the commit last of all becomes the run's record. What a killed process left between the commit and the last
 * move, the next one completes.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UscopeError } from '../base/errors.js';
import { ioError, syncDirectory } from '../writer/output/output-file.js';
import { partition } from './files/names.js';
import { KEYS, RUNS, type RunRecord, recordPath, STAGING, TABLES, type TableName } from './layout.js';
import { isAlive, type Owner, ownOwner } from './owner.js';
import { withPublishLock } from './publish-lock.js';

const COMMIT = 'commit.json';
/** How often a process says that it is there, for those on other machines. */
const HEARTBEAT_MS = 60_000;

/** What a staged run will do. */
interface Commit {
  readonly run: string;
  /** null: the run goes away. */
  readonly record: RunRecord | null;
  /** Directories that appear, and those of before that go away. */
  readonly moved: readonly string[];
  readonly removed: readonly string[];
}

/** Where one run is written before it appears. */
export class StagedRun {
  private readonly heart: NodeJS.Timeout;

  private constructor(
    private readonly root: string,
    private readonly run: string,
    readonly path: string,
  ) {
    this.heart = setInterval(() => {
      const now = new Date();
      utimes(path, now, now).catch(() => {});
    }, HEARTBEAT_MS);
    this.heart.unref();
  }

  /** @throws UscopeError DATASET_LOCKED while another process writes the same run */
  static async begin(root: string, run: string): Promise<StagedRun> {
    const staging = join(root, STAGING);
    await mkdir(staging, { recursive: true }).catch((error) => {
      throw ioError(error, root);
    });
    await completeRuns(root);
    const name = stagedName(run);
    await mkdir(join(staging, name));
    const other = await earlierExport(staging, run, name);
    if (other) {
      await rm(join(staging, name), { recursive: true, force: true });
      throw new UscopeError(
        'DATASET_LOCKED',
        `process ${other.owner.pid} on ${other.owner.host} is exporting the run "${run}"; wait for it, or choose another name with --run`,
        { file: join(staging, other.name) },
      );
    }
    return new StagedRun(root, run, join(staging, name));
  }

  /** Directory of a core's part of a table, of one key for tables that have them. */
  async partOf(table: string, core: string, key?: string): Promise<string> {
    const above = KEYS[table as TableName];
    const directory = join(
      this.path,
      'tables',
      table,
      above === undefined || key === undefined ? '' : partition(above, key),
      partition('run', this.run),
      partition('core', core),
    );
    await mkdir(directory, { recursive: true });
    return directory;
  }

  /** @param only the tables that are replaced; null: all of the run */
  async publish(record: RunRecord, only: readonly TableName[] | null = null): Promise<void> {
    await mkdir(join(this.path, 'tables'), { recursive: true });
    await syncTree(join(this.path, 'tables'));
    await withPublishLock(this.root, async () => {
      const moved = await partsOf(join(this.path, 'tables'), this.run);
      const there = await partsOf(this.root, this.run);
      const isReplaced = (part: string): boolean =>
        only === null || only.includes(part.slice(0, part.indexOf('/')) as TableName);
      const removed = there.filter((part) => isReplaced(part) && !moved.includes(part));
      const kept = there.filter((part) => !isReplaced(part) && !moved.includes(part));
      const parts = [...kept, ...moved].sort();
      const commit: Commit = { run: this.run, record: { ...record, parts }, moved, removed };
      await writeCommit(this.root, this.path, commit);
      await move(this.root, this.path, commit);
    });
    clearInterval(this.heart);
  }

  /** @returns false: after the commit there is no way back, and the next process completes it */
  async abandon(): Promise<boolean> {
    clearInterval(this.heart);
    if (await exists(join(this.path, COMMIT))) return false;
    await rm(this.path, { recursive: true, force: true });
    return true;
  }
}

async function writeCommit(root: string, staged: string, commit: Commit): Promise<void> {
  const path = join(staged, COMMIT);
  await writeFile(`${path}.part`, `${JSON.stringify(commit)}\n`);
  await syncFile(`${path}.part`);
  // What the commit is in must outlive a power failure before the commit does.
  await syncDirectory(join(root, STAGING));
  await syncDirectory(root);
  await rename(`${path}.part`, path);
  await syncDirectory(staged);
}

/** Completes what killed processes had committed, and removes what they had not. */
export async function completeRuns(root: string): Promise<void> {
  if ((await deadRuns(root)).length === 0) return;
  await withPublishLock(root, async () => {
    // Another process may have done it meanwhile.
    for (const path of await deadRuns(root)) {
      const commit = await readCommit(path);
      if (commit) await move(root, path, commit);
      else await rm(path, { recursive: true, force: true });
    }
  });
}

/** Takes a run away, whole. @returns false: there is no such run */
export async function removeRun(root: string, run: string): Promise<boolean> {
  return withPublishLock(root, async () => {
    const removed = await partsOf(root, run);
    if (removed.length === 0 && !(await exists(recordPath(root, run)))) return false;
    const staged = join(root, STAGING, stagedName(run));
    await mkdir(staged);
    const commit: Commit = { run, record: null, moved: [], removed };
    await writeCommit(root, staged, commit);
    await move(root, staged, commit);
    return true;
  });
}

/** Staged runs of processes that are no more. */
export async function deadRuns(root: string): Promise<string[]> {
  const staging = join(root, STAGING);
  const names = await readdir(staging).catch(() => [] as string[]);
  const dead: string[] = [];
  for (const name of names) {
    const owner = ownerIn(name);
    const found = owner && (await stat(join(staging, name)).catch(() => null));
    if (owner && found && !isAlive(owner, found.mtimeMs)) dead.push(join(staging, name));
  }
  return dead;
}

/** Directories of a run in a dataset, or in a staged copy of one. */
export async function partsOf(root: string, run: string): Promise<string[]> {
  const directory = partition('run', run);
  const parts: string[] = [];
  for (const table of TABLES) {
    const keys =
      KEYS[table] === undefined ? [''] : await readdir(join(root, table)).catch(() => [] as string[]);
    for (const key of keys) {
      const part = [table, key, directory].filter((step) => step !== '').join('/');
      if (await exists(join(root, part))) parts.push(part);
    }
  }
  return parts.sort();
}

/** Can be repeated from any point at which it was interrupted. */
async function move(root: string, staged: string, { run, record, moved, removed }: Commit): Promise<void> {
  for (const part of removed) await moveAside(root, staged, part);
  for (const part of moved) {
    const from = join(staged, 'tables', part);
    if (!(await exists(from))) continue; // moved already
    await moveAside(root, staged, part);
    await mkdir(dirname(join(root, part)), { recursive: true });
    await rename(from, join(root, part));
  }
  await syncAbove(root, [...moved, ...removed]);
  const path = recordPath(root, run);
  await mkdir(join(root, RUNS), { recursive: true });
  if (record === null) await rm(path, { force: true });
  else {
    await writeFile(join(staged, 'record.json'), `${JSON.stringify(record)}\n`);
    await syncFile(join(staged, 'record.json'));
    await rename(join(staged, 'record.json'), path);
  }
  await syncDirectory(join(root, RUNS));
  await syncDirectory(root);
  // Without its commit the rest is only in the way.
  await rm(join(staged, COMMIT), { force: true });
  await rm(staged, { recursive: true, force: true });
}

async function moveAside(root: string, staged: string, part: string): Promise<void> {
  if (!(await exists(join(root, part)))) return;
  const old = join(staged, 'old', `${part.replaceAll('/', '~')}-${randomBytes(3).toString('hex')}`);
  await mkdir(dirname(old), { recursive: true });
  await rename(join(root, part), old);
}

/** Makes the names of moved directories durable, and those of the directories above them. */
async function syncAbove(root: string, parts: readonly string[]): Promise<void> {
  const above = new Set<string>([root]);
  for (const part of parts) {
    for (let path = dirname(part); path !== '.'; path = dirname(path)) above.add(join(root, path));
  }
  for (const path of above) if (await exists(path)) await syncDirectory(path);
}

async function readCommit(staged: string): Promise<Commit | null> {
  const text = await readFile(join(staged, COMMIT), 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    const commit = JSON.parse(text) as Commit;
    return typeof commit.run === 'string' ? commit : null;
  } catch {
    return null; // renamed only when it was whole: the disk has lost it
  }
}

/** Run, time, and who works on it: names of the same run are in the order of their times. */
function stagedName(run: string): string {
  const { host, pid, started } = ownOwner();
  const time = Date.now().toString(36).padStart(10, '0');
  return [
    run,
    time,
    encodeURIComponent(host).replaceAll('~', '%7E'),
    pid,
    started,
    randomBytes(4).toString('hex'),
  ].join('~');
}

function ownerIn(name: string): Owner | null {
  const [, , host, pid, started] = name.split('~');
  if (host === undefined || pid === undefined) return null;
  return { host: decodeURIComponent(host), pid: Number(pid), started: Number(started) };
}

/** Of two that begin at the same time, the one whose name is less goes on. */
async function earlierExport(
  staging: string,
  run: string,
  own: string,
): Promise<{ readonly name: string; readonly owner: Owner } | null> {
  for (const name of await readdir(staging)) {
    const owner = ownerIn(name);
    if (!owner || name.slice(0, name.indexOf('~')) !== run || name >= own) continue;
    const found = await stat(join(staging, name)).catch(() => null);
    if (found && isAlive(owner, found.mtimeMs)) return { name, owner };
  }
  return null;
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

async function syncTree(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inside = join(path, entry.name);
    if (entry.isDirectory()) await syncTree(inside);
    else await syncFile(inside);
  }
  await syncDirectory(path);
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
