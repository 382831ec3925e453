/** A file or a URL as what the server hands out. */
import { basename } from 'node:path';
import { isUscopeError, UscopeError } from '../base/errors.js';
import { toHex } from '../base/hex.js';
import { HEADER_NUM_SEGMENTS_OFFSET, HEADER_SIZE } from '../format/header.js';
import { GrowingFile } from '../reader/growing-file.js';
import { encodeGrownParts } from '../reader/grown-parts.js';
import { isHttpUrl } from '../reader/http-url.js';
import { httpVersion, type Source } from '../reader/index.js';
import { openSource } from '../reader/node.js';
import { isLocked } from '../writer/output/path-lock.js';
import type { ServedTrace } from './server.js';
import { isLink, openTraceToServe, type TraceFile, versionAt } from './trace-file.js';

export type OpenTrace = ServedTrace & {
  /** Path or URL, for readers of the same trace. @throws UscopeError READER_UNTRUSTED: another file has the path, which is not served */
  whereNow(): Promise<string>;
  close(): Promise<void>;
};

export interface ServedTraceOptions {
  /** Instead of the file's. */
  readonly name?: string | undefined;
  /** A link at the path is followed: the user named it. Default: true. */
  readonly followsLinks?: boolean | undefined;
  /** Called when a file that gets the path later is not served, once for each. */
  readonly onRefused?: ((error: UscopeError) => void) | undefined;
}

/** Files that had the name before stay open for the answers that are being sent: at most this number. */
const MAX_OLD = 4;
/** Between two looks whether somebody writes the file. */
const LOCK_MS = 1000;

/** @throws UscopeError READER_OPEN, READER_HTTP_*, READER_UNTRUSTED, FORMAT_* (a file that is not a trace) */
export async function openServedTrace(
  pathOrUrl: string,
  options: ServedTraceOptions = {},
): Promise<OpenTrace> {
  return isHttpUrl(pathOrUrl) ? servedUrl(pathOrUrl) : ServedFile.open(pathOrUrl, options);
}

async function servedUrl(url: string): Promise<OpenTrace> {
  const source = await openSource(url);
  // A missing file is reported now, not in the page.
  await source.size();
  return {
    name: lastPart(url),
    async size() {
      await source.refresh?.();
      return source.size();
    },
    read: (offset, length) => source.read(offset, length),
    version: async () => hashed(await httpVersion(url)),
    whereNow: async () => url,
    close: async () => source.close?.(),
  };
}

interface OneVersion extends TraceFile {
  /** For readers that follow it. */
  readonly growing: GrowingFile;
}

/** Stretches of the file of at most 1 MiB, kept for readers that follow the same trace. */
const MAX_STRETCHES = 8;
/** Shorter ones are read sooner than looked up. */
const SHARED_BYTES = 64 * 1024;

/** A file that was opened by its path. When another trace gets the path, that one is served, under another version. */
class ServedFile implements OpenTrace {
  private readonly old: OneVersion[] = [];
  private abandoned: Promise<boolean> = Promise.resolve(false);
  private looked = Number.NEGATIVE_INFINITY;
  private readonly stretches = new Map<string, Promise<Uint8Array>>();
  private refused: string | null = null;

  private constructor(
    private readonly path: string,
    readonly name: string,
    private readonly followsLinks: boolean,
    private readonly onRefused: (error: UscopeError) => void,
    private current: OneVersion,
  ) {}

  static async open(
    path: string,
    { name = basename(path), followsLinks = true, onRefused = () => undefined }: ServedTraceOptions,
  ): Promise<ServedFile> {
    // A file that gets the path later may be a link only where one was.
    const follows = followsLinks && isLink(path);
    const file = await openTraceToServe(path, { followsLinks: follows, formerUid: null });
    return new ServedFile(path, name, follows, onRefused, followed(file));
  }

  /** One look at the file for the whole answer. It follows the request: what the reader read before is never longer than the size. */
  async pinned(): Promise<ServedTrace> {
    const { source, version, growing } = await this.look();
    const size = await source.size();
    const mark = await markOf(source);
    return {
      name: this.name,
      size: async () => size,
      read: (offset, length) => this.readShared(source, mark, offset, length),
      version: async () => version,
      isAbandoned: () => this.isAbandoned(),
      mark: async () => mark,
      grown: (knownTail) => grownOf(growing, knownTail),
    };
  }

