import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { limitOfFile, PROCESSES_MS } from '../../../../test/support/limits.js';
import { lacks } from '../../../../test/support/needs.js';
import { LockFile, locksSettled } from './lock-file.js';
import { forget, newHolder, temporaryPath } from './lock-holder.js';
import { lockedOutput } from './locked-output.js';
import { openNodeOutput } from './output-file.js';
import { isLocked, lockFilePath, lockName, lockPath } from './path-lock.js';
import { processStart } from './process-name.js';
import { removeStaleLocks } from './stale-locks.js';

// Processes are started, and end in many ways.
limitOfFile(PROCESSES_MS);

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

function directory(): string {
  const made = mkdtempSync(join(tmpdir(), 'uscope-lock-'));
  directories.push(made);
  return made;
}

/** What holders say of themselves; by default one on another machine. */
function leaveLock(path: string, said: object = {}): void {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  const own = { boot, pidns: 'pid' in said ? readlinkSync('/proc/self/ns/pid') : '' };
  const other = { token: '0badcafe', host: 'elsewhere', pid: 4711, start: '1', lease_ms: 1000 };
  writeFileSync(lockFilePath(path), JSON.stringify({ v: 1, ...other, ...own, ...said }), { mode: 0o600 });
}

describe.skipIf(lacks('Linux', process.platform === 'linux'))('the lock of a trace file', () => {
  it('is held by one at a time, whichever way leads to the file, and free again at once', async () => {
    const real = directory();
    const other = join(directory(), 'link');
    symlinkSync(real, other);
    const lock = await lockPath(join(real, 'core0.uscope'));
    await expect(lockPath(join(real, 'core0.uscope'))).rejects.toMatchObject({ code: 'WRITER_BUSY' });
    await expect(lockPath(join(other, 'core0.uscope'))).rejects.toMatchObject({ code: 'WRITER_BUSY' });
    const beside = await lockPath(join(real, 'core1.uscope'));
    lock.release();
    const again = await lockPath(join(real, 'core0.uscope'));
    again.release();
    beside.release();
  });

  it('is a file next to the trace, which is gone when it is released', async () => {
    const where = directory();
    const path = join(where, 'core0.uscope');
    const lock = await lockPath(path);
    expect(readdirSync(where)).toEqual(['.core0.uscope.lock']);
    expect(JSON.parse(readFileSync(lockFilePath(path), 'utf8'))).toMatchObject({ v: 1, pid: process.pid });
    expect(await isLocked(path)).toBe(true);
    lock.release();
    expect(readdirSync(where)).toEqual([]);
    expect(await isLocked(path)).toBe(false);
  });

  it('waits for a process that was killed and has not ended yet', async () => {
    const path = join(directory(), 'core0.uscope');
    const name = JSON.stringify(await lockName(path));
    const source = `require('net').createServer().listen(${name}, () => console.log('held'))`;
    const holder = spawn(process.execPath, ['-e', source], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => holder.stdout.once('data', resolve));
    const { pid = 0 } = holder;
    leaveLock(path, { pid, start: String(processStart(pid)) });
    await expect(lockPath(path)).rejects.toMatchObject({ code: 'WRITER_BUSY' });
    const next = lockPath(path); // asks while the holder is there or ending
    holder.kill('SIGKILL');
    await next.then(
      (lock) => lock.release(),
      async () => (await lockPath(path)).release(), // it was asked before the signal came
    );
  });

  it('ends with its process, however that ends', async () => {
    const path = join(directory(), 'core0.uscope');
    const name = JSON.stringify(await lockName(path));
    const source = `require('net').createServer().listen(${name}, () => console.log('held'))`;
    const holder = spawn(process.execPath, ['-e', source], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => holder.stdout.once('data', resolve));
    await expect(lockPath(path)).rejects.toMatchObject({ code: 'WRITER_BUSY' });
    holder.kill('SIGKILL');
    await new Promise((resolve) => holder.once('exit', resolve));
    (await lockPath(path)).release();
  });

  it('needs the directory', async () => {
    await expect(lockPath(join(directory(), 'absent', 'x'))).rejects.toMatchObject({
      code: 'WRITER_DIRECTORY',
    });
  });
});

