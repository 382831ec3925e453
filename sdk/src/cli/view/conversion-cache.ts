/**
 * Traces that were converted for the viewer, kept for the next time: files in the user's cache directory, named by what they were made of.
 * Those used longest ago go first when there are more bytes than allowed.
 */
import { createHash } from 'node:crypto';
import { lstat, readdir, realpath, rm, stat, utimes } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { UscopeError } from '../../base/errors.js';
import { VERSION } from '../../bridge/wire/version.js';
import { isHttpUrl } from '../../reader/http-url.js';
import { httpVersion } from '../../reader/index.js';
import { makeDirectories } from '../../writer/output/directories.js';
import { distrustOf } from '../../writer/output/own-file.js';

/** At most so much is kept; a single larger trace is kept alone. */
export const MAX_CACHE_BYTES = 4 * 1024 ** 3;
const SUFFIX = '.uscope';
/** Of a file that ended early. */
const CUT = '.cut';
/** Of a conversion that was killed: nobody finishes it any more. */
const STALE_MS = 24 * 60 * 60 * 1000;

export interface CachedTrace {
  readonly path: string;
  /** Made of a file that ended early. */
  readonly isCut: boolean;
}

/** By the XDG base directory specification, which takes absolute paths only. */
export function cacheDirectory(environment: NodeJS.ProcessEnv = process.env): string {
  const base = environment.XDG_CACHE_HOME ?? '';
  return join(isAbsolute(base) ? base : join(homedir(), '.cache'), 'uscope', 'converted');
}

/** Changes with everything that decides what the converted trace holds. @throws as reading the file */
export async function conversionKey(pathOrUrl: string, format: string): Promise<string> {
  const identity = isHttpUrl(pathOrUrl)
    ? [pathOrUrl, await httpVersion(pathOrUrl)]
    : await identityOf(pathOrUrl);
  return createHash('sha256')
    .update(JSON.stringify([VERSION, format, ...identity]))
    .digest('hex')
    .slice(0, 32);
}

async function identityOf(path: string): Promise<string[]> {
  const real = await realpath(path);
  const { size, mtimeNs, ino } = await stat(real, { bigint: true });
  return [real, String(size), String(mtimeNs), String(ino)];
}

export class ConversionCache {
  constructor(
    private readonly directory: string,
    private readonly maxBytes = MAX_CACHE_BYTES,
  ) {}

  /**
   * Where the trace of a key goes; the directory is there then.
   * @throws Error the directory cannot be made; UscopeError READER_UNTRUSTED: others may write it
   */
  async prepare(key: string): Promise<string> {
    await makeDirectories(this.directory, 0o700);
    const why = await this.distrust();
    if (why !== null) throw new UscopeError('READER_UNTRUSTED', why, { file: this.directory });
    return join(this.directory, key + SUFFIX);
  }

  /** Name of the same trace when its file ended early. */
  pathOfCut(path: string): string {
    return path.slice(0, -SUFFIX.length) + CUT + SUFFIX;
  }

  async find(key: string): Promise<CachedTrace | null> {
    if ((await this.distrust()) !== null) return null;
    for (const isCut of [false, true]) {
      const path = join(this.directory, key + (isCut ? CUT : '') + SUFFIX);
      const now = new Date();
      // The time of its last use.
      const isThere = await utimes(path, now, now).then(
        () => true,
        () => false,
      );
      if (isThere) return { path, isCut };
    }
    return null;
  }

  /** Why another user may have put traces there; null: there is no directory, or nobody could. */
  private async distrust(): Promise<string | null> {
    const found = await lstat(this.directory).catch(() => null);
    return found && distrustOf(found);
  }

  /** Removes what is too much. @param keep the trace in use */
  async trim(keep: string): Promise<void> {
    const files = await this.files();
    let bytes = files.reduce((sum, { size }) => sum + size, 0);
    for (const { path, size, used } of files) {
      const isLeft = !path.endsWith(SUFFIX);
      const goes = isLeft ? Date.now() - used > STALE_MS : bytes > this.maxBytes;
      if (!goes || path === keep) continue;
      await rm(path, { force: true });
      bytes -= size;
    }
  }

  /** Those used longest ago first. */
  private async files(): Promise<{ path: string; size: number; used: number }[]> {
    const names = await readdir(this.directory);
    const found = await Promise.all(
      names.map(async (name) => {
        const path = join(this.directory, name);
        const entry = await stat(path).catch(() => null);
        return entry?.isFile() ? [{ path, size: entry.size, used: entry.mtimeMs }] : [];
      }),
    );
    return found.flat().sort((a, b) => a.used - b.used);
  }
}
