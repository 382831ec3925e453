import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { PROCESSES_MS } from '../../../test/support/limits.js';
import type { PathLock } from '../writer/output/path-lock.js';
import { type RunRecord, recordPath } from './layout.js';
import { withPublishLock } from './locks.js';
import { completeRuns, partsOf, removeRun, StagedRun } from './publish.js';

const directory = mkdtempSync(join(tmpdir(), 'uscope-publish-'));
let root: string;
let count = 0;

afterAll(() => rmSync(directory, { recursive: true, force: true }));
beforeEach(() => {
  root = join(directory, String(count++));
  mkdirSync(root);
});

const record = (run: string, window: number): RunRecord => ({
  run,
  sources: [],
  tables: [],
  window,
  tags: {},
});
const PARTS = ['events/event=stall/run=r', 'instructions/run=r', 'traces/run=r'];

async function stage(
  run: string,
  text: string,
  tables = ['traces', 'instructions', 'events'],
): Promise<StagedRun> {
  const staged = await StagedRun.begin(root, run);
  for (const table of tables) {
    const part = await staged.files.partOf(table, 'core0', table === 'events' ? 'stall' : undefined);
    writeFileSync(join(part, 'part-0.parquet'), text);
  }
  return staged;
}

/** Leaves it as a process that is killed does: its lock is free. */
function orphaned(staged: StagedRun): string {
  (staged as unknown as { lock: PathLock }).lock.release();
  return staged.path;
}

const textOf = (part: string): string | null => {
  const path = join(root, part, 'core=core0', 'part-0.parquet');
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
};
const windowOf = (run: string): unknown =>
  (JSON.parse(readFileSync(recordPath(root, run), 'utf8')) as RunRecord).window;
const stagedRuns = () => readdirSync(join(root, '_staging')).filter((name) => name.includes('~'));

