import { lstat, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

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

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