describe.skipIf(lacks('Linux', process.platform === 'linux'))(
  'the lock file of a holder that cannot be looked at',
  () => {
    it('is respected as long as it shows signs of life', async () => {
      const path = join(directory(), 'core0.uscope');
      leaveLock(path, { lease_ms: 600_000 });
      const life = setInterval(() => utimesSync(lockFilePath(path), 1, Math.random() * 1e9), 50);
      await expect(lockPath(path)).rejects.toMatchObject({ code: 'WRITER_BUSY' });
      clearInterval(life);
      expect(existsSync(lockFilePath(path))).toBe(true);
    });

    it.each([
      ['says who it is', () => {}],
      ['says nothing', (path: string) => writeFileSync(lockFilePath(path), '')],
      ['says nonsense', (path: string) => writeFileSync(lockFilePath(path), '{"v":1,"lease_ms":1e300}')],
    ])(
      'and %s is replaced when it has shown none for its lease, by one of those that wait',
      async (_, spoil) => {
        vi.stubEnv('USCOPE_LOCK_LEASE_MS', '1000'); // of a file that does not say
        const where = directory();
        const path = join(where, 'core0.uscope');
        leaveLock(path);
        spoil(path);
        const file = lockFilePath(path);
        const started = performance.now();
        // Without the socket, as on several hosts. Their own leases are long: those that lose find one that holds it.
        const all = await Promise.allSettled(
          Array.from({ length: 8 }, () => LockFile.acquire(file, path, 600_000)),
        );
        vi.unstubAllEnvs();
        const won = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
        const lost = all.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
        expect(won).toHaveLength(1);
        expect(new Set(lost)).toEqual(new Set(['WRITER_BUSY']));
        expect(performance.now() - started).toBeGreaterThan(1000);
        expect(readdirSync(where)).toEqual(['.core0.uscope.lock']);
        won[0].release();
        expect(readdirSync(where)).toEqual([]);
      },
    );

    it('of this machine and gone is replaced at once', async () => {
      const path = join(directory(), 'core0.uscope');
      leaveLock(path, { pid: process.pid, start: '1', lease_ms: 600_000 });
      (await lockPath(path)).release();
    });

    it('of this machine and gone is removed by a daemon that starts, and every other is left', async () => {
      const where = directory();
      const dead = { pid: process.pid, start: '1' };
      leaveLock(join(where, 'dead.uscope'), dead);
      leaveLock(join(where, 'other.uscope'));
      leaveLock(join(where, 'alive.uscope'), {
        pid: process.ppid,
        start: String(processStart(process.ppid)),
      });
      leaveLock(join(where, 'aside.uscope'), dead);
      renameSync(join(where, '.aside.uscope.lock'), join(where, '.aside.uscope.lock-0badcafe.01234567'));
      writeFileSync(join(where, '.mine.lock'), 'something else');
      const lock = await lockPath(join(where, 'held.uscope'));
      await removeStaleLocks(where);
      const left = ['.alive.uscope.lock', '.held.uscope.lock', '.mine.lock', '.other.uscope.lock'];
      expect(readdirSync(where).sort()).toEqual(left);
      lock.release();
    });

    it('that was killed while it made its lock leaves an empty file, which goes too', async () => {
      const where = directory();
      const own = newHolder(1000);
      forget(own);
      const ours = temporaryPath(join(where, '.core0.uscope.lock'), own);
      const of = (pid: number, start: bigint, path = ours): string =>
        path.replace(/-[0-9a-z]+-[0-9a-z]+$/, `-${pid.toString(36)}-${start.toString(36)}`);
      const alive = of(process.ppid, processStart(process.ppid) ?? 0n);
      const elsewhere = ours.replace(/[0-9a-f]{6}-/, 'ffffff-');
      const claim = of(process.ppid, 1n).replace('.lock.', '.lock-0badcafe.');
      for (const path of [ours, of(process.ppid, 1n), claim, alive, elsewhere]) writeFileSync(path, '');
      await removeStaleLocks(where);
      expect(readdirSync(where).sort()).toEqual([alive, elsewhere].map((path) => basename(path)).sort());
    });

    it('that is ending is waited for', async () => {
      const where = directory();
      const child = spawn('sleep', ['60'], { stdio: 'ignore' });
      const { pid = 0 } = child;
      const start = String(processStart(pid));
      leaveLock(join(where, 'core0.uscope'), { pid, start });
      process.kill(pid, 'SIGKILL');
      await removeStaleLocks(where);
      expect(readdirSync(where)).toEqual([]);
    });

    it('with the longest name leaves room in it for claims', async () => {
      const where = directory();
      const path = join(where, `${'n'.repeat(200)}.uscope`);
      leaveLock(path, { pid: process.pid, start: '1' });
      (await lockPath(path)).release();
      expect(readdirSync(where)).toEqual([]);
    });

    it('and gone is taken while a daemon that starts removes it', async () => {
      for (let i = 0; i < 50; i++) {
        const where = directory();
        const path = join(where, 'core0.uscope');
        leaveLock(path, { pid: process.pid, start: '1' });
        const [lock] = await Promise.all([lockPath(path), removeStaleLocks(where)]);
        expect(readdirSync(where)).toEqual(['.core0.uscope.lock']);
        lock.release();
      }
    });

    it('of this process, from an attempt that failed, is replaced at once', async () => {
      const path = join(directory(), 'core0.uscope');
      leaveLock(path, { pid: process.pid, start: String(processStart(process.pid)), lease_ms: 600_000 });
      (await lockPath(path)).release();
    });
  },
);

