/** How packages that were left out are added where this program is installed: messages name a command that works there. */
import { existsSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
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
  node = process.execPath,
): string {
  const [, python] = PYTHON.exec(program) ?? [];
  // Not into `uscope` itself: npm removes what it did not install there.
  if (python !== undefined) return `${npmOf(node)} install --prefix "${python}" ${packages}`;
  const at = program.lastIndexOf(`${sep}node_modules${sep}`);
  const project = at < 0 ? null : program.slice(0, at) || sep;
  const isGlobal = project !== null && !`${directory}${sep}`.startsWith(`${project}${sep}`);
  return `npm install ${isGlobal ? '-g ' : ''}${packages}`;
}

/** The npm that comes with the Node.js of a Python package: it is not in the PATH. */
function npmOf(node: string): string {
  const npm = join(dirname(node), '../lib/node_modules/npm/bin/npm-cli.js');
  return existsSync(npm) ? `"${node}" "${npm}"` : 'npm';
}

/** Whether this is the package of PyPI, where npm may be missing. */
export const isOfPython = (program = fileURLToPath(import.meta.url)): boolean => PYTHON.test(program);
