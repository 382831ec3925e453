/** How packages that were left out are added where this program is installed: messages name a command that works there. */
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The package of PyPI has this program in `site-packages/uscope/node_modules/uscope`. */
const PYTHON = /^(.+)[\\/](?:site|dist)-packages[\\/]uscope[\\/]node_modules[\\/]/;

/**
 * @param packages of npm, with blanks between them
 * @param program a file of this program; for tests
 */
export function installCommand(
  packages: string,
  program = fileURLToPath(import.meta.url),
  directory = process.cwd(),
): string {
  const [, python] = PYTHON.exec(program) ?? [];
  // Not into `uscope` itself: npm removes what it did not install there.
  if (python !== undefined) return `npm install --prefix "${python}" ${packages}`;
  const at = program.lastIndexOf(`${sep}node_modules${sep}`);
  const project = at < 0 ? null : program.slice(0, at) || sep;
  const isGlobal = project !== null && !`${directory}${sep}`.startsWith(`${project}${sep}`);
  return `npm install ${isGlobal ? '-g ' : ''}${packages}`;
}

/** Whether this is the package of PyPI, where npm may be missing. */
export const isOfPython = (program = fileURLToPath(import.meta.url)): boolean => PYTHON.test(program);
