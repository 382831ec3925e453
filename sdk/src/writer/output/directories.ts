import { lstat, mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { UscopeError } from '../../base/errors.js';

/**
 * Creates a directory and those above it. Not `mkdir({ recursive: true })`, which never ends on file systems (/proc) that answer
 * ENOENT to every creation.
 */
export async function makeDirectories(path: string, mode = 0o777): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(path) === path || (await exists(dirname(path)))) throw error;
    await makeDirectories(dirname(path), mode);
    await mkdir(path, { mode });
  }
}

/** A new directory for what is needed for a while, which only this user may enter. @throws UscopeError WRITER_DIRECTORY */
export async function scratchDirectory(name: string, parent = tmpdir()): Promise<string> {
  const prefix = join(parent, `${name}-`);
  return mkdtemp(prefix).catch((cause: NodeJS.ErrnoException) => {
    const detail = `no temporary directory can be made (${cause.code}); TMPDIR names where they go`;
    throw new UscopeError('WRITER_DIRECTORY', detail, { file: parent }, { cause });
  });
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
