/** What another user of the machine can do to a daemon and its files. */
import { existsSync, rmSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { limitOfFile, PROCESSES_MS } from '../support/limits.js';
import { lacks } from '../support/needs.js';
import { buildSdk } from '../support/processes.js';
import {
  privateDirectory,
  runAs,
  runCliAs,
  secondUser,
  type User,
  whyNoSecondUser,
} from '../support/second-user.js';

// Processes are started, and waited for.
limitOfFile(PROCESSES_MS);

const directories: string[] = [];
const directoryOf = (user: User): string => {
  const path = privateDirectory(user);
  directories.push(path);
  return path;
};
afterEach(() => {
  for (const path of directories.splice(0)) rmSync(path, { recursive: true, force: true });
});

describe.skipIf(lacks(`${whyNoSecondUser}`, whyNoSecondUser === null))('a second user', () => {
  it('is somebody else, who runs the command and may not enter a private directory', async () => {
    buildSdk();
    const user = secondUser();
    expect((await runAs(user, 'id', ['-un'])).stdout.trim()).toBe(user.name);
    expect((await runCliAs(user, ['--version'])).status).toBe(0);
    const own = directoryOf({ name: 'root', uid: 0, gid: 0 });
    expect(existsSync(own)).toBe(true);
    expect((await runAs(user, 'ls', [own])).stderr).toContain('Permission denied');
    expect((await runAs(user, 'ls', [directoryOf(user)])).status).toBe(0);
  });
});
