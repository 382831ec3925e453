/** The file in which a daemon says how it is found: what cannot be said keeps nothing from running. */
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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

it('is believed only where no other user can have written it', async () => {
  const path = join(directory, 'shared');
  const { withdraw } = await announced(path);
  const [name = ''] = readdirSync(path);
  const refused = () => {
    const reasons: string[] = [];
    expect(findDaemons(path, ({ message }) => reasons.push(message))).toEqual([]);
    return reasons;
  };
  chmodSync(join(path, name), 0o666);
  expect(refused()).toEqual([expect.stringContaining('READER_UNTRUSTED: others may write it (mode 0666)')]);
  withdraw();
  symlinkSync('/etc/hostname', join(path, name));
  expect(refused()).toEqual([expect.stringContaining('it is a symbolic link')]);
});

it('is not written through a link that another user left under the name of a temporary file', async () => {
  const path = join(directory, 'planted');
  const { withdraw } = await announced(path);
  withdraw();
  const precious = join(directory, 'precious');
  writeFileSync(precious, 'precious');
  symlinkSync(precious, join(path, `.uscope-daemon.${process.pid}.json`));
  const again = await announced(path);
  expect(again.troubles).toEqual([]);
  expect(findDaemons(path)).toHaveLength(1);
  expect(readFileSync(precious, 'utf8')).toBe('precious');
  again.withdraw();
});
