/**
 * One HTTP range request and what its answer means: a part of the file, the whole file from a server without ranges, or nothing after its
 * end. Every failure is a coded error with what to do about it; the URL is its place.
 */
import { UscopeError } from '../base/errors.js';

export interface HttpOptions {
  /** Sent with every request: `authorization`, cookies, … */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Longest silence of the server before READER_HTTP_TIMEOUT. Default 30 s. */
  readonly timeoutMs?: number | undefined;
  /** Largest file fetched whole from a server that does not serve parts. Default 64 MiB. */
  readonly maxDownloadBytes?: number | undefined;
  /** Bytes of the file kept. Default 16 MiB. */
  readonly cacheBytes?: number | undefined;
  /** Instead of the global one. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** What distinguishes one version of a file from another (RFC 9110 §8.8); null where the server says nothing. */
export interface Validator {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

export type HttpAnswer =
  /** `bytes` may be fewer than asked for: some servers limit what they send at a time. */
  | {
      readonly kind: 'part';
      readonly bytes: Uint8Array;
      readonly total: number;
      readonly validator: Validator;
    }
  | { readonly kind: 'whole'; readonly bytes: Uint8Array; readonly validator: Validator }
  /** The file has changed: the server answers a conditional request with all of it, which is not read. */
  | { readonly kind: 'changed' }
  /** Nothing lies in the range: the file ends before. */
  | { readonly kind: 'beyond'; readonly total: number };

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_DOWNLOAD = 64 * 1024 * 1024;
const ATTEMPTS = 3;
const FIRST_PAUSE_MS = 200;
/** A browser's cache must not mix versions of a growing file; the source has its own. (Node's types do not know the option.) */
const UNCACHED: object = { cache: 'no-store' };
/** Answers of servers and proxies that are overloaded or being restarted. */
const TRANSIENT_STATUS = new Set([429, 502, 503, 504]);

export class HttpFile {
  /** The URL without credentials: what errors show. */
  readonly name: string;
  private readonly url: string;
  private readonly headers: Readonly<Record<string, string>>;
  private hasAnswered = false;
  private isClosed = false;
  private readonly running = new Set<Silence>();

  /** @throws UscopeError READER_OPEN for what is not an http or https URL */
  constructor(
    url: string | URL,
    private readonly options: HttpOptions,
  ) {
    const { address, authorization } = parseAddress(url);
    this.url = address;
    this.name = address;
    this.headers = { ...authorization, ...options.headers };
  }

  /**
   * The bytes `[start, end)`. With a validator the file must be the version it names, else the answer is `changed`. A server that has
   * answered before gets a second and third chance when it fails.
   */
  async range(start: number, end: number, version: Validator | null): Promise<HttpAnswer> {
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await this.attempt(start, end, version);
        this.hasAnswered = true;
        return answer;
      } catch (error) {
        if (!(error instanceof Transient)) throw error;
        if (!this.hasAnswered || this.isClosed || attempt === ATTEMPTS) throw error.reported;
        await new Promise((resolve) => setTimeout(resolve, FIRST_PAUSE_MS * 2 ** (attempt - 1)));
        if (this.isClosed) throw error.reported;
      }
    }
  }

  /** Ends what is under way: nobody waits for it any more. */
  close(): void {
    this.isClosed = true;
    for (const silence of this.running) silence.cancel();
  }

  fail(code: 'READER_CHANGED' | 'READER_HTTP_RANGES' | 'READER_HTTP_STATUS', detail: string): never {
    throw this.error(code, detail);
  }

  /** What the server says about the version of the file it has now: equal strings mean equal files, as far as the server knows. */
  async version(): Promise<string> {
    try {
      return await this.send(0, 1, null, async (response) => {
        await response.body?.cancel();
        if (!response.ok) this.fail('READER_HTTP_STATUS', statusText(response));
        const { etag, lastModified } = validatorOf(response);
        const size = response.headers.get(response.status === 206 ? 'content-range' : 'content-length');
        return [etag, lastModified, size].join(' ');
      });
    } catch (error) {
      throw error instanceof Transient ? error.reported : error;
    }
  }

  private attempt(start: number, end: number, version: Validator | null): Promise<HttpAnswer> {
    const condition = version && conditionOf(version);
    return this.send(start, end, condition, (response, silence) =>
      this.interpret(response, { start, end, conditional: Boolean(condition), silence }),
    );
  }