  async size(): Promise<number> {
    return (await this.look()).source.size();
  }

  read(offset: number, length: number): Promise<Uint8Array> {
    return this.current.source.read(offset, length);
  }

  async version(): Promise<string> {
    return (await this.look()).version;
  }

  async mark(): Promise<string> {
    return markOf((await this.look()).source);
  }

  async grown(knownTail: number | 'latest'): Promise<readonly Uint8Array[] | null> {
    return grownOf((await this.look()).growing, knownTail);
  }

  /**
   * Readers that follow the trace take the same stretches of it: each is read once. What has been read since the same commit has everything
   * that is committed; readers look at nothing else.
   */
  private readShared(source: Source, mark: string, offset: number, length: number): Promise<Uint8Array> {
    if (length < SHARED_BYTES) return source.read(offset, length);
    const key = `${mark} ${offset} ${length}`;
    const known = this.stretches.get(key);
    if (known) return known;
    const bytes = source.read(offset, length);
    remember(this.stretches, key, bytes, MAX_STRETCHES);
    // The next one tries again.
    bytes.catch(() => this.stretches.delete(key));
    return bytes;
  }

  isAbandoned(): Promise<boolean> {
    const now = performance.now();
    if (now - this.looked >= LOCK_MS) {
      this.looked = now;
      this.abandoned = isLocked(this.path).then(
        (isHeld) => !isHeld,
        () => false,
      );
    }
    return this.abandoned;
  }

  async close(): Promise<void> {
    for (const { source } of [...this.old, this.current]) await source.close?.();
  }

  async whereNow(): Promise<string> {
    const { version } = await this.look();
    const there = versionAt(this.path, this.followsLinks);
    if (there === null || there === version) return this.path;
    throw new UscopeError('READER_UNTRUSTED', 'another file has this name now, which is not served', {
      file: this.path,
    });
  }

  /** While no file has the path, or one that is not served, the one opened last is. */
  private async look(): Promise<OneVersion> {
    const there = versionAt(this.path, this.followsLinks);
    if (there === null || there === this.current.version) return this.current;
    const file = await this.replacement(there);
    // Another request may have been sooner.
    if (file === null || file.version === this.current.version) {
      await file?.source.close?.();
      return this.current;
    }
    this.old.push(this.current);
    this.stretches.clear();
    this.current = followed(file);
    if (this.old.length > MAX_OLD) await this.old.shift()?.source.close?.();
    return this.current;
  }

  /** null: it is not served. */
  private async replacement(version: string): Promise<TraceFile | null> {
    const { followsLinks, current } = this;
    try {
      return await openTraceToServe(this.path, { followsLinks, formerUid: current.uid });
    } catch (error) {
      if (!isUscopeError(error)) throw error;
      // The header is being written: it is looked at again, as all are, but not reported.
      if (error.code === 'FORMAT_TRUNCATED') return null;
      if (this.refused !== version) this.onRefused(error.at({ file: this.path }));
      this.refused = version;
      return null;
    }
  }
}

const followed = (file: TraceFile): OneVersion => ({ ...file, growing: new GrowingFile(file.source) });

/** null: the reader finds out by itself what there is. */
async function grownOf(
  growing: GrowingFile,
  knownTail: number | 'latest',
): Promise<readonly Uint8Array[] | null> {
  const grown = await growing.since(knownTail).catch(() => null);
  return grown && encodeGrownParts(grown);
}

/** Adds an entry, and drops the oldest one where there are too many. */
function remember<T>(entries: Map<string, T>, key: string, value: T, most: number): void {
  entries.set(key, value);
  if (entries.size > most) entries.delete(entries.keys().next().value!);
}

/**
 * Its header, which each commit changes. What is written before it is not committed. A commit writes the number of segments last, when their place
 * is known already: that is not news.
 */
async function markOf(source: Source): Promise<string> {
  const header = await source.read(0, HEADER_SIZE);
  return toHex(header.fill(0, HEADER_NUM_SEGMENTS_OFFSET, HEADER_NUM_SEGMENTS_OFFSET + 4));
}

function lastPart(url: string): string {
  return decodeURIComponent(new URL(url).pathname.split('/').at(-1) || 'trace');
}

/** What a server says of the version may hold any character. */
function hashed(text: string): string {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193) >>> 0;
  return `${hash.toString(36)}-${text.length}`;
}
