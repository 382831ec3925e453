/** `uscope config --build` where no library can be: before the compiler runs. */
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { lacks } from '../../../../test/support/needs.js';
import { buildClient } from './build-client.js';
import { places } from './places.js';

const canBuild =
  spawnSync('sh', ['-c', 'cc --version && make --version && pkg-config --exists libzmq']).status === 0;

it.skipIf(lacks('cc, make and libzmq', canBuild))('names the directory that cannot be made', async () => {
  const built = buildClient(places(), '/proc/uscope/lib');
  await expect(built).rejects.toMatchObject({
    code: 'WRITER_DIRECTORY',
    place: { file: '/proc/uscope/lib' },
  });
});