describe('a staged run', () => {
  it('appears whole, and replaces the one before with the tables that it has no more', async () => {
    await (await stage('r', 'old')).publish(record('r', 1));
    expect(await partsOf(root, 'r')).toEqual(PARTS);
    await (await stage('r', 'new', ['traces'])).publish(record('r', 2));
    expect(await partsOf(root, 'r')).toEqual(['traces/run=r']);
    expect(textOf('traces/run=r')).toBe('new');
    expect(windowOf('r')).toBe(2);
    expect(stagedRuns()).toEqual([]);
  });

  it('may replace some tables only', async () => {
    await (await stage('r', 'old')).publish(record('r', 1));
    await (await stage('r', 'new', ['traces'])).publish(record('r', 2), ['traces', 'stalls']);
    expect(PARTS.map(textOf)).toEqual(['old', 'old', 'new']);
    expect(JSON.parse(readFileSync(recordPath(root, 'r'), 'utf8')).parts).toEqual(PARTS);
  });

  it('of a dead process goes away without a commit', async () => {
    await (await stage('r', 'old')).publish(record('r', 1));
    orphaned(await stage('r', 'new'));
    await completeRuns(root);
    expect(PARTS.map(textOf)).toEqual(['old', 'old', 'old']);
    expect(stagedRuns()).toEqual([]);
  });

  it.each([0, 1, 2, 3])(
    'of a dead process is completed from where it was after its commit and %i moves',
    async (moves) => {
      await (await stage('r', 'old')).publish(record('r', 1));
      const staged = orphaned(await stage('r', 'new', ['traces', 'instructions']));
      const moved = ['instructions/run=r', 'traces/run=r'];
      writeFileSync(join(staged, 'record.json'), JSON.stringify(record('r', 2)));
      writeFileSync(
        join(staged, 'commit.json'),
        JSON.stringify({ run: 'r', record: record('r', 2), moved, removed: ['events/event=stall/run=r'] }),
      );
      // Dead between the two renames of the last of them.
      for (const [index, part] of moved.slice(0, moves).entries()) {
        mkdirSync(join(staged, 'old'), { recursive: true });
        renameSync(join(root, part), join(staged, 'old', String(index)));
        if (index < moves - 1) renameSync(join(staged, 'tables', part), join(root, part));
      }
      await Promise.all([completeRuns(root), completeRuns(root), completeRuns(root)]);
      expect(PARTS.map(textOf)).toEqual([null, 'new', 'new']);
      expect(windowOf('r')).toBe(2);
      expect(stagedRuns()).toEqual([]);
    },
  );

  it('of a dead process of an early release is completed with its record, which is in the commit only', async () => {
    await (await stage('r', 'old')).publish(record('r', 1));
    const staged = orphaned(await stage('r', 'new'));
    writeFileSync(
      join(staged, 'commit.json'),
      JSON.stringify({ run: 'r', record: record('r', 2), moved: PARTS, removed: [] }),
    );
    await completeRuns(root);
    expect(PARTS.map(textOf)).toEqual(['new', 'new', 'new']);
    expect(windowOf('r')).toBe(2);
    expect(stagedRuns()).toEqual([]);
  });

  it('is completed when its record was moved already', async () => {
    const staged = orphaned(await stage('r', 'new'));
    mkdirSync(join(root, '_runs'));
    writeFileSync(recordPath(root, 'r'), `${JSON.stringify(record('r', 2))}\n`);
    const { ino } = statSync(recordPath(root, 'r'));
    writeFileSync(
      join(staged, 'commit.json'),
      JSON.stringify({ run: 'r', record: record('r', 2), moved: PARTS, removed: [] }),
    );
    await completeRuns(root);
    expect(windowOf('r')).toBe(2);
    expect(statSync(recordPath(root, 'r')).ino).toBe(ino);
    expect(stagedRuns()).toEqual([]);
  });

  it('is alone with its run, and left alone by others while it works', async () => {
    const staged = await stage('r', 'new');
    await expect(StagedRun.begin(root, 'r')).rejects.toMatchObject({ code: 'DATASET_LOCKED' });
    await expect(removeRun(root, 'r', {})).rejects.toMatchObject({ code: 'DATASET_LOCKED' });
    await completeRuns(root);
    await (await stage('s', 'other')).abandon();
    await staged.publish(record('r', 1));
    expect(PARTS.map(textOf)).toEqual(['new', 'new', 'new']);
  });

  it('can be taken away', async () => {
    await (await stage('r', 'old')).publish(record('r', 1));
    await (await stage('s', 'other')).publish(record('s', 1));
    expect(await removeRun(root, 'r')).toBe(true);
    expect(await removeRun(root, 'r')).toBe(false);
    expect(await partsOf(root, 'r')).toEqual([]);
    expect(await partsOf(root, 's')).toHaveLength(3);
  });
});

describe('the lock of a dataset', () => {
  it('is held by one at a time', async () => {
    mkdirSync(join(root, '_staging'));
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      most = Math.max(most, ++inside);
      await new Promise((done) => setTimeout(done, 1));
      inside--;
    };
    await Promise.all(Array.from({ length: 10 }, () => withPublishLock(root, work)));
    expect(most).toBe(1);
    await withPublishLock(root, async () => {
      await expect(withPublishLock(root, work, 30)).rejects.toMatchObject({ code: 'DATASET_LOCKED' });
    });
  });

  it('is held by one process at a time', { timeout: PROCESSES_MS }, () => {
    mkdirSync(join(root, '_staging'));
    const file = join(root, 'shared');
    writeFileSync(file, '0');
    const script = `
      import { readFileSync, writeFileSync } from 'node:fs';
      import { withPublishLock } from ${JSON.stringify(new URL('./locks.ts', import.meta.url).href)};
      for (let i = 0; i < 20; i++) await withPublishLock(${JSON.stringify(root)}, async () => {
        const value = Number(readFileSync(${JSON.stringify(file)}, 'utf8'));
        await new Promise((done) => setTimeout(done, 1));
        writeFileSync(${JSON.stringify(file)}, String(value + 1));
      });`;
    const hooks = new URL('../../../test/support/source-process.mjs', import.meta.url).href;
    const run = `${JSON.stringify(process.execPath)} --import ${hooks} --input-type=module -e "$SCRIPT"`;
    const { status, stderr } = spawnSync('sh', ['-c', `${run} & ${run} & ${run} && wait`], {
      encoding: 'utf8',
      env: { ...process.env, SCRIPT: script },
    });
    expect(stderr).toBe('');
    expect(status).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe('60');
  });
});
