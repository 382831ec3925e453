import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { PROCESSES_MS } from '../../../test/support/limits.js';
import { type RunRecord, recordPath } from './layout.js';
import { completeRuns, partsOf, removeRun, StagedRun } from './publish.js';
import { withPublishLock } from './publish-lock.js';

const directory = mkdtempSync(join(tmpdir(), 'uscope-publish-'));
const DEAD_PID = 2 ** 22 + 1; // above the largest that Linux gives
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
    const part = await staged.partOf(table, 'core0', table === 'events' ? 'stall' : undefined);
    writeFileSync(join(part, 'part-0.parquet'), text);
  }
  return staged;
}

/** The same name, as a process that has died would have given it. */
function orphaned({ path }: StagedRun): string {
  const fields = path.split('~');
  const dead = [...fields.slice(0, 3), DEAD_PID, 0, fields[5]].join('~');
  renameSync(path, dead);
  return dead;
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

  it('of another machine is left alone as long as it is heard of', async () => {
    mkdirSync(join(root, '_staging'));
    const name = 'r~0000000000~elsewhere~1~0~00000000';
    const path = join(root, '_staging', name);
    mkdirSync(path);
    await expect(StagedRun.begin(root, 'r')).rejects.toMatchObject({ code: 'DATASET_LOCKED' });
    const past = new Date(Date.now() - 3_600_000);
    utimesSync(path, past, past);
    await (await StagedRun.begin(root, 'r')).abandon();
    expect(stagedRuns()).toEqual([]);
  });

  it('of a process whose number another one has now is that of a dead one', async () => {
    mkdirSync(join(root, '_staging', `r~0000000000~${hostname()}~${process.pid}~1~00000000`), {
      recursive: true,
    });
    await completeRuns(root);
    expect(stagedRuns()).toEqual([]);
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
    await Promise.all(
      Array.from({ length: 20 }, () =>
        withPublishLock(root, async () => {
          most = Math.max(most, ++inside);
          await new Promise((done) => setTimeout(done, 1));
          inside--;
        }),
      ),
    );
    expect(most).toBe(1);
    expect(readdirSync(join(root, '_staging'))).toHaveLength(1);
  });

  it('is held by one process at a time', { timeout: PROCESSES_MS }, () => {
    mkdirSync(join(root, '_staging'));
    const file = join(root, 'shared');
    writeFileSync(file, '0');
    const script = `
      import { readFileSync, writeFileSync } from 'node:fs';
      import { withPublishLock } from ${JSON.stringify(new URL('./publish-lock.ts', import.meta.url).href)};
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

  it('of a dead process is taken over; one that is held for too long is an error', async () => {
    const staging = join(root, '_staging');
    mkdirSync(staging);
    writeFileSync(join(staging, 'lock-7'), JSON.stringify({ host: hostname(), pid: DEAD_PID, started: 0 }));
    expect(await withPublishLock(root, async () => readdirSync(staging))).toEqual(['lock-8']);
    writeFileSync(
      join(staging, 'lock-9'),
      JSON.stringify({ host: hostname(), pid: process.pid, started: 0 }),
    );
    await expect(withPublishLock(root, async () => {}, 30)).rejects.toMatchObject({ code: 'DATASET_LOCKED' });
    expect(dirname(join(staging, 'lock-9'))).toBe(staging);
  });
});
