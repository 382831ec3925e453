/** `uscope config`: flags, files and directories for compilers, simulators and makefiles. */
import { type Command, Option } from 'commander';
import { UscopeError } from '../../base/errors.js';
import { io } from '../common/io.js';
import { ANSWERS, shellWords } from '../config/answers.js';
import { buildClient } from '../config/build-client.js';
import { buildKernel } from '../config/build-kernel.js';
import { LIB_VARIABLE, places } from '../config/places.js';

type ConfigOptions = Readonly<Record<string, boolean | string | undefined>>;

export function register(command: Command): void {
  command.description('Prints flags and paths for compilers, simulators and makefiles, on one line.');
  for (const [name, { what }] of Object.entries(ANSWERS)) command.addOption(new Option(`--${name}`, what));
  command
    .option(
      '--build <dir>',
      'build the client library with your C compiler (CC) and the libzmq of the system',
    )
    .option(
      '--build-kernel',
      'build the native kernel of the writer with your C compiler (CC), where no prebuilt one fits your machine',
    )
    .option(
      '--lib-dir <dir>',
      `directory with the built library; default ${LIB_VARIABLE}, then that of a clone, then the prebuilt one`,
    )
    .action((options: ConfigOptions) => config(options));
}

async function config(options: ConfigOptions): Promise<void> {
  const found = places();
  const build = typeof options.build === 'string' ? options.build : undefined;
  const libDir = typeof options.libDir === 'string' ? options.libDir : build;
  const asked = Object.entries(ANSWERS).filter(([name]) => options[camelCase(name)] === true);
  if (options.buildKernel === true) for (const line of await buildKernel()) io.err(line);
  if (build !== undefined) for (const line of await buildClient(found, build)) io.err(line);
  if (build !== undefined || options.buildKernel === true) {
    if (asked.length === 0) return;
  } else if (asked.length === 0) {
    throw new UscopeError('CLI_USAGE', 'no option given; uscope help config lists them');
  }
  io.out(`${shellWords(asked.flatMap(([, { words }]) => words({ places: found, libDir })))}\n`);
}

const camelCase = (name: string): string =>
  name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
