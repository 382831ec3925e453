/** Who may read and write a file: what is derived from a trace is open to nobody who may not read the trace. */
import { type FileHandle, open, stat } from 'node:fs/promises';
import { ioError } from './output-file.js';

/** Bits of a mode that a derived file takes over: who may read and write. */
const ACCESS_BITS = 0o666;
const GROUP_BITS = 0o060;

interface Access {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/**
 * Gives a file the mode of `source`, and its owner and group where this process may. Where it may not give it the group, the file is not
 * open to a group at all.
 * @throws UscopeError WRITER_*
 */
export async function giveAccessOf(source: string, path: string): Promise<void> {
  try {
    const access = await stat(source);
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

/** As `giveAccessOf`, for an open file. */
export async function giveAccess(file: FileHandle, { mode, uid, gid }: Access): Promise<void> {
  const there = await file.stat();
  const isOwned = there.uid === uid && there.gid === gid;
  // The group first: nobody in the old group gets to read what only the new one may.
  const hasGroup =
    isOwned || (await tries(() => file.chown(uid, gid))) || (await tries(() => file.chown(-1, gid)));
  const bits = mode & ACCESS_BITS;
  await file.chmod(hasGroup ? bits : bits & ~GROUP_BITS);
}

const tries = (action: () => Promise<void>): Promise<boolean> =>
  action().then(
    () => true,
    () => false,
  );