describe.skipIf(lacks('Linux', process.platform === 'linux'))('a holder that was suspended', () => {
  const suspended = async (path: string): Promise<Awaited<ReturnType<typeof lockPath>>> => {
    const lock = await lockPath(path, { leaseMs: 600_000 });
    const now = Date.now();
    vi.spyOn(Date, 'now').mockReturnValue(now + 400_000); // half of its lease, and more
    return lock;
  };
  afterEach(() => void vi.restoreAllMocks());

  it('writes on when nobody has taken its place', async () => {
    const where = directory();
    const path = join(where, 'core0.uscope');
    const lock = await suspended(path);
    const file = await lockedOutput(openNodeOutput, lock)(path, 'create');
    await file.write([Buffer.from('on')], 0);
    await file.close();
    lock.release();
    expect(readdirSync(where)).toEqual(['core0.uscope']);
  });

  it('finds that another has, before it writes, and leaves the other its lock', async () => {
    const where = directory();
    const path = join(where, 'core0.uscope');
    const lock = await lockPath(path, { leaseMs: 600_000 });
    const file = await lockedOutput(openNodeOutput, lock)(path, 'create');
    await file.write([Buffer.from('mine')], 0);
    rmSync(lockFilePath(path));
    leaveLock(path);
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 400_000);
    await expect(file.write([Buffer.from('no longer')], 0)).rejects.toMatchObject({
      code: 'WRITER_LOCK_LOST',
    });
    await expect(file.truncate(0)).rejects.toMatchObject({ code: 'WRITER_LOCK_LOST' });
    await file.close();
    lock.release();
    expect(readFileSync(path, 'utf8')).toBe('mine');
    expect(readdirSync(where).sort()).toEqual(['.core0.uscope.lock', 'core0.uscope']);
  });

  it('leaves nothing behind when it is released while it looks at its lock', async () => {
    const where = directory();
    const lock = await suspended(join(where, 'core0.uscope'));
    const look = lock.check?.();
    lock.release();
    await locksSettled();
    expect(readdirSync(where)).toEqual([]);
    await Promise.allSettled([look]);
  });

  it('finds it with its next sign of life, when its clocks stood still too', async () => {
    const path = join(directory(), 'core0.uscope');
    const lock = await lockPath(path, { leaseMs: 1000 });
    rmSync(lockFilePath(path));
    leaveLock(path);
    const lost = { code: 'WRITER_LOCK_LOST' };
    const check = async (): Promise<void> => expect(async () => lock.check?.()).rejects.toMatchObject(lost);
    await vi.waitFor(check, { timeout: 60_000 });
    lock.release();
  });

  it('waits for the one that is about to take its place', async () => {
    const path = join(directory(), 'core0.uscope');
    const lock = await lockPath(path, { leaseMs: 600_000 });
    const { token } = JSON.parse(readFileSync(lockFilePath(path), 'utf8'));
    const claim = await LockFile.acquire(`${lockFilePath(path)}-${token}`, path, 600_000);
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 400_000);
    let answer = 'none';
    const late = Promise.resolve(lock.check?.()).catch(({ code }) => {
      answer = code;
    });
    await delay(100);
    expect(answer).toBe('none');
    rmSync(lockFilePath(path));
    leaveLock(path);
    claim.release();
    await late;
    expect(answer).toBe('WRITER_LOCK_LOST');
    lock.release();
  });
});
