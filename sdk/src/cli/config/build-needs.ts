/** What builds on the user's machine need. */
import { execa } from 'execa';
import { UscopeError } from '../../base/errors.js';

/** What a build needs, with how to look for it, and Debian's and Red Hat's package. */
export interface Need {
  readonly what: string;
  readonly packages: readonly [debian: string, redHat: string];
  isThere(compiler: string): Promise<boolean>;
}

const succeeds = async (command: string, args: readonly string[], input = ''): Promise<boolean> =>
  (await execa(command, args, { reject: false, input, timeout: 30_000 })).exitCode === 0;

const compiles = (compiler: string, program: string, args: readonly string[] = []): Promise<boolean> =>
  succeeds(compiler, ['-x', 'c', '-', '-o', '/dev/null', ...args], program);

export const MAKE: Need = {
  what: 'make',
  packages: ['make', 'make'],
  isThere: () => succeeds('make', ['--version']),
};
export const COMPILER: Need = {
  what: 'a C compiler',
  packages: ['gcc', 'gcc'],
  isThere: (compiler) => compiles(compiler, 'int main(void) { return 0; }\n'),
};
export const ZMQ: Need = {
  what: 'libzmq with its header zmq.h',
  packages: ['libzmq3-dev', 'zeromq-devel'],
  isThere: (compiler) =>
    compiles(compiler, '#include <zmq.h>\nint main(void) { return zmq_errno(); }\n', ['-lzmq']),
};

/** The compiler by the name that it was looked for: CC may name another than the one that is there. */
function nameOf(need: Need, compiler: string): string {
  return need === COMPILER
    ? `${need.what} (${compiler} does not compile a program; CC names another)`
    : need.what;
}

/** @throws UscopeError ENV_MISSING with all that is missing */
export async function checkNeeds(compiler: string, needs: readonly Need[]): Promise<void> {
  const found = await Promise.all(needs.map(({ isThere }) => isThere(compiler)));
  const missing = needs.filter((_, at) => !found[at]);
  // Without a compiler nothing can be said of libraries.
  const known = missing.includes(COMPILER) ? missing.filter((need) => need !== ZMQ) : missing;
  if (known.length === 0) return;
  const packages = (which: 0 | 1) => known.map((need) => need.packages[which]).join(' ');
  throw new UscopeError(
    'ENV_MISSING',
    `missing: ${known.map((need) => nameOf(need, compiler)).join(', ')}. Debian, Ubuntu: apt-get install ${packages(0)}. Red Hat: dnf install ${packages(1)}`,
  );
}

const TAIL = 20;

/** The end of what a program printed: where its error is. */
export function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-TAIL).join('\n');
}
