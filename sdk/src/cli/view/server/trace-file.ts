/**
 * The file that a path leads to, opened to be handed out. It is a µScope file, no matter who has put it there. Everything is checked of the
 * descriptor that is then read: nothing changes between the check and the use.
 */
import { constants, lstatSync, type Stats, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { UscopeError } from '../../../base/errors.js';
import { decodeHeader, HEADER_SIZE } from '../../../format/header.js';
import type { Source } from '../../../reader/index.js';
import { handleSource } from '../../../reader/node-file.js';
import { ownUid } from '../../../writer/output/own-file.js';

export interface TraceFile {
  readonly source: Source;
  readonly version: string;
  readonly uid: number;
}

export interface Allowed {
  /** The user named a link. */
  readonly followsLinks: boolean;
  /** Owner of the file that had the path before, beside our own user and root; null: anybody may own it, for the user named it. */
  readonly formerUid: number | null;
}

/** @throws UscopeError READER_OPEN, READER_UNTRUSTED (a link, another owner), FORMAT_* (not a µScope file) */
export async function openTraceToServe(path: string, allowed: Allowed): Promise<TraceFile> {
  const handle = await openFile(path, allowed.followsLinks);
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw new UscopeError('READER_OPEN', 'it is not an ordinary file', { file: path });
    checkOwner(path, found.uid, allowed.formerUid);
    const source = handleSource(handle, path, { blocking: true });
    decodeHeader(await source.read(0, HEADER_SIZE));
    return { source, version: versionOf(found), uid: found.uid };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Of the file that has the path now; null: there is none. */
export function versionAt(path: string, followsLinks: boolean): string | null {
  try {
    return versionOf(followsLinks ? statSync(path) : lstatSync(path));
  } catch {
    return null;
  }
}

export const isLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;

/** A trace that grows keeps its version: its reader knows how to follow it. Another file has another one. */
const versionOf = ({ ino, dev, birthtimeMs }: Stats): string =>
  [dev, ino, Math.round(birthtimeMs)].map((part) => part.toString(36)).join('-');

function checkOwner(file: string, uid: number, formerUid: number | null): void {
  if (formerUid === null || [formerUid, ownUid(), 0].includes(uid)) return;
  throw new UscopeError('READER_UNTRUSTED', `the new file of this name belongs to user ${uid}`, { file });
}

async function openFile(path: string, followsLinks: boolean): Promise<FileHandle> {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  try {
    return await open(path, O_RDONLY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ELOOP' && !followsLinks)
      throw new UscopeError(
        'READER_UNTRUSTED',
        'it is a symbolic link, which is followed only where the command names it',
        { file: path },
        { cause },
      );
    const detail = `the file cannot be opened: ${(cause as Error).message}`;
    throw new UscopeError('READER_OPEN', detail, { file: path }, { cause });
  }
}
