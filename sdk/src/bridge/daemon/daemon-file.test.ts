/** Where a daemon says how it is found: what cannot be said keeps nothing from running. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { announceDaemon, findDaemons } from './daemon-file.js';

const directory = mkdtempSync(join(tmpdir(), 'uscope-daemon-file-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const announced = async (path: string): Promise<{ withdraw: () => void; troubles: string[] }> => {
  const troubles: string[] = [];
  return { withdraw: await announceDaemon(path, 'ipc:///x', true, (why) => troubles.push(why)), troubles };
};

it('is in a directory that it makes, until it is withdrawn', async () => {
  const path = join(directory, 'deep/out');
  const { withdraw, troubles } = await announced(path);
  expect(troubles).toEqual([]);
  expect(findDaemons(path)).toMatchObject([{ endpoint: 'ipc:///x', pid: process.pid, needsKeys: true }]);
  withdraw();
  expect(findDaemons(path)).toEqual([]);
});

it('is not there where no directory can be made: the reason is reported, and nothing waits', async () => {
  const { withdraw, troubles } = await announced('/proc/uscope/out');
  expect(troubles).toEqual([expect.stringMatching(/will not find this daemon by its directory: ENOENT/)]);
  withdraw();
});
