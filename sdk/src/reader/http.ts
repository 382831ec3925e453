/**
 * A trace on a web server, read in parts (HTTP range requests, RFC 9110 §14). Blocks of the file are kept up to a bound; neighbouring blocks
 * are fetched with one request, and sequential reading gets more with each. Free of Node: it needs `fetch` alone.
 */
import { BlockCache } from './http-blocks.js';
import { type HttpAnswer, HttpFile, type HttpOptions, sameVersion, type Validator } from './http-request.js';
import type { Source } from './source.js';

export type { HttpOptions } from './http-request.js';

/** Small, as most reads are single structures here and there: of a live trace one header per segment. */
const BLOCK_BYTES = 4096;
/** The first request: header and preamble of most traces. */
const FIRST_BLOCKS = 16;
/** From here on a read is fetched as it is and not kept: the reader keeps large things itself. */
const DIRECT_BYTES = 1024 * 1024;
const MAX_AHEAD_BLOCKS = 1024;
const DEFAULT_CACHE_BYTES = 16 * 1024 * 1024;

/**
 * A source over a file on a web server; in a page `url` may be relative. Nothing is fetched before the first read. Every read of it ends
 * with READER_OPEN (no connection), READER_HTTP_STATUS, READER_HTTP_RANGES, READER_HTTP_TIMEOUT, or, once the trace is known to be
 * finalized, with READER_CHANGED when the server has another version of the file.
 * @throws UscopeError READER_OPEN for what is not an http or https URL
 */
export function httpSource(url: string | URL, options: HttpOptions = {}): Source {
  return new HttpSource(new HttpFile(url, options), options.cacheBytes ?? DEFAULT_CACHE_BYTES);
}

/**
 * What a server says about the version of a file it has now; another text means another version. One small request.
 * @throws UscopeError as reads of `httpSource`
 */
export function httpVersion(url: string | URL, options: HttpOptions = {}): Promise<string> {
  return new HttpFile(url, options).version();
}

class HttpSource implements Source {
  readonly name: string;
  private readonly cache: BlockCache;
  private readonly maxAhead: number;
  private readonly pending = new Map<number, Promise<Uint8Array>>();
  /** The whole file, from a server without ranges. */
  private whole: Uint8Array | null = null;
  /** Size of the file by the last answer; -1 before the first. */
  private total = -1;
  private reported = -1;
  private version: Validator | null = null;
  /** Answers since the last refresh were about different versions of the file. */
  private varied = false;
  private settled = false;
  /** Answers to requests made before the last refresh are not kept. */
  private epoch = 0;
  private nextBlock = -1;
  private streak = 0;

  constructor(
    private readonly file: HttpFile,
    cacheBytes: number,
  ) {
    this.name = file.name;
    this.cache = new BlockCache(cacheBytes);
    this.maxAhead = Math.min(MAX_AHEAD_BLOCKS, Math.floor(cacheBytes / BLOCK_BYTES / 4));
  }

  async size(): Promise<number> {
    if (this.total < 0) await this.fetchRun(0, FIRST_BLOCKS);
    // Asked again without an answer since: the file may have grown.
    else if (!this.settled && this.total <= this.reported) await this.fetchBytes(0, 1);
    this.reported = this.total;
    return this.total;
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    const end = offset + length;
    const found = await this.fromBlocks(offset, end);
    if (found?.byteLength === length) return found;
    // Larger than what is kept, or the file has grown since a block at its end was fetched.
    return this.fetchBytes(offset, end);
  }

  async refresh(): Promise<void> {
    if (this.settled) return;
    this.epoch++;
    this.cache.clear();
    this.pending.clear();
    this.whole = null;
    this.version = null;
    this.varied = false;
  }

  settle(): void {
    if (this.varied) this.changed();
    this.settled = true;
  }

  async close(): Promise<void> {
    this.cache.clear();
    this.whole = null;
    this.file.close();
  }

