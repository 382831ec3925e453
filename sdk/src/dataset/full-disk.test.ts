/** Exports and compactions on a disk that fills at any moment: the dataset is as before, or has the whole new run, and the next export succeeds. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { TRIES_ALL } from '../../../test/support/effort.js';
import { PROCESSES_MS } from '../../../test/support/limits.js';
import { lacks } from '../../../test/support/needs.js';
import { build, generator, record } from '../../../test/support/recorded-run.js';

const directory = mkdtempSync(join(tmpdir(), 'uscope-full-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A file system of our own, which nobody else sees. */
const OWN_MOUNTS = ['--user', '--map-root-user', '--mount'];
const canMount = ((): boolean => {
  try {
    execFileSync('unshare', [...OWN_MOUNTS, 'sh', '-c', 'mount -t tmpfs -o size=1m none /mnt'], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
})();

const HOOKS = new URL('../../../test/support/source-process.mjs', import.meta.url).href;
const WORKER = new URL('../../../test/support/full-disk-worker.ts', import.meta.url).href;

interface Tried {
  readonly freeKb: number;
  /** Rows before, after the attempt, and when there was room again. */
  readonly before: string;
  readonly after: string;
  readonly last: string;
  readonly error: { readonly code: string; readonly detail: string } | null;
  /** Names in `_staging` after the attempt. */
  readonly left: readonly string[];
  readonly problems: readonly unknown[];
}

function tried(job: object): Tried[] {
  const small = join(directory, 'small');
  mkdirSync(small, { recursive: true });
  const script = `import { work } from ${JSON.stringify(WORKER)}; await work(${JSON.stringify({ ...job, small })});`;
  const { status, stdout, stderr } = spawnSync(
    'unshare',
    [
      ...OWN_MOUNTS,
      'sh',
      '-c',
      'mount -t tmpfs -o size=24m none "$1" && shift && exec "$@"',
      'sh',
      small,
      process.execPath,
      ...['--import', HOOKS, '--input-type=module', '-e', script],
    ],
    { encoding: 'utf8', env: { ...process.env, TMPDIR: directory }, timeout: 4 * PROCESSES_MS },
  );
  expect(status, stderr).toBe(0);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** An export of these runs needs a little more than 100 kB. */
const freeKbs = (step: number): number[] =>
  Array.from({ length: 40 }, (_, index) => index * 4).filter(
    (_, index) => index % (TRIES_ALL ? 3 : step) === 0,
  );

function trace(name: string, cycles: number): string {
  const path = join(directory, name, 'core0.uscope');
  mkdirSync(join(directory, name), { recursive: true });
  writeFileSync(path, build(record(generator(cycles), cycles).frames, 20));
  return path;
}

it.skipIf(lacks('a user namespace with mounts', canMount))(
  'an export on a full disk leaves the run before, or the new one',
  { timeout: 5 * PROCESSES_MS },
  () => {
    const traces = [trace('a', 60), trace('b', 90)];
    const all = freeKbs(20);
    // With much room there is an export that succeeds.
    const results = tried({ does: 'export', traces, freeKbs: [...all, 8000] });
    expect(results).toHaveLength(all.length + 1);
    for (const { freeKb, before, after, last, error, left, problems } of results) {
      const where = `${freeKb} kB: ${error?.code} ${error?.detail}`;
      if (error === null) expect(after, where).toBe(last);
      else {
        expect(['DATASET_WRITE', 'WRITER_DISK_FULL'], where).toContain(error.code);
        expect(error.detail, where).toContain('free some space');
        if (!error.detail.includes('the next export or query does that')) expect(after, where).toBe(before);
      }
      expect([before, last], where).toContain(after);
      expect(before, where).not.toBe(last);
      expect(left, where).toEqual([]);
      expect(problems, where).toEqual([]);
    }
    expect(results[0]?.error).not.toBeNull();
    expect(results.at(-1)?.error).toBeNull();
  },
);

it.skipIf(lacks('a user namespace with mounts', canMount))(
  'joining files on a full disk loses nothing',
  { timeout: 5 * PROCESSES_MS },
  () => {
    const traces = [trace('c', 60), trace('d', 90), trace('e', 75)];
    const all = freeKbs(20);
    const results = tried({ does: 'compact', traces, freeKbs: [...all, 8000] });
    for (const { freeKb, before, after, last, error, problems } of results) {
      const where = `${freeKb} kB: ${error?.code} ${error?.detail}`;
      if (error !== null) {
        expect(['DATASET_WRITE', 'WRITER_DISK_FULL'], where).toContain(error.code);
        expect(error.detail, where).toContain('free some space');
      }
      expect(after, where).toBe(before);
      expect(last, where).toBe(before);
      expect(problems, where).toEqual([]);
    }
    expect(results[0]?.error).not.toBeNull();
    expect(results.at(-1)?.error).toBeNull();
  },
);

it.skipIf(lacks('a user namespace with mounts', canMount))(
  'a dataset that cannot be made says that the disk is full',
  { timeout: 3 * PROCESSES_MS },
  () => {
    const results = tried({ does: 'create', traces: [trace('f', 60)], freeKbs: [...freeKbs(20), 8000] });
    for (const { freeKb, error } of results.slice(0, -1)) {
      if (error === null) continue;
      expect(['DATASET_WRITE', 'WRITER_DISK_FULL'], `${freeKb} kB: ${error.detail}`).toContain(error.code);
      expect(error.detail).toContain('free some space');
    }
    expect(results[0]?.error).not.toBeNull();
    expect(results.at(-1)?.error).toBeNull();
  },
);
