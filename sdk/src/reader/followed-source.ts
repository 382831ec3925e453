/**
 * A trace that is being written, on a web server. That of `uscope view` says without sending any of the trace whether there is more of it, and
 * sends what its reader is going to ask for in one answer. Of another server the trace is looked at now and then.
 */
import { concatBytes } from '../base/bytes.js';
import { decodeHeader, Flag } from '../format/header.js';
import { decodeGrownParts, type FilePart } from './grown-parts.js';
import { type HttpOptions, httpSource } from './http.js';
import type { Source } from './source.js';

/** Header of a request: offset of the last segment that the reader knows, or `latest`. */
export const GROWN_HEADER = 'uscope-grown';
/** Header of a request and an answer: another text after each commit. */
export const MARK_HEADER = 'uscope-mark';
/** Header of an answer: `gone` where nobody writes the file any more. */
export const WRITER_HEADER = 'uscope-writer';
/** Content type of an answer that has parts of the file. */
export const GROWN_TYPE = 'application/x-uscope-grown';

/** A server that does not answer is the reader's to report. */
const PATIENCE_MS = 2000;
/** Now and then the trace itself is looked at, whatever the server says of it. */
const TRUSTED_MS = 1000;
/** Between two looks at the trace of another server. */
const PLAIN_MS = 250;
/** Bytes of the parts that are kept: what is read of the newest segments is read soon. */
const PARTS_BYTES = 8 * 1024 * 1024;

export interface FollowedSource extends Source {
  /**
   * @param knownTail offset of the last segment that the reader knows; by default that of the last answer
   * @returns false: there is nothing new; true: there may be, and it is time to poll the trace
   */
  hasNews(knownTail?: number): Promise<boolean>;
}

/** @throws UscopeError READER_OPEN for what is not an http or https URL; reads: as those of `httpSource` */
export function followedSource(url: string | URL, options: HttpOptions = {}): FollowedSource {
  return new Followed(String(url), options);
}

class Followed implements FollowedSource {
  private readonly file: Source;
  private readonly fetch: typeof globalThis.fetch;
  private parts = new Parts();
  /** Size of what is committed, by the answer that came last: until the next one there is no more to be read. null: the file must be asked. */
  private size_: number | null = null;
  private tail: number | 'latest' = 'latest';
  /** The parts are newer than the last refresh. */
  private isFresh = false;
  private mark: string | null = null;
  private etag: string | null = null;
  private looked = 0;
  /** The server is one of `uscope view`; null: that is not known yet. */
  private isMarked: boolean | null = null;
  /** The trace is being written, and what its reader asks for first has not been asked for in one piece. */
  private isOpening = false;

  constructor(
    private readonly url: string,
    private readonly options: HttpOptions,
  ) {
    const { fetch = globalThis.fetch } = options;
    this.fetch = async (input, request) => {
      const answer = await fetch(input, request);
      if (answer.headers.has(MARK_HEADER)) this.isMarked = true;
      return answer;
    };
    this.file = httpSource(url, { ...options, fetch: this.fetch });
  }

  get name(): string | undefined {
    return this.file.name;
  }

  async size(): Promise<number> {
    return this.size_ ?? (await this.file.size());
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    const known = this.parts.find(offset, length);
    if (known) return known;
    if (offset > 0 && this.isOpening && this.isMarked) return this.readFirst(offset, length);
    const bytes = await this.file.read(offset, length);
    if (offset === 0 && this.tail === 'latest') this.isOpening = isLive(bytes);
    return bytes;
  }

  /** A reader that opens the trace goes from segment to segment: it gets them at once. */
  private async readFirst(offset: number, length: number): Promise<Uint8Array> {
    this.isOpening = false;
    const size = this.size_;
    await this.ask(0).catch(() => undefined);
    // It has begun with a header, and continues with what that says.
    this.isFresh = false;
    this.size_ = size;
    this.mark = null;
    return this.parts.find(offset, length) ?? this.file.read(offset, length);
  }

  async refresh(): Promise<void> {
    await this.file.refresh?.();
    if (!this.isFresh) this.forget();
    this.isFresh = false;
  }

  settle(): void {
    this.forget();
    this.file.settle?.();
  }

  async close(): Promise<void> {
    await this.file.close?.();
  }

  async hasNews(knownTail?: number): Promise<boolean> {
    if (this.isMarked === false) return this.isTime(PLAIN_MS);
    const before = this.mark;
    this.isOpening = false;
    try {
      if (!this.isMarked) await this.askFirst();
      if (this.isMarked) await this.ask(knownTail ?? this.tail);
    } catch {
      // The reader asks again, and reports it.
      this.mark = null;
    }
    if (this.mark !== null && this.mark === before) return this.isTime(TRUSTED_MS);
    this.looked = performance.now();
    return true;
  }

