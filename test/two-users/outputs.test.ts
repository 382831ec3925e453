/** What another user of the machine can read of what is derived from a private trace, and where a planted link leads. */
import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
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

// Every verb that writes is started as a process, for several users.
limitOfFile(PROCESSES_MS);

const ROOT: User = { name: 'root', uid: 0, gid: 0 };
const NOBODY: User = { name: 'nobody', uid: 65_534, gid: 65_534 };
const SCHEMA = 'uscope: 1\nclocks: {clk: 1 ns}\nstorages: {x: {slots: 1, kind: dense, fields: {a: u8}}}\n';

/** Verb and its words; the output is the last one, or the one named. */
const VERBS: readonly [args: readonly string[], output: string][] = [
  [['slice', 'a.uscope', '-o', 'slice.uscope'], 'slice.uscope'],
  [['merge', 'a.uscope', 'b.uscope', '-o', 'merge.uscope'], 'merge.uscope'],
  [['recover', 'a.uscope', '-o', 'recovered.uscope'], 'recovered.uscope'],
  [['convert', 'a.uscope', '-o', 'a.vcd'], 'a.vcd'],
  [['stats', 'a.uscope', '--html', 'page.html'], 'page.html'],
  [['codegen', 'schema.yaml', '--c', '-o', 'core.h'], 'core.h'],
  [['view', 'a.uscope', '--export', 'site'], 'site/a.uscope'],
  [['index', 'a.uscope'], 'a.uscope.idx'],
];
const INPUTS = ['a.uscope', 'b.uscope', 'schema.yaml'];

let directory: string;
const at = (name: string): string => join(directory, name);
const trace = build(record(generator(3), 300).frames, 40);

describe.skipIf(lacks(`${whyNoSecondUser}`, whyNoSecondUser === null))('outputs and other users', () => {
  beforeAll(() => buildSdk());
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'uscope-outputs-'));
    // As /tmp: everybody makes files, and moves only the own ones.
    chmodSync(directory, 0o1777);
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  function give(user: User, mode: number): void {
    for (const name of INPUTS) {
      writeFileSync(at(name), name.endsWith('.yaml') ? SCHEMA : trace);
      chmodSync(at(name), mode);
      chownSync(at(name), user.uid, user.gid);
    }
  }

  const run = (user: User, args: readonly string[]) => runCliAs(user, args, { cwd: directory });

  const owners: readonly [string, () => User, () => User, number][] = [
    ['root', () => ROOT, secondUser, 0o600],
    ['another user', secondUser, () => NOBODY, 0o640],
    ['root', () => ROOT, secondUser, 0o640],
  ];
  it.each(someOf(2, owners))(
    'what %s derives from a private trace is read by nobody else',
    async (_, owner, other, mode) => {
      give(owner(), mode);
      for (const [args] of VERBS) {
        const { status, stderr } = await run(owner(), args);
        expect(status, `${args.join(' ')}: ${stderr}`).toBe(0);
      }
      const readable = (await runAs(other(), 'find', [directory, '-type', 'f', '-readable'])).stdout;
      // The page itself is the same for every trace.
      const derived = readable.split('\n').filter((path) => path !== '' && !isPage(path));
      expect(derived).toEqual([]);
      for (const [, output] of VERBS) expect(statSync(at(output)).mode & 0o777, output).toBe(mode);
    },
  );

  const isPage = (path: string): boolean => path.startsWith(at('site/')) && !path.endsWith('.uscope');

  it('an index that somebody else has put next to a trace is not believed, and replaced', async () => {
    give(ROOT, 0o644);
    expect((await run(ROOT, ['index', 'a.uscope'])).status).toBe(0);
    expect((await run(ROOT, ['stats', 'a.uscope'])).stderr).toBe('');
    const { uid, gid } = secondUser();
    chownSync(at('a.uscope.idx'), uid, gid);
    expect((await run(ROOT, ['stats', 'a.uscope'])).stderr).toContain(`it belongs to user ${uid}`);
    expect((await run(ROOT, ['index', 'a.uscope'])).stdout).toContain('a.uscope.idx: 8 segments');
    expect(statSync(at('a.uscope.idx')).uid).toBe(0);
  });

  it('what root derives from the trace of a user belongs to the user', async () => {
    const user = secondUser();
    give(user, 0o600);
    for (const [args, output] of VERBS) {
      expect((await run(ROOT, args)).status, args.join(' ')).toBe(0);
      expect(statSync(at(output)), output).toMatchObject({ uid: user.uid, gid: user.gid });
    }
  });

  it.each([
    ['root', () => ROOT, secondUser],
    ['another user', secondUser, () => NOBODY],
  ])('a link that is planted at an output of %s is not followed', async (_, owner, other) => {
    give(owner(), 0o600);
    writeFileSync(at('precious'), 'precious');
    chownSync(at('precious'), owner().uid, owner().gid);
    const names = VERBS.map(([, output]) => output).filter((output) => !output.includes('/'));
    for (const name of [...names, 'a.uscope.idx.part'])
      expect((await runAs(other(), 'ln', ['-s', at('precious'), at(name)])).status).toBe(0);
    for (const [args] of VERBS) {
      const { status, stderr } = await run(owner(), [...args, '--force']);
      // In a directory of others a user cannot replace their links; root can.
      const isRefused = status === 1 && /^uscope: .*WRITER_\w+: /m.test(stderr);
      expect(status === 0 || isRefused, `${args.join(' ')}: ${stderr}`).toBe(true);
    }
    expect(readFileSync(at('precious'), 'utf8')).toBe('precious');
    expect(readdirSync(directory).filter((name) => /^\..*\.tmp$/.test(name))).toEqual([]);
  });
});
