/** Who may read and write a file: what is derived from a trace is open to nobody who may not read the trace. */
import { type FileHandle, stat } from 'node:fs/promises';

/** Bits of a mode that a derived file takes over: who may read and write. */
const ACCESS_BITS = 0o666;
const GROUP_BITS = 0o060;
const OTHERS_BITS = 0o006;

interface Access {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/**
 * Gives a file the mode of `sources`, and their owner and group where this process may. Of several sources the file is open to those who may
 * read all of them. Where it cannot have the group, a group may do what everyone may. Sources that are no files (URLs, `-`) count for nothing.
 */
export async function giveAccessOf(sources: readonly string[], file: FileHandle): Promise<void> {
  const found = await Promise.all(sources.map((source) => stat(source).catch(() => null)));
  const [first, ...others] = found.filter((one) => one !== null);
  if (!first) return;
  const isSame = (key: 'uid' | 'gid'): boolean => others.every((other) => other[key] === first[key]);
  const mode = others.reduce((bits, other) => bits & other.mode, first.mode);
  const { uid, gid } = await file.stat();
  if (isSame('gid')) await giveAccess(file, { mode, uid: isSame('uid') ? first.uid : uid, gid: first.gid });
  else await giveAccess(file, { mode: withoutGroup(mode), uid, gid });
}

/** As `giveAccessOf`, with what is known of the source. */
export async function giveAccess(file: FileHandle, { mode, uid, gid }: Access): Promise<void> {
  const there = await file.stat();
  const isOwned = there.uid === uid && there.gid === gid;
  // The group first: nobody in the old group gets to read what only the new one may.
  const hasGroup =
    isOwned || (await tries(() => file.chown(uid, gid))) || (await tries(() => file.chown(-1, gid)));
  await file.chmod((hasGroup ? mode : withoutGroup(mode)) & ACCESS_BITS);
}

/** A group that is not the source's may do what everyone may. */
const withoutGroup = (mode: number): number =>
  (mode & ~GROUP_BITS) | ((mode & (mode >> 3) & OTHERS_BITS) << 3);

const tries = (action: () => Promise<void>): Promise<boolean> =>
  action().then(
    () => true,
    () => false,
  );
