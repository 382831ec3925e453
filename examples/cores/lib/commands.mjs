/** Running programs; what is out of reach has a separate class of error, so that a test can skip with the reason. */
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

export const here = dirname(dirname(fileURLToPath(import.meta.url)));
export const root = dirname(dirname(here));

export class Unavailable extends Error {}

/** What it printed on stdout. */
export function run(command, args, options = {}) {
  const done = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    timeout: 540_000,
    ...options,
  });
  if (done.error?.code === 'ENOENT') throw new Unavailable(`${command} is not installed`);
  if (done.error) throw done.error;
  if (done.status !== 0)
    throw new Error(
      `${command} ended with status ${done.status}: ${(done.stderr || done.stdout).trim().slice(0, 2000)}`,
    );
  return done.stdout;
}