  /** The bytes `[offset, end)` out of blocks, fetched where they are missing; null for a large range that is not there already. */
  private async fromBlocks(offset: number, end: number): Promise<Uint8Array | null> {
    if (this.whole) return this.whole.subarray(offset, end);
    const first = Math.floor(offset / BLOCK_BYTES);
    const stop = Math.ceil(end / BLOCK_BYTES);
    const isHere = (block: number) => this.cache.has(block) || this.pending.has(block);
    if (end - offset >= DIRECT_BYTES) {
      for (let block = first; block < stop; block++) if (!isHere(block)) return null;
    }
    const blocks: (Uint8Array | Promise<Uint8Array>)[] = [];
    for (let block = first; block < stop; block++) {
      if (!isHere(block)) {
        let missing = block + 1;
        while (missing < stop && !isHere(missing)) missing++;
        // Its blocks are pending from here on.
        void this.fetchRun(block, missing);
      }
      blocks.push(this.cache.get(block) ?? this.pending.get(block)!);
    }
    return slice(await Promise.all(blocks), offset - first * BLOCK_BYTES, end - offset);
  }

  /** Fetches the blocks `[first, stop)`, and more when they continue what was fetched before, with one request. */
  private fetchRun(first: number, stop: number): Promise<unknown> {
    const last = this.readAhead(first, stop);
    const { epoch } = this;
    const start = first * BLOCK_BYTES;
    const run = this.fetchBytes(start, last * BLOCK_BYTES);
    for (let block = first; block < last; block++) {
      const at = (block - first) * BLOCK_BYTES;
      const one = run.then((bytes) => {
        const part = bytes.subarray(at, at + BLOCK_BYTES);
        if (epoch === this.epoch && !this.whole && part.byteLength > 0) this.cache.add(block, part);
        return part;
      });
      this.pending.set(block, one);
      const forget = () => {
        if (this.pending.get(block) === one) this.pending.delete(block);
      };
      // Failures reach those who await the block; of one read ahead nobody may.
      one.then(forget, forget);
    }
    return run;
  }

  private readAhead(first: number, stop: number): number {
    this.streak = first === this.nextBlock ? this.streak + 1 : 0;
    let last = stop;
    if (this.streak >= 2 && this.total > 0) {
      const ahead = Math.min((stop - first) * 2 ** Math.min(this.streak, 10), this.maxAhead);
      const limit = Math.min(stop + ahead, Math.ceil(this.total / BLOCK_BYTES));
      while (last < limit && !this.cache.has(last) && !this.pending.has(last)) last++;
    }
    this.nextBlock = last;
    return last;
  }

  /** The bytes `[start, end)`, fewer where the file ends. */
  private async fetchBytes(start: number, end: number): Promise<Uint8Array> {
    const { epoch } = this;
    const parts: Uint8Array[] = [];
    let at = start;
    while (at < end) {
      const answer = await this.file.range(at, end, this.settled ? this.version : null);
      this.note(answer, epoch);
      if (answer.kind === 'whole') return answer.bytes.subarray(start, end);
      if (answer.kind !== 'part') break;
      parts.push(answer.bytes);
      at += answer.bytes.byteLength;
      if (at >= answer.total) break;
    }
    return parts.length === 1 ? parts[0] : slice(parts, 0, at - start);
  }

  /** What an answer says about the file. @throws UscopeError READER_CHANGED */
  private note(answer: HttpAnswer, epoch: number): void {
    if (answer.kind === 'changed') this.changed();
    const total = answer.kind === 'whole' ? answer.bytes.byteLength : answer.total;
    const version = answer.kind === 'beyond' ? null : answer.validator;
    const isOther =
      (this.total >= 0 && this.total !== total) ||
      (version !== null && this.version !== null && !sameVersion(version, this.version));
    if (this.settled && isOther) this.changed();
    if (epoch !== this.epoch) return;
    if (this.version) this.varied ||= isOther;
    this.version ??= version;
    this.total = total;
    if (answer.kind === 'whole') this.whole = answer.bytes;
  }

  private changed(): never {
    this.file.fail('READER_CHANGED', 'the file on the server is another one than before; open it again');
  }
}

/** `length` bytes from `start` on of the parts laid end to end, fewer where they end. */
function slice(parts: readonly Uint8Array[], start: number, length: number): Uint8Array {
  if (parts.length === 1) return parts[0].subarray(start, start + length);
  const size = parts.reduce((sum, part) => sum + part.byteLength, 0);
  const bytes = new Uint8Array(Math.max(0, Math.min(length, size - start)));
  let at = -start;
  for (const part of parts) {
    const from = Math.max(0, -at);
    const to = Math.min(part.byteLength, bytes.byteLength - at);
    if (to > from) bytes.set(part.subarray(from, to), at + from);
    at += part.byteLength;
  }
  return bytes;
}
