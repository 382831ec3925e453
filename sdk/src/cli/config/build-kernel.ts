/** `uscope config --build-kernel`: the writer's inner loops as machine code, where no prebuilt ones are for this machine. */
import { join } from 'node:path';
import { execa } from 'execa';
import { UscopeError } from '../../base/errors.js';
import { COMPILER, checkNeeds, lastLines, MAKE } from './build-needs.js';
import { PACKAGE } from './places.js';

/**
 * In the package, where Node finds it.
 * @returns lines for the user
 * @throws UscopeError ENV_MISSING
 */
export async function buildKernel(): Promise<string[]> {
  const compiler = process.env.CC || 'cc';
  await checkNeeds(compiler, [MAKE, COMPILER]);
  const directory = join(PACKAGE, 'kernel/native');
  const headers = join(PACKAGE, 'share/node-api');
  const made = await execa('make', ['-C', directory, `HEADERS=${headers}`, `CC=${compiler}`, 'all'], {
    reject: false,
    all: true,
  });
  const file = join(directory, 'build/kernel.node');
  if (made.exitCode === 0) return [`built ${file}`];
  throw new UscopeError('ENV_MISSING', `the kernel cannot be built:\n${lastLines(made.all ?? '')}`, { file });
}
