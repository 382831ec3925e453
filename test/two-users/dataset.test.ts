/** Tables that another user planted beside a trace or in a dataset, and who can read tables of a private trace. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { someOf } from '../support/effort.js';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { lacks } from '../support/needs.js';
import { buildSdk } from '../support/processes.js';
import { build, generator, record } from '../support/recorded-run.js';
import { runAs, runCliAs, secondUser, type User, whyNoSecondUser } from '../support/second-user.js';

// Processes of several users, with the database engine.
limitOfFile(PROCESSES_MS);

const ROOT: User = { name: 'root', uid: 0, gid: 0 };
const NOBODY: User = { name: 'nobody', uid: 65_534, gid: 65_534 };
/** Whose trace it is, and who else is on the machine. */
const PAIRS: [string, () => User, () => User, readonly number[]][] = [
  ['root', () => ROOT, secondUser, [0o600, 0o640]],
  ['another user', secondUser, () => NOBODY, [0o640, 0o600]],
];
const COUNT = 'select count(*) as n from instructions';

const [right, wrong] = [60, 90].map((cycles) => build(record(generator(cycles), cycles).frames, 20)) as [
  Uint8Array,
  Uint8Array,
];
let directory: string;
const at = (...names: string[]): string => join(directory, ...names);

describe.skipIf(lacks(`${whyNoSecondUser}`, whyNoSecondUser === null))('datasets and other users', () => {
  beforeAll(() => buildSdk());
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'uscope-dataset-'));
    // As /tmp: everybody makes files, and moves only the own ones.
    chmodSync(directory, 0o1777);
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  function give({ uid, gid }: User, path: string, mode: number, bytes: Uint8Array = right): void {
    writeFileSync(path, bytes);
    chmodSync(path, mode);
    chownSync(path, uid, gid);
  }

  /** A directory of a user. */
  function own({ uid, gid }: User, path: string, mode: number): string {
    mkdirSync(path);
    chmodSync(path, mode);
    chownSync(path, uid, gid);
    return path;
  }

  const run = (user: User, ...args: string[]) =>
    runCliAs(user, args, { cwd: directory, env: { TMPDIR: directory } });

  async function answer(user: User, source: string): Promise<{ n: number; stderr: string }> {
    const { status, stdout, stderr } = await run(user, 'sql', source, COUNT, '--jsonl');
    expect(status, stderr).toBe(0);
    return { n: JSON.parse(stdout).n, stderr };
  }

  /** Files of a directory with their modes. */
  const filesBelow = (path: string): [string, number][] =>
    readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => [file, statSync(file).mode & 0o777]);

  describe.each(PAIRS)('a trace of %s', (_, owner, other, modes) => {
    it.each(someOf(1, modes))('of mode %o: its tables are read by nobody else', async (mode) => {
      own(owner(), at('runs'), 0o755);
      give(owner(), at('runs/a.uscope'), mode);
      give(owner(), at('b.uscope'), mode);
      await answer(owner(), 'runs/a.uscope');
      for (const words of [
        ['export', 'runs/a.uscope', '-o', 'dataset', '--run', 'a'],
        ['export', 'b.uscope', '-o', 'dataset', '--run', 'b'],
        ['sql', 'dataset', 'from instructions', '-o', 'rows.parquet'],
        ['sql', 'runs/a.uscope', 'from instructions', '-o', 'traced.parquet'],
        ['dataset', 'compact', 'dataset'],
      ]) {
        const { status, stderr } = await run(owner(), ...words);
        expect(status, `${words.join(' ')}: ${stderr}`).toBe(0);
      }
      const readable = (await runAs(other(), 'find', [directory, '-type', 'f', '-readable'])).stdout;
      expect(readable).toBe('');
      const derived = [...filesBelow(at('dataset')), ...filesBelow(at('runs/.uscope-sql'))];
      expect(derived.length).toBeGreaterThan(20);
      const ofParquet = derived.filter(([path]) => path.endsWith('.parquet'));
      expect([...new Set(ofParquet.map(([, one]) => one))]).toEqual([mode]);
      for (const name of ['rows.parquet', 'traced.parquet'])
        expect(statSync(at(name)).mode & 0o777).toBe(mode);
      expect(derived.filter(([, one]) => (one & 0o027) !== 0)).toEqual([]);
    });

    it('a link in the place of the tables leads nowhere, and neither does one below', async () => {
      const traces = own(owner(), at('runs'), 0o1777);
      give(owner(), join(traces, 'a.uscope'), 0o644);
      const precious = own(owner(), at('precious'), 0o755);
      symlinkSync(precious, join(traces, '.uscope-sql'));
      const first = await answer(owner(), 'runs/a.uscope');
      expect(first.stderr).toMatch(/READER_UNTRUSTED: .*not an ordinary file or directory/);
      rmSync(join(traces, '.uscope-sql'));
      own(owner(), join(traces, '.uscope-sql'), 0o755);
      symlinkSync(precious, join(traces, '.uscope-sql/runs'));
      expect((await answer(owner(), 'runs/a.uscope')).stderr).toContain('READER_UNTRUSTED');
      expect(readdirSync(precious)).toEqual([]);
    });
  });

  // Root may do everything: only what it refuses to believe keeps it from harm.
  describe.each(someOf(1, PAIRS))('tables that %s finds', (_, owner, other) => {
    it('tables that somebody else planted are not believed', async () => {
      const traces = own(owner(), at('runs'), 0o1777);
      give(owner(), join(traces, 'a.uscope'), 0o644);
      const theirs = own(other(), at('theirs'), 0o755);
      give(other(), join(theirs, 'a.uscope'), 0o644, wrong);
      expect(
        (await run(other(), 'export', 'theirs/a.uscope', '--run', 'runs', '-o', 'runs/.uscope-sql/runs'))
          .status,
      ).toBe(0);
      await runAs(other(), 'chmod', ['-R', 'a+rwX', join(traces, '.uscope-sql')]);
      // The planted record says that it was made of this very trace.
      const planted = join(traces, '.uscope-sql/runs/_runs/runs.json');
      const { size, mtimeMs } = statSync(join(traces, 'a.uscope'));
      const record = JSON.parse((await runAs(ROOT, 'cat', [planted])).stdout);
      record.sources = [{ path: join(traces, 'a.uscope'), bytes: size, modifiedMs: Math.floor(mtimeMs) }];
      writeFileSync(planted, JSON.stringify(record));
      const { n: expected } = await answer(other(), 'theirs/a.uscope');
      const { n, stderr } = await answer(owner(), 'runs/a.uscope');
      expect(stderr).toMatch(
        /note: READER_UNTRUSTED: .*\.uscope-sql is not used: it belongs to user \d+.*temporary/,
      );
      expect(n).not.toBe(expected);
      rmSync(join(traces, '.uscope-sql'), { recursive: true });
      expect((await answer(owner(), 'runs/a.uscope')).n).toBe(n);
    });

    it('a dataset of somebody else is read, and nothing in it is moved, removed or written', async () => {
      give(owner(), at('a.uscope'), 0o644);
      const theirs = own(other(), at('theirs'), 0o755);
      give(other(), join(theirs, 'a.uscope'), 0o644);
      expect((await run(other(), 'export', 'theirs/a.uscope', '-o', 'dataset', '--run', 'r')).status).toBe(0);
      const precious = own(owner(), at('precious'), 0o755);
      writeFileSync(join(precious, 'run=r'), 'kept');
      // What a killed process left: it would take away what the link leads to.
      const staged = own(other(), at('dataset/_staging/r~0123456789abcdef'), 0o777);
      symlinkSync(precious, at('dataset/stages.new'));
      const commit = {
        run: 'r',
        record: null,
        moved: [],
        removed: ['stages.new/run=r', 'instructions/run=r'],
      };
      writeFileSync(join(staged, 'commit.json'), JSON.stringify(commit));
      chownSync(join(staged, 'commit.json'), other().uid, other().gid);
      expect((await answer(owner(), 'dataset')).n).toBeGreaterThan(0);
      for (const action of ['ls', 'check', 'stats']) await run(owner(), 'dataset', action, 'dataset');
      for (const words of [
        ['export', 'a.uscope', '--run', 's', '-o', 'dataset'],
        ['dataset', 'rm', 'dataset', 'r'],
        ['dataset', 'compact', 'dataset'],
      ]) {
        const { status, stderr } = await run(owner(), ...words);
        expect([status, stderr], words.join(' ')).toEqual([1, expect.stringContaining('READER_UNTRUSTED')]);
      }
      expect(existsSync(join(precious, 'run=r'))).toBe(true);
      expect(existsSync(at('dataset/instructions/run=r'))).toBe(true);
      expect(existsSync(join(staged, 'commit.json'))).toBe(true);
    });
  });
});
