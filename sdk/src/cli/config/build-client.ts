/** `uscope config --build DIR`: the client library from its sources, with the user's compiler and the system's libzmq. */
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { UscopeError } from '../../base/errors.js';
import type { Places } from './places.js';

/** What a build needs, with how to look for it, and Debian's and Red Hat's package. */
interface Need {
  readonly what: string;
  readonly packages: readonly [debian: string, redHat: string];
  isThere(compiler: string): Promise<boolean>;
}

const succeeds = async (command: string, args: readonly string[], input = ''): Promise<boolean> =>
  (await execa(command, args, { reject: false, input, timeout: 30_000 })).exitCode === 0;

const compiles = (compiler: string, program: string, args: readonly string[] = []): Promise<boolean> =>
  succeeds(compiler, ['-x', 'c', '-', '-o', '/dev/null', ...args], program);

const NEEDS: readonly Need[] = [
  { what: 'make', packages: ['make', 'make'], isThere: () => succeeds('make', ['--version']) },
  {
    what: 'a C compiler',
    packages: ['gcc', 'gcc'],
    isThere: (compiler) => compiles(compiler, 'int main(void) { return 0; }\n'),
  },
  {
    what: 'libzmq with its header zmq.h',
    packages: ['libzmq3-dev', 'zeromq-devel'],
    isThere: (compiler) =>
      compiles(compiler, '#include <zmq.h>\nint main(void) { return zmq_errno(); }\n', ['-lzmq']),
  },
];

/**
 * @returns lines for the user: what was built, and what was not
 * @throws UscopeError ENV_MISSING with all that is missing, before anything is built; with the compiler's message
 */
export async function buildClient({ client }: Places, directory: string): Promise<string[]> {
  const compiler = process.env.CC || 'cc';
  await checkNeeds(compiler);
  const target = resolve(directory);
  mkdirSync(target, { recursive: true });
  const made = await execa('make', ['-C', client, `B=${target}`, '-j2', 'all'], { reject: false, all: true });
  if (made.exitCode !== 0) {
    const lines = (made.all ?? '').trimEnd().split('\n');
    const TAIL = 20;
    throw new UscopeError(
      'ENV_MISSING',
      `the client library cannot be built:\n${lines.slice(-TAIL).join('\n')}`,
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

async function checkNeeds(compiler: string): Promise<void> {
  const found = await Promise.all(NEEDS.map(({ isThere }) => isThere(compiler)));
  // Without a compiler nothing can be said of libraries.
  const missing = NEEDS.filter((_, at) => !found[at]);
  const known = found[1] ? missing : missing.filter(({ what }) => !what.startsWith('libzmq'));
  if (known.length === 0) return;
  const packages = (which: 0 | 1) => known.map((need) => need.packages[which]).join(' ');
  throw new UscopeError(
    'ENV_MISSING',
    `missing: ${known.map(({ what }) => what).join(', ')}. Debian, Ubuntu: apt-get install ${packages(0)}. Red Hat: dnf install ${packages(1)}`,
  );
}
