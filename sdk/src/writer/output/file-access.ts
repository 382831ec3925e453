/** Who may read and write a file: what is derived from a trace is open to nobody who may not read the trace. */
import { type FileHandle, open, stat } from 'node:fs/promises';
import { ioError } from './output-file.js';

/** Bits of a mode that a derived file takes over: who may read and write. */
const ACCESS_BITS = 0o666;
const GROUP_BITS = 0o060;

export interface Access {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** That of what is derived from several files: open to those only who may open each of them; null: there are none. */
export async function accessOf(paths: readonly string[]): Promise<Access | null> {
  const all = await Promise.all(paths.map((path) => stat(path)));
  const [first] = all;
  if (!first) return null;
  const isOne = (of: 'uid' | 'gid'): boolean => all.every((one) => one[of] === first[of]);
  const mode = all.reduce((bits, one) => bits & one.mode, ~0);
  return {
    mode: isOne('gid') ? mode : mode & ~GROUP_BITS,
    uid: isOne('uid') ? first.uid : (process.geteuid?.() ?? first.uid),
    gid: isOne('gid') ? first.gid : (process.getegid?.() ?? first.gid),
  };
}

/**
 * Gives a file the mode of `source`, and its owner and group where this process may. Where it may not give it the group, the file is not
 * open to a group at all.
 * @param source one file, or several
 * @throws UscopeError WRITER_*
 */
export async function giveAccessOf(source: string | readonly string[], path: string): Promise<void> {
  try {
    const access = await accessOf(typeof source === 'string' ? [source] : source);
    if (access === null) return;
    const file = await open(path, 'r');
    try {
      await giveAccess(file, access);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw ioError(error, path);
  }
}

/** As `giveAccessOf`, for an open file or directory. Only its owner writes a directory. */
export async function giveAccess(file: FileHandle, { mode, uid, gid }: Access): Promise<void> {
  const there = await file.stat();
  const isOwned = there.uid === uid && there.gid === gid;
  // The group first: nobody in the old group gets to read what only the new one may.
  const hasGroup =
    isOwned || (await tries(() => file.chown(uid, gid))) || (await tries(() => file.chown(-1, gid)));
  const bits = there.isDirectory() ? directoryMode(mode) : mode & ACCESS_BITS;
  await file.chmod(hasGroup ? bits : bits & ~GROUP_BITS);
}

/** Of a directory of files with a mode: those who may read them may look into it. */
export const directoryMode = (mode: number): number => 0o700 | (mode & 0o044) | ((mode & 0o044) >> 2);

const tries = (action: () => Promise<void>): Promise<boolean> =>
  action().then(
    () => true,
    () => false,
  );
