/** Trace names, chosen by clients, to files below the output directory (docs/reference/bridge-protocol.md#traces). */
import { access, constants, lstat, realpath } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { UscopeError } from '../../base/errors.js';
import { makeDirectories } from '../../writer/output/directories.js';
import { ioError } from '../../writer/output/output-file.js';
import { spoolDirectory } from '../../writer/ring/index.js';

const MAX_NAME_BYTES = 200;
const COMPONENT = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

function checkTraceName(name: string): void {
  const reason = nameProblem(name);
  if (reason === null) return;
  throw new UscopeError(
    'BRIDGE_NAME',
    `the trace name ${JSON.stringify(name.slice(0, MAX_NAME_BYTES))} ${reason}; use letters, digits, "_", "-" and "." (not first), with "/" between directories`,
  );
}

function nameProblem(name: string): string | null {
  if (name === '') return 'is empty';
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `has more than ${MAX_NAME_BYTES} bytes`;
  const wrong = name.split('/').find((component) => !COMPONENT.test(component));
  return wrong === undefined ? null : `has the part ${JSON.stringify(wrong)}`;
}

/**
 * The path of the trace's file, its directories created. Directories that are there already may be symbolic links, as long as they
 * lead to somewhere inside the output directory; the file itself may not be one.
 * @throws UscopeError BRIDGE_NAME, WRITER_DIRECTORY
 */
export async function traceFilePath(outputDirectory: string, name: string): Promise<string> {
  checkTraceName(name);
  const components = name.split('/');
  const file = `${components.pop()}.uscope`;
  const root = await outputRoot(outputDirectory);
  let directory = root;
  for (const component of components) directory = await enter(root, join(directory, component), name);
  const path = join(directory, file);
  if ((await kindOf(path)) === 'link') {
    throw new UscopeError(
      'BRIDGE_NAME',
      `the trace "${name}" would be written through a symbolic link; remove it or choose another name`,
      { file: path },
    );
  }
  return path;
}

/** The path of a trace's file that is there already, reached without any symbolic link; null when there is none. Creates nothing. */
export async function existingTraceFile(outputDirectory: string, name: string): Promise<string | null> {
  if (nameProblem(name) !== null) return null;
  try {
    const path = join(await realpath(outputDirectory), `${name}.uscope`);
    return (await lstat(path)).isFile() && (await realpath(path)) === path ? path : null;
  } catch {
    return null;
  }
}

/** The path of a trace's file next to which there is the spool of a flight recorder, as `existingTraceFile`. */
export async function existingSpoolPath(outputDirectory: string, name: string): Promise<string | null> {
  if (nameProblem(name) !== null) return null;
  try {
    const path = join(await realpath(outputDirectory), `${name}.uscope`);
    const spool = spoolDirectory(path);
    return (await lstat(spool)).isDirectory() && (await realpath(spool)) === spool ? path : null;
  } catch {
    return null;
  }
}

/** The output directory's real path, created when it is missing. @throws UscopeError WRITER_DIRECTORY */
export async function outputRoot(outputDirectory: string): Promise<string> {
  try {
    await makeDirectories(resolve(outputDirectory));
    const real = await realpath(outputDirectory);
    await access(real, constants.W_OK | constants.X_OK);
    return real;
  } catch (error) {
    throw ioError(error, outputDirectory);
  }
}

async function enter(root: string, directory: string, name: string): Promise<string> {
  try {
    if ((await kindOf(directory)) === 'none') await makeDirectories(directory);
    const real = await realpath(directory);
    const inside = real === root || real.startsWith(root.endsWith(sep) ? root : root + sep);
    if (inside && (await kindOf(real)) === 'directory') return real;
  } catch (error) {
    throw ioError(error, directory);
  }
  throw new UscopeError(
    'BRIDGE_NAME',
    `the trace name "${name}" leads through something that is not a directory inside ${root}`,
    { file: directory },
  );
}

async function kindOf(path: string): Promise<'none' | 'link' | 'directory' | 'other'> {
  try {
    const stat = await lstat(path);
    if (stat.isSymbolicLink()) return 'link';
    return stat.isDirectory() ? 'directory' : 'other';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'none';
    throw ioError(error, path);
  }
}
