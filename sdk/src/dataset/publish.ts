/**
 * A run appears in a dataset whole or not at all. Its files are written aside and synced; then its record, the commit, gets its name; then the
 * directories are moved. What a killed process left between the commit and the last move, the next one completes.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UscopeError } from '../base/errors.js';
import { ioError, syncDirectory } from '../writer/output/output-file.js';
import { partition, RUNS, type RunRecord, STAGING, TABLES } from './layout.js';

const COMMIT = 'commit.json';

/** Where one run is written before it appears. */
export class StagedRun {
  private constructor(
    private readonly root: string,
    private readonly run: string,
    readonly path: string,
  ) {}

  /** @throws UscopeError DATASET_LOCKED while another process writes the same run */
  static async begin(root: string, run: string): Promise<StagedRun> {
    await mkdir(join(root, STAGING), { recursive: true }).catch((error) => {
      throw ioError(error, root);
    });
    await completeRuns(root);
    await lock(root, run);
    const path = join(root, STAGING, `${run}~${process.pid}~${randomBytes(4).toString('hex')}`);
    await mkdir(path);
    return new StagedRun(root, run, path);
  }

  /** Directory of a core's part of a table. */
  async partOf(table: string, core: string): Promise<string> {
    const directory = join(this.path, 'tables', table, partition('run', this.run), partition('core', core));
    await mkdir(directory, { recursive: true });
    return directory;
  }

  async publish(record: RunRecord): Promise<void> {
    await syncTree(join(this.path, 'tables'));
    const commit = join(this.path, COMMIT);
    const parts = await readdir(join(this.path, 'tables'));
    await writeFile(`${commit}.part`, `${JSON.stringify({ ...record, parts })}\n`);
    await syncFile(`${commit}.part`);
    await rename(`${commit}.part`, commit);
    await syncDirectory(this.path);
    await move(this.root, this.path);
    await unlock(this.root, this.run);
  }

  async abandon(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
    await unlock(this.root, this.run);
  }
}

/** Completes what killed processes had committed, and removes what they had not. */
export async function completeRuns(root: string): Promise<void> {
  const names = await readdir(join(root, STAGING)).catch(() => [] as string[]);
  for (const name of names) {
    const [, pid] = name.split('~');
    if (pid === undefined || isAlive(Number(pid))) continue;
    const path = join(root, STAGING, name);
    const committed = await readFile(join(path, COMMIT)).then(
      () => true,
      () => false,
    );
    if (committed) await move(root, path);
    else await rm(path, { recursive: true, force: true });
  }
}

/** Can be repeated from any point at which it was interrupted. */
async function move(root: string, staged: string): Promise<void> {
  const record = JSON.parse(await readFile(join(staged, COMMIT), 'utf8')) as RunRecord;
  const directory = partition('run', record.run);
  for (const table of TABLES) {
    const from = join(staged, 'tables', table, directory);
    const to = join(root, table, directory);
    const old = join(staged, 'old', table);
    const isNew = await exists(from);
    if (!isNew && record.parts?.includes(table)) continue; // moved already
    if (await exists(to)) {
      await mkdir(dirname(old), { recursive: true });
      await rm(old, { recursive: true, force: true });
      await rename(to, old);
    }
    if (isNew) {
      await mkdir(dirname(to), { recursive: true });
      await rename(from, to);
    }
    if (isNew) await syncDirectory(dirname(to));
  }
  await mkdir(join(root, RUNS), { recursive: true });
  await rename(join(staged, COMMIT), join(root, RUNS, `${record.run}.json`));
  await syncDirectory(join(root, RUNS));
  await rm(staged, { recursive: true, force: true });
}

const lockOf = (root: string, run: string): string => join(root, STAGING, `${run}.lock`);

async function lock(root: string, run: string): Promise<void> {
  const path = lockOf(root, run);
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      await writeFile(path, String(process.pid), { flag: 'wx' });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw ioError(error, path);
    }
    const holder = Number(await readFile(path, 'utf8').catch(() => '0'));
    if (isAlive(holder)) {
      throw new UscopeError(
        'DATASET_LOCKED',
        `process ${holder} is exporting the run "${run}"; wait for it, or choose another name with --run`,
        { file: path },
      );
    }
    await rm(path, { force: true });
  }
  throw new UscopeError('DATASET_LOCKED', `another process is exporting the run "${run}"`, { file: path });
}

const unlock = (root: string, run: string): Promise<void> => rm(lockOf(root, run), { force: true });

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function exists(path: string): Promise<boolean> {
  return readdir(path).then(
    () => true,
    () => false,
  );
}

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
