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
/** Requests within this time share a look at the file: ten followers ask a few hundred times a second. */
const FRESH_MS = 20;

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

/** What a look at a path says. */
interface Facts {
  readonly version: string;
  /** Size and time of the last write. */
  readonly mark: string;
  readonly size: number;
}

/** A path. When another file gets its name, that one is served, under another version. */
class ServedFile implements OpenTrace {
  private readonly old: OneVersion[] = [];
  private looking: Promise<Facts> | null = null;
  private lookedAt = Number.NEGATIVE_INFINITY;
  private abandoned: Promise<boolean> = Promise.resolve(false);
  private looked = Number.NEGATIVE_INFINITY;

  private constructor(
    private readonly path: string,
    readonly name: string,
    private current: OneVersion,
  ) {}

  static async open(path: string, name = basename(path)): Promise<ServedFile> {
    const source = await fileSource(path);
    const { version } = await factsOf(path);
    return new ServedFile(path, name, { source, version });
  }

  async pinned(): Promise<ServedTrace> {
    const { source, version, size, mark } = await this.look();
    const { name } = this;
    return {
      name,
      size: async () => size,
      read: (offset, length) => source.read(offset, length),
      version: async () => version,
      isAbandoned: () => this.isAbandoned(),
      mark: async () => mark,
    };
  }

  async size(): Promise<number> {
    return (await this.look()).size;
  }

  read(offset: number, length: number): Promise<Uint8Array> {
    return this.current.source.read(offset, length);
  }

  async version(): Promise<string> {
    return (await this.look()).version;
  }

  async mark(): Promise<string> {
    return (await this.look()).mark;
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
  private async look(): Promise<OneVersion & Facts> {
    const facts = await this.facts().catch(() => this.remembered());
    if (facts.version !== this.current.version) await this.exchange(facts.version);
    return { ...facts, source: this.current.source };
  }

  private facts(): Promise<Facts> {
    const now = performance.now();
    if (this.looking === null || now - this.lookedAt >= FRESH_MS) {
      this.lookedAt = now;
      this.looking = factsOf(this.path);
    }
    return this.looking;
  }

  private async remembered(): Promise<Facts> {
    const { source, version } = this.current;
    return { version, mark: version, size: await source.size() };
  }

  private async exchange(version: string): Promise<void> {
    const source = await fileSource(this.path);
    // Another request may have been faster.
    if (version === this.current.version) return void (await source.close?.());
    this.old.push(this.current);
    this.current = { source, version };
    if (this.old.length > MAX_OLD) await this.old.shift()?.source.close?.();
  }
}

/** A trace that grows keeps its version: its reader knows how to follow it. Another file has another one. */
async function factsOf(path: string): Promise<Facts> {
  const { ino, dev, birthtimeMs, mtimeNs, size } = await stat(path, { bigint: true });
  return {
    version: [dev, ino, birthtimeMs].map((part) => part.toString(36)).join('-'),
    mark: `${size.toString(36)}-${mtimeNs.toString(36)}`,
    size: Number(size),
  };
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