  private async send<T>(
    start: number,
    end: number,
    condition: string | null,
    use: (response: Response, silence: Silence) => Promise<T>,
  ): Promise<T> {
    const silence = new Silence(this.options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    this.running.add(silence);
    try {
      const response = await (this.options.fetch ?? fetch)(this.url, {
        // Positions in an encoded body are not positions in the file.
        headers: {
          'accept-encoding': 'identity',
          ...this.headers,
          range: `bytes=${start}-${end - 1}`,
          ...(condition && { 'if-range': condition }),
        },
        ...UNCACHED,
        signal: silence.signal,
      });
      silence.heard();
      return await use(response, silence);
    } catch (error) {
      throw this.explain(error, silence);
    } finally {
      silence.end();
      this.running.delete(silence);
    }
  }

  private async interpret(response: Response, request: Request): Promise<HttpAnswer> {
    const { status } = response;
    if (status === 206) return this.part(response, request);
    if (status === 200) return this.whole(response, request);
    await response.body?.cancel();
    if (status === 416) {
      const total = /^bytes \*\/(\d+)$/.exec(response.headers.get('content-range') ?? '')?.[1];
      if (total !== undefined) return { kind: 'beyond', total: Number(total) };
    }
    const error = this.error('READER_HTTP_STATUS', statusText(response));
    throw TRANSIENT_STATUS.has(status) ? new Transient(error) : error;
  }

  private async part(response: Response, request: Request): Promise<HttpAnswer> {
    const range = parseContentRange(response.headers.get('content-range'));
    const encoding = response.headers.get('content-encoding') ?? 'identity';
    const problem = partProblem(range, encoding, request);
    if (range === null || problem) {
      await response.body?.cancel();
      this.fail('READER_HTTP_RANGES', `${problem}; use another server, or download the file`);
    }
    const expected = range.end - range.start;
    const bytes = await readBody(response, expected, request.silence);
    if (bytes?.byteLength !== expected) {
      throw new Transient(
        this.error(
          'READER_HTTP_STATUS',
          `the server announced ${expected} bytes and sent ${bytes ? bytes.byteLength : 'more'}; try again`,
        ),
      );
    }
    return { kind: 'part', bytes, total: range.total, validator: validatorOf(response) };
  }

  private async whole(response: Response, request: Request): Promise<HttpAnswer> {
    if (request.conditional) {
      await response.body?.cancel();
      return { kind: 'changed' };
    }
    const limit = this.options.maxDownloadBytes ?? DEFAULT_MAX_DOWNLOAD;
    const stated = Number(response.headers.get('content-length') ?? 0);
    const bytes = stated > limit ? null : await readBody(response, limit, request.silence);
    if (bytes) return { kind: 'whole', bytes, validator: validatorOf(response) };
    if (stated > limit) await response.body?.cancel();
    const size = stated > 0 ? `${stated} bytes; at most ${limit}` : `more than the ${limit} bytes that`;
    this.fail(
      'READER_HTTP_RANGES',
      `the server does not answer range requests, and the file has ${size} are fetched whole; use another server, or download the file`,
    );
  }

  private explain(error: unknown, silence: Silence): unknown {
    if (silence.isOver) {
      return this.error(
        'READER_HTTP_TIMEOUT',
        `the server sent nothing for ${silence.limitMs} ms; check network and server and try again`,
      );
    }
    if (error instanceof UscopeError || error instanceof Transient) return error;
    const advice = this.hasAnswered
      ? 'the connection was lost; try again'
      : 'check address and network; in a page, the server must allow its origin (CORS)';
    return new Transient(
      this.error('READER_OPEN', `the server cannot be reached: ${reasonOf(error)}; ${advice}`, error),
    );
  }

  private error(code: UscopeError['code'], detail: string, cause?: unknown): UscopeError {
    return new UscopeError(code, detail, { file: this.name }, { cause });
  }
}

interface Request {
  readonly start: number;
  readonly end: number;
  readonly conditional: boolean;
  readonly silence: Silence;
}

/** A failure that may be gone at the next attempt; `reported` is what the user hears if it is not. */
class Transient extends Error {
  constructor(readonly reported: UscopeError) {
    super(reported.message);
  }
}

/** Ends a request when nothing has been heard for too long, however long the whole takes. */
class Silence {
  readonly signal: AbortSignal;
  isOver = false;
  private readonly controller = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly limitMs: number) {
    this.signal = this.controller.signal;
    this.heard();
  }

