/** A file or a URL as what the server hands out. */
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { isHttpUrl } from '../reader/http-url.js';
import { httpVersion, type Source } from '../reader/index.js';
import { fileSource, openSource } from '../reader/node.js';
import { isLocked } from '../writer/output/path-lock.js';
import type { ServedTrace } from './server.js';

export type OpenTrace = ServedTrace & { close(): Promise<void> };

/** Files that had the name before stay open for the answers that are being sent: at most this number. */
const MAX_OLD = 4;
/** Between two looks whether somebody writes the file. */
const LOCK_MS = 1000;

/**
 * @param name instead of the file's
 * @throws UscopeError READER_OPEN, READER_HTTP_*
 */
export async function openServedTrace(pathOrUrl: string, name?: string): Promise<OpenTrace> {
  return isHttpUrl(pathOrUrl) ? servedUrl(pathOrUrl) : ServedFile.open(pathOrUrl, name);
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
    close: async () => source.close?.(),
  };
}

interface OneVersion {
  readonly source: Source;
  readonly version: string;
}

/** A path. When another file gets its name, that one is served, under another version. */
class ServedFile implements OpenTrace {
  private readonly old: OneVersion[] = [];
  private abandoned: Promise<boolean> = Promise.resolve(false);
  private looked = Number.NEGATIVE_INFINITY;

  private constructor(
    private readonly path: string,
    readonly name: string,
    private current: OneVersion,
  ) {}

  static async open(path: string, name = basename(path)): Promise<ServedFile> {
    const source = await fileSource(path);
    return new ServedFile(path, name, { source, version: await versionOf(path) });
  }

  async pinned(): Promise<ServedTrace> {
    const { source, version } = await this.look();
    const { name } = this;
    const read: ServedTrace['read'] = (offset, length) => source.read(offset, length);
    const isAbandoned = (): Promise<boolean> => this.isAbandoned();
    const mark = (): Promise<string> => this.mark();
    return { name, size: () => source.size(), read, version: async () => version, isAbandoned, mark };
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

  /** Size and time of the last write. */
  async mark(): Promise<string> {
    const { size, mtimeNs } = await stat(this.path, { bigint: true });
    return `${size.toString(36)}-${mtimeNs.toString(36)}`;
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

  /** While no file has the name, the one opened last is served. */
  private async look(): Promise<OneVersion> {
    const version = await versionOf(this.path).catch(() => this.current.version);
    if (version === this.current.version) return this.current;
    this.old.push(this.current);
    this.current = { source: await fileSource(this.path), version };
    if (this.old.length > MAX_OLD) await this.old.shift()?.source.close?.();
    return this.current;
  }
}

/** A trace that grows keeps its version: its reader knows how to follow it. Another file has another one. */
async function versionOf(path: string): Promise<string> {
  const { ino, dev, birthtimeMs } = await stat(path);
  return [dev, ino, Math.round(birthtimeMs)].map((part) => part.toString(36)).join('-');
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
