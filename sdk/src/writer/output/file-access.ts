/** Who may read and write a file: what is derived from a trace is open to nobody who may not read the trace. */
import { type FileHandle, stat } from 'node:fs/promises';

/** Bits of a mode that a derived file takes over: who may read and write. */
const ACCESS_BITS = 0o666;
const GROUP_BITS = 0o060;
const OTHERS_BITS = 0o006;

export interface Access {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/**
 * Gives a file the mode of `sources`, and their owner and group where this process may. Of several sources the file is open to those who may
 * read all of them. Where it cannot have the group, a group may do what everyone may. Sources that are not files (URLs, `-`) count for nothing.
 */
export async function giveAccessOf(sources: readonly string[], file: FileHandle): Promise<void> {
  const access = await accessOf(sources);
  if (access) await giveAccess(file, access);
}

/** That of what is derived from these sources; null: none of them is a file. */
export async function accessOf(sources: readonly string[]): Promise<Access | null> {
  const found = await Promise.all(sources.map((source) => stat(source).catch(() => null)));
  const [first, ...others] = found.filter((one) => one !== null);
  if (!first) return null;
  const isSame = (key: 'uid' | 'gid'): boolean => others.every((other) => other[key] === first[key]);
  const mode = others.reduce((bits, other) => bits & other.mode, first.mode);
  const uid = isSame('uid') ? first.uid : (process.geteuid?.() ?? 0);
  if (isSame('gid')) return { mode, uid, gid: first.gid };
  return { mode: withoutGroup(mode), uid, gid: process.getegid?.() ?? 0 };
}

/** As `giveAccessOf`, with what is known of the source; also for directories, which only their owner writes. */
export async function giveAccess(file: FileHandle, { mode, uid, gid }: Access): Promise<void> {
  const there = await file.stat();
  const isOwned = there.uid === uid && there.gid === gid;
  // The group first: nobody in the old group gets to read what only the new one may.
  const hasGroup =
    isOwned || (await tries(() => file.chown(uid, gid))) || (await tries(() => file.chown(-1, gid)));
  const bits = hasGroup ? mode : withoutGroup(mode);
  await file.chmod(there.isDirectory() ? directoryMode(bits) : bits & ACCESS_BITS);
}

/** Of a directory of files with a mode: those who may read them may look into it. */
export const directoryMode = (mode: number): number => 0o700 | (mode & 0o044) | ((mode & 0o044) >> 2);

/** A group that is not the source's may do what everyone may. */
const withoutGroup = (mode: number): number =>
  (mode & ~GROUP_BITS) | ((mode & (mode >> 3) & OTHERS_BITS) << 3);

const tries = (action: () => Promise<void>): Promise<boolean> =>
  action().then(
    () => true,
    () => false,
  );
