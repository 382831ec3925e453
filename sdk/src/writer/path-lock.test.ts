import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { lockName, lockPath } from './path-lock.js';

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

function directory(): string {
  const made = mkdtempSync(join(tmpdir(), 'uscope-lock-'));
  directories.push(made);
  return made;
}

describe.skipIf(process.platform !== 'linux')('the lock of a trace file', () => {
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
