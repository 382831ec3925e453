/**
 * Files in directories that others may write: what this process acts on is believed only where its own user or root wrote it, and where
 * nobody else could have changed it. Links are not followed.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { UscopeError } from '../../base/errors.js';

/** Write permission of group and others. */
const OTHERS_WRITE = 0o022;

/** What `fstat` says of a file or directory. */
export interface Ownership {
  readonly uid: number;
  readonly mode: number;
}

/** The user of this process; on systems without users, that of every file. */
export const ownUid = (): number => process.geteuid?.() ?? 0;

/** Why a file or directory may say what another user wants; null: it is one of our own user, or of root, and nobody else writes it. */
export function distrustOf({ uid, mode }: Ownership): string | null {
  if (uid !== ownUid() && uid !== 0) return `it belongs to user ${uid}`;
  if ((mode & OTHERS_WRITE) !== 0)
    return `others may write it (mode ${(mode & 0o777).toString(8).padStart(4, '0')})`;
  return null;
}

/**
 * The content of a file of our own; null: there is none.
 * @param mostBytes longer files are refused
 * @throws UscopeError READER_UNTRUSTED: another user may have written it; also a link, and what is not an ordinary file
 */
export function readOwnFileSync(path: string, mostBytes: number): string | null {
  const file = openNoFollow(path);
  if (file === null) return null;
  try {
    const found = fstatSync(file);
    if (!found.isFile()) throw untrusted(path, 'it is not an ordinary file');
    const why = distrustOf(found);
    if (why !== null) throw untrusted(path, why);
    if (found.size > mostBytes) throw untrusted(path, `it has more than ${mostBytes} bytes`);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/** The same as a promise. */
export const readOwnFile = async (path: string, mostBytes: number): Promise<string | null> =>
  readOwnFileSync(path, mostBytes);

function openNoFollow(path: string): number | null {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (code === 'ELOOP') throw untrusted(path, 'it is a symbolic link');
    throw error;
  }
}

const untrusted = (file: string, why: string): UscopeError =>
  new UscopeError('READER_UNTRUSTED', `${why}; it is not used: remove it, or check who made it`, { file });
