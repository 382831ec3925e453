/** A source over a file that is open: what has its path later does not get into it. */
import { fstatSync, readSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { Source } from './source.js';

export interface FileOptions {
  /**
   * Small reads hold up the whole process, instead of a separate thread: a file in memory is then read sooner than another
   * thread would get the request. For programs that only read.
   */
  readonly blocking?: boolean | undefined;
}

/** Larger reads are worth doing something else meanwhile. */
const MAX_BLOCKING_BYTES = 64 * 1024;

/** @param name of the file, for errors */
export function handleSource(
  handle: FileHandle,
  name: string,
  { blocking = false }: FileOptions = {},
): Source {
  return {
    name,
    size: async () => (blocking ? fstatSync(handle.fd) : await handle.stat()).size,
    read: (offset, length) => readAll(handle, offset, length, blocking && length <= MAX_BLOCKING_BYTES),
    readInto: (target, offset) =>
      fill(handle, target, offset, blocking && target.length <= MAX_BLOCKING_BYTES),
    close: () => handle.close(),
  };
}

async function readAll(
  handle: FileHandle,
  offset: number,
  length: number,
  blocking: boolean,
): Promise<Uint8Array> {
  // All of it that is handed out is read into: zeros would be written for nothing.
  const buffer = new Uint8Array(Buffer.allocUnsafeSlow(length).buffer);
  return buffer.subarray(0, await fill(handle, buffer, offset, blocking));
}

/** Returns the number of bytes, fewer at the end of the file. */
async function fill(
  handle: FileHandle,
  buffer: Uint8Array,
  offset: number,
  blocking: boolean,
): Promise<number> {
  let filled = 0;
  while (filled < buffer.length) {
    const [left, at] = [buffer.length - filled, offset + filled];
    const bytesRead = blocking
      ? readSync(handle.fd, buffer, filled, left, at)
      : (await handle.read(buffer, filled, left, at)).bytesRead;
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}
