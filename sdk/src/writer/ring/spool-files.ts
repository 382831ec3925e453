/** The files of a spool directory. Everything that is written goes through the writer's file layer. */
import { mkdir, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UscopeError } from '../../base/errors.js';
import { OUTPUT_DIRECTORY_MODE } from '../../base/file-mode.js';
import { ioError, type OpenOutput, type OutputFile, syncDirectory } from '../output/output-file.js';
import { headerPath, ordinalOf, segmentPath } from './layout.js';
import { decodeSpooled, type SpooledSegment } from './spooled-segment.js';

export class SpoolFiles {
  constructor(
    readonly directory: string,
    readonly openOutput: OpenOutput,
  ) {}

  /** Writes a segment's file, again where an attempt before has left one. Durable after `syncDirectory`. */
  async writeSegment(ordinal: number, chunks: readonly Uint8Array[]): Promise<void> {
    const path = segmentPath(this.directory, ordinal);
    const file = await this.createAgain(path);
    try {
      await file.write(chunks, 0);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  async createAgain(path: string): Promise<OutputFile> {
    await this.remove(path);
    return this.openOutput(path, 'create');
  }

  /** @throws UscopeError FORMAT_CHECKSUM when it is damaged */
  async readSegment(ordinal: number): Promise<SpooledSegment> {
    const { segment } = await this.tryRead(ordinal);
    if (segment) return segment;
    const place = { file: segmentPath(this.directory, ordinal) };
    throw new UscopeError('FORMAT_CHECKSUM', 'a segment of the spool is damaged', place);
  }

  /** null: torn or damaged. */
  async tryRead(ordinal: number): Promise<{ segment: SpooledSegment | null; size: number }> {
    const file = await this.openOutput(segmentPath(this.directory, ordinal), 'resume');
    try {
      const size = await file.size();
      return { segment: await decodeSpooled(await file.read(0, size), ordinal), size };
    } finally {
      await file.close();
    }
  }

  removeSegment(ordinal: number): Promise<void> {
    return this.remove(segmentPath(this.directory, ordinal));
  }

  async remove(path: string): Promise<void> {
    try {
      await unlink(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw ioError(error, path);
    }
  }

  /** Names of everything in the directory. */
  async names(): Promise<string[]> {
    return readdir(this.directory).catch((error: unknown) => Promise.reject(ioError(error, this.directory)));
  }

  /** Ordinals of the segments there, ascending. */
  async ordinals(): Promise<number[]> {
    const ordinals = (await this.names()).map(ordinalOf).filter((ordinal) => ordinal !== null);
    return ordinals.sort((a, b) => a - b);
  }

  /** Makes the names in the directory durable. */
  async syncDirectory(): Promise<void> {
    const file = await this.openOutput(headerPath(this.directory), 'resume');
    try {
      await file.syncDirectory();
    } finally {
      await file.close();
    }
  }
}

export async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, OUTPUT_DIRECTORY_MODE);
    await syncDirectory(dirname(path));
  } catch (error) {
    throw ioError(error, path);
  }
}

/** Gives a finished file its name; durable when it resolves. */
export async function publish(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    throw ioError(error, to);
  }
  await syncDirectory(dirname(to));
}

/** Removes a spool directory; what is not of the spool, and so the directory, stays. */
export async function removeSpool(directory: string, isOurs: (name: string) => boolean): Promise<void> {
  try {
    const names = await readdir(directory);
    // The header goes last: without it nobody would know whose the rest is.
    const ours = names
      .filter(isOurs)
      .sort((a, b) => Number(a === 'header.uscope') - Number(b === 'header.uscope'));
    for (const name of ours) await rm(`${directory}/${name}`, { force: true });
    if (ours.length === names.length) await rmdir(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw ioError(error, directory);
  }
}
