/** `uscope config --build DIR`: the client library from its sources, with the user's compiler and the system's libzmq. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { UscopeError } from '../../base/errors.js';
import { makeDirectories } from '../../writer/output/directories.js';
import { ioError } from '../../writer/output/output-file.js';
import { COMPILER, checkNeeds, lastLines, MAKE, ZMQ } from './build-needs.js';
import type { Places } from './places.js';

/**
 * @returns lines for the user: what was built, and what was not
 * @throws UscopeError ENV_MISSING with all that is missing, before anything is built; with the compiler's message; WRITER_DIRECTORY
 */
export async function buildClient({ client }: Places, directory: string): Promise<string[]> {
  const compiler = process.env.CC || 'cc';
  await checkNeeds(compiler, [MAKE, COMPILER, ZMQ]);
  const target = resolve(directory);
  await makeDirectories(target).catch((error: unknown) => {
    throw ioError(error, target);
  });
  const made = await execa('make', ['-C', client, `B=${target}`, '-j2', 'all'], { reject: false, all: true });
  if (made.exitCode !== 0) {
    throw new UscopeError(
      'ENV_MISSING',
      `the client library cannot be built:\n${lastLines(made.all ?? '')}`,
      {
        file: target,
      },
    );
  }
  const hasDpi = existsSync(join(target, 'libuscope_dpi.a'));
  return [
    `built in ${target}: libuscope${hasDpi ? ' and libuscope_dpi' : ''}`,
    ...(hasDpi
      ? []
      : [
          'libuscope_dpi was left out, since no svdpi.h was found: install Verilator, or set SVDPI_INC to the directory of your simulator that has it',
        ]),
  ];
}
