/**
 * A second user of the machine, for tests of who may read, write and connect to what. Root creates it when the first test asks; it is removed when the
 * process of the tests has ended.
 */
import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BIN } from './processes.js';

export interface User {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

export interface AsUserOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly timeoutMs?: number;
}

export interface AsUserResult {
  /** null: ended by a signal. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const PREFIX = 'uscope-test-';
const TIMEOUT_MS = 60_000;
/** Another test may be changing the list of users. */
const TRIES = 100;
const RETRY_MS = 100;
const NOBODY = 65_534;

/** Why there is no second user here; null: there is one. */
export const whyNoSecondUser: string | null = findReason();

function findReason(): string | null {
  if (process.getuid?.() !== 0) return 'root, who creates a second user';
  if (spawnSync('useradd', ['--help']).error) return 'useradd';
  const asNobody = { uid: NOBODY, gid: NOBODY, cwd: '/' };
  const { status } = spawnSync(
    process.execPath,
    ['--eval', `require('node:fs').readFileSync('${BIN}')`],
    asNobody,
  );
  return status === 0 ? null : 'a clone and a Node.js that other users may read';
}

let made: User | null = null;

/** Made at the first call. */
export function secondUser(): User {
  made ??= createUser();
  return made;
}

function createUser(): User {
  const name = `${PREFIX}${process.pid}`;
  changeUsers([
    'useradd',
    '--system',
    '--no-create-home',
    '--home-dir',
    '/nonexistent',
    '--user-group',
    name,
  ]);
  // A process of tests may be killed, so another one removes the user when it is gone.
  const remove = `tail --pid=${process.pid} -f /dev/null; userdel ${name}`;
  spawn('sh', ['-c', remove], { detached: true, stdio: 'ignore' }).unref();
  const [uid = 0, gid = 0] = ['-u', '-g'].map((flag) => Number(spawnSync('id', [flag, name]).stdout));
  if (!(uid > 0 && gid > 0)) throw new Error(`the user ${name} was not created`);
  return { name, uid, gid };
}

function changeUsers([program = '', ...args]: readonly string[]): void {
  for (let tries = TRIES; ; tries--) {
    const { status, stderr }: SpawnSyncReturns<string> = spawnSync(program, args, { encoding: 'utf8' });
    if (status === 0) return;
    if (tries === 0 || !stderr.includes('lock')) throw new Error(`${program}: ${stderr}`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
  }
}

/** Runs a program as a user, who is in no group but the own one. */
export function runAs(
  { uid, gid, name }: User,
  command: string,
  args: readonly string[],
  { cwd = '/', env = {}, input = '', timeoutMs = TIMEOUT_MS }: AsUserOptions = {},
): Promise<AsUserResult> {
  return new Promise((resolve, reject) => {
    const child = spawn('setpriv', [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', command, ...args], {
      cwd,
      env: { PATH: process.env.PATH, HOME: '/nonexistent', USER: name, LOGNAME: name, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, stdout, stderr }));
    // A program that does not read its input may have ended already.
    child.stdin.on('error', () => {}).end(input);
  });
}

/** Runs the built `uscope` as a user. */
export function runCliAs(
  user: User,
  args: readonly string[],
  options?: AsUserOptions,
): Promise<AsUserResult> {
  return runAs(user, process.execPath, [BIN, ...args], options);
}

/** A new directory that only the user may enter. The caller removes it. */
export function privateDirectory({ uid, gid }: User): string {
  const path = mkdtempSync(join(tmpdir(), 'uscope-user-'));
  chownSync(path, uid, gid);
  return path;
}