  heard(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.isOver = true;
      this.cancel();
    }, this.limitMs);
  }

  cancel(): void {
    this.controller.abort();
  }

  end(): void {
    clearTimeout(this.timer);
  }
}

/** The body if it has at most `limit` bytes; null, and the rest unread, when it has more. */
async function readBody(response: Response, limit: number, silence: Silence): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  while (reader) {
    const { done, value } = (await reader.read()) as { done: boolean; value?: Uint8Array };
    silence.heard();
    if (done || !value) break;
    size += value.byteLength;
    if (size > limit) {
      await reader.cancel();
      return null;
    }
    chunks.push(value);
  }
  return chunks.length === 1 ? chunks[0] : concatenate(chunks, size);
}

function concatenate(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

interface ContentRange {
  readonly start: number;
  readonly end: number;
  readonly total: number;
}

/** `bytes FIRST-LAST/TOTAL` (RFC 9110 §14.4), end exclusive here. */
function parseContentRange(text: string | null): ContentRange | null {
  const match = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(text ?? '');
  if (!match) return null;
  const [start, last, total] = match.slice(1).map(Number);
  return { start, end: last + 1, total };
}

function partProblem(range: ContentRange | null, encoding: string, request: Request): string | null {
  if (encoding !== 'identity') return `the server encodes the parts it sends (${encoding})`;
  if (range === null) {
    return 'the server does not say which bytes it sent and how many there are (Content-Range; for a page of another origin it must also name Content-Range and ETag in Access-Control-Expose-Headers)';
  }
  const { start, end, total } = range;
  const fits = start === request.start && end > start && end <= request.end && end <= total;
  return fits && Number.isSafeInteger(total)
    ? null
    : `the server sent bytes ${start} to ${end} of ${total} when asked for ${request.start} to ${request.end}`;
}

function validatorOf(response: Response): Validator {
  return { etag: response.headers.get('etag'), lastModified: response.headers.get('last-modified') };
}

/** For If-Range, which takes strong ETags only (RFC 9110 §13.1.5). */
function conditionOf({ etag, lastModified }: Validator): string | null {
  return etag && !etag.startsWith('W/') ? etag : lastModified;
}

/** False when the server's own words say that these are two versions. */
export function sameVersion(a: Validator, b: Validator): boolean {
  if (a.etag !== null && b.etag !== null) return a.etag === b.etag;
  return a.lastModified === null || b.lastModified === null || a.lastModified === b.lastModified;
}

const STATUS_ADVICE = new Map([
  [401, 'it wants credentials: http://USER:PASSWORD@HOST/…, or the header authorization'],
  [403, 'it does not allow this file to be read; check permissions and credentials'],
  [404, 'there is no such file; check the address'],
  [410, 'the file is no longer there; check the address'],
]);

function statusText({ status, statusText: text }: Response): string {
  const advice =
    STATUS_ADVICE.get(status) ?? (status >= 500 ? 'the server failed; try again later' : 'check the address');
  return `the server answered ${status}${text ? ` (${text})` : ''}: ${advice}`;
}

function parseAddress(given: string | URL): { address: string; authorization: Record<string, string> } {
  try {
    const page = (globalThis as { location?: { href?: string } }).location?.href;
    const url = new URL(given, page);
    if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new Error(`not ${url.protocol}`);
    const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    // `fetch` refuses credentials in the address, and errors must not print them.
    url.username = '';
    url.password = '';
    url.hash = '';
    const authorization: Record<string, string> =
      credentials === ':' ? {} : { authorization: `Basic ${base64(credentials)}` };
    return { address: url.href, authorization };
  } catch (cause) {
    throw new UscopeError(
      'READER_OPEN',
      `this is not an address to read from (${reasonOf(cause)}); it must begin with http:// or https://`,
      { file: String(given) },
      { cause },
    );
  }
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

/** Node's `fetch failed` hides the reason in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return cause.message || (cause as { code?: string }).code || error.message;
}
