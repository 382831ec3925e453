/** What the tests of full disks run in a small file system: it leaves some room, tries, frees all, and prints what became of it. */
import { readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isUscopeError } from '../../sdk/src/base/errors.js';
import { checkDataset, compactDataset, exportOneRun } from '../../sdk/src/dataset/index.js';
import { questions, theEngine } from './dataset-rows.js';

interface Job {
  readonly does: 'export' | 'compact' | 'create';
  /** Of `create`: one; of `export`: that of before, and the one that replaces it; of `compact`: one of each run. */
  readonly traces: readonly string[];
  readonly freeKbs: readonly number[];
  readonly small: string;
}

const TABLES = ['traces', 'instructions', 'counters', 'stalls', 'events'] as const;

const request = (run: string, file: string) => ({
  ...{ run, files: [file], tables: TABLES, window: 10, tags: {}, replace: true },
});

export async function work({ does, traces, freeKbs, small }: Job): Promise<void> {
  const root = join(small, 'dataset');
  for (const freeKb of freeKbs) {
    rmSync(root, { recursive: true, force: true });
    if (does === 'create') {
      fill(small, freeKb);
      const error = await exportOneRun(root, request('r0', traces[0]!)).then(() => null, coded);
      rmSync(join(small, 'filler'));
      console.log(JSON.stringify({ freeKb, error }));
      continue;
    }
    const runs = does === 'export' ? traces.slice(0, 1) : traces;
    for (const [index, trace] of runs.entries()) await exportOneRun(root, request(`r${index}`, trace));
    const act = async (): Promise<unknown> =>
      does === 'export'
        ? exportOneRun(root, request('r0', traces[1]!))
        : compactDataset(await theEngine(), root);
    const before = await rowsOf(root);
    fill(small, freeKb);
    const error = await act().then(() => null, coded);
    // A question needs no room on this disk.
    const after = await rowsOf(root);
    const left = readdirSync(join(root, '_staging')).filter((name) => /~[0-9a-f]{16}$/.test(name));
    rmSync(join(small, 'filler'));
    const { problems } = await checkDataset(await theEngine(), root);
    await act();
    const last = await rowsOf(root);
    console.log(JSON.stringify({ freeKb, before, after, last, error, left, problems }));
  }
}

const coded = (error: unknown): { code: string; detail: string } =>
  isUscopeError(error) ? { code: error.code, detail: error.detail } : { code: 'none', detail: String(error) };

/** Leaves that much room. */
function fill(small: string, freeKb: number): void {
  const { bavail, bsize } = statfsSync(small);
  writeFileSync(join(small, 'filler'), Buffer.alloc(Math.max(0, bavail * bsize - freeKb * 1024), 1));
}

async function rowsOf(root: string): Promise<string> {
  const asked = await questions(root);
  const counts = TABLES.map((table) => `(select count(*) from ${table})`);
  const [row] = await asked.ask(`select ${counts.join(', ')}`);
  await asked.close();
  return String(row);
}