  private isTime(ms: number): boolean {
    const now = performance.now();
    if (now - this.looked < ms) return false;
    this.looked = now;
    return true;
  }

  /** Without headers of ours: another site would have to allow them. */
  private async askFirst(): Promise<void> {
    const answer = await this.send('HEAD');
    this.isMarked = answer.headers.has(MARK_HEADER) || (answer.ok ? false : null);
    this.take(answer);
  }

  private async ask(knownTail: number | 'latest'): Promise<void> {
    const isKnown = this.mark !== null && this.tail === knownTail;
    // A server that knows nothing of it sends one byte.
    const headers = {
      range: 'bytes=0-0',
      [GROWN_HEADER]: String(knownTail),
      ...(isKnown && { [MARK_HEADER]: this.mark! }),
    };
    const answer = await this.send('GET', headers);
    const isOther = this.etag !== null && answer.headers.get('etag') !== this.etag;
    this.take(answer);
    if (isOther || answer.headers.get('content-type') !== GROWN_TYPE) {
      await answer.body?.cancel();
      // 204: nothing has changed. Else it is another file, or the trace is finalized: its reader asks for what it needs.
      if (answer.status !== 204) this.forget();
      return;
    }
    const { size, tail, parts } = decodeGrownParts(new Uint8Array(await answer.arrayBuffer()));
    this.parts.add(parts, tail);
    this.tail = tail;
    this.size_ = size;
    this.isFresh = true;
  }

  private send(method: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const { fetch } = this;
    const all = { ...this.options.headers, ...headers };
    // Node's types do not know the option of browsers.
    const uncached: object = { cache: 'no-store', signal: AbortSignal.timeout(PATIENCE_MS) };
    return fetch(this.url, { method, headers: all, ...uncached });
  }

  private take({ ok, headers }: Response): void {
    const mark = ok ? headers.get(MARK_HEADER) : null;
    this.mark = mark;
    this.etag ??= headers.get('etag');
  }

  private forget(): void {
    this.parts = new Parts();
    this.size_ = null;
  }
}

function isLive(head: Uint8Array): boolean {
  try {
    return (decodeHeader(head).flags & Flag.COMPLETE) === 0;
  } catch {
    // Its reader says what it is.
    return false;
  }
}

/** Parts of a file. Its header and what follows the last segment change; what is committed does not. */
class Parts {
  private head: FilePart | null = null;
  private last: FilePart | null = null;
  /** In the order of the file. */
  private rest: FilePart[] = [];
  private bytes = 0;

  /** @param tail offset of the last segment */
  add(parts: readonly FilePart[], tail: number): void {
    this.last = null;
    for (const part of parts) {
      if (part.offset === 0) this.head = part;
      else if (part.offset > tail) this.last = part;
      else this.push(part);
    }
    let dropped = 0;
    while (this.bytes > PARTS_BYTES) this.bytes -= this.rest[dropped++]!.bytes.byteLength;
    if (dropped > 0) this.rest.splice(0, dropped);
  }

  private push(part: FilePart): void {
    const newest = this.rest.at(-1);
    if (newest && newest.offset > part.offset) return;
    // The last segment's header came alone.
    if (newest?.offset === part.offset) this.bytes -= this.rest.pop()!.bytes.byteLength;
    this.rest.push(part);
    this.bytes += part.bytes.byteLength;
  }

  /** @returns null: some of the range is in none of them */
  find(offset: number, length: number): Uint8Array | null {
    const pieces: Uint8Array[] = [];
    const end = offset + length;
    for (let at = offset; at < end; ) {
      const part = this.before(at);
      const bytes = part?.bytes.subarray(at - part.offset, end - part.offset);
      if (!bytes || bytes.byteLength === 0) return null;
      pieces.push(bytes);
      at += bytes.byteLength;
    }
    return concatBytes(pieces);
  }

  private before(offset: number): FilePart | null {
    if (offset >= (this.last?.offset ?? Number.POSITIVE_INFINITY)) return this.last;
    if (offset < (this.rest[0]?.offset ?? Number.POSITIVE_INFINITY)) return this.head;
    let [low, high] = [0, this.rest.length];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.rest[middle]!.offset <= offset) low = middle;
      else high = middle;
    }
    return this.rest[low]!;
  }
}
