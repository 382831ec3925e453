/**
 * Whose a dataset is, and who may read it. What killed processes left is completed, and files are written, moved and removed, only where nobody but this user
 * and root can have made the directories: others could have put links or a list of files to remove there.
 */
import { lstat, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { UscopeError } from '../base/errors.js';
import { OUTPUT_MODE } from '../base/file-mode.js';
import { isHttpUrl } from '../reader/http-url.js';
import { makeDirectories } from '../writer/output/directories.js';
import { type Access, accessOf } from '../writer/output/file-access.js';
import { ioError } from '../writer/output/output-file.js';
import { type Ownership, ownUid, readOwnFile } from '../writer/output/own-file.js';
import { JOINED, RUNS, STAGING, TABLES } from './layout.js';

/** Write permission of everybody. A group that may write is one that the owner let in. */
const ANYBODY_WRITES = 0o002;
/** Nobody but the owner writes what is derived from a trace. */
const OTHERS_WRITE = 0o022;

const MOST_INTENT_BYTES = 1 << 28;

/** Why a dataset is not this user's own; null: it is. */
export async function strangerOf(root: string): Promise<string | null> {
  const why = whyStrange(await stat(root));
  if (why !== null) return `the dataset is not your own: ${why}`;
  for (const name of [STAGING, RUNS, JOINED, ...TABLES]) {
    const found = await lstat(join(root, name)).catch(() => null);
    const inside = found && (found.isDirectory() ? whyStrange(found) : 'it is not a directory');
    if (inside) return `the directory ${name} of the dataset is not your own: ${inside}`;
  }
  return null;
}

function whyStrange({ uid, mode }: Ownership): string | null {
  if (uid !== ownUid() && uid !== 0) return `it belongs to user ${uid}`;
  return mode & ANYBODY_WRITES ? 'everybody may write it' : null;
}

/** @throws UscopeError READER_UNTRUSTED */
export async function checkOwn(root: string): Promise<void> {
  const why = await strangerOf(root);
  if (why === null) return;
  const detail = `${why}; nothing is written there: use a dataset that only you may write`;
  throw new UscopeError('READER_UNTRUSTED', detail, { file: root });
}

/** What a killed process was about to do; null: there is no such file. @throws UscopeError READER_UNTRUSTED */
export const readIntent = (file: string): Promise<string | null> => readOwnFile(file, MOST_INTENT_BYTES);

/** Of all that is made of a run: those who may read all of its traces may read it. */
export async function runAccess(files: readonly string[]): Promise<Access> {
  const access = await accessOf(files.filter((file) => !isHttpUrl(file)));
  if (access) return { ...access, mode: access.mode & ~OTHERS_WRITE };
  return {
    mode: OUTPUT_MODE & ~process.umask(),
    uid: ownUid(),
    gid: process.getegid?.() ?? 0,
  };
}

/** Mode of files that say something of several runs, such as their names: those may read them who may look into the dataset. */
export const sharedMode = async (root: string): Promise<number> => (await stat(root)).mode & 0o644;

/** Makes a directory that several runs share, and those above it. @param path relative to the dataset @throws UscopeError WRITER_* */
export async function makeShared(root: string, path: string): Promise<void> {
  try {
    await makeDirectories(join(root, path), (await stat(root)).mode & 0o755);
  } catch (error) {
    throw ioError(error, root);
  }
}
