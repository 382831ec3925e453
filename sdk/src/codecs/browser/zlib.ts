/**
 * gzip and zlib in browsers, by the Compression Streams of the platform. node/zlib.ts offers the same in Node. What differs: a file of several
 * gzip members is refused after the first, since these streams do not say where a member ends.
 */
import { concatBytes } from '../../base/bytes.js';
import { UscopeError } from '../../base/errors.js';
import { type DeflateFormat, type GzipStream, gzipFailure, MAX_HEAD_BYTES } from '../platform/zlib.js';

type Streams = Pick<DecompressionStream, 'readable' | 'writable'>;

/**
 * The bytes in pieces. What could be unpacked before the end of a cut file comes first.
 * @throws UscopeError CONVERT_FORMAT, CONVERT_TRUNCATED (the packed data are not whole), and what the pieces throw
 */
export async function* gunzip(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const feed = new Feed(new DecompressionStream('gzip'), pieces);
  try {
    yield* feed.output();
  } catch (cause) {
    throw gzipFailure(feed.failure ?? cause, feed.isCut(cause));
  }
}

/** What the beginning of a gzip file holds, without an error where it is cut. @throws Error when it is not gzip */
export async function gunzipHead(head: Uint8Array): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  const feed = new Feed(new DecompressionStream('gzip'), once(head));
  try {
    for await (const piece of feed.output()) {
      pieces.push(piece);
      size += piece.length;
      if (size > MAX_HEAD_BYTES) throw new Error(`more than ${MAX_HEAD_BYTES} bytes`);
    }
  } catch (error) {
    // Cut, as the beginning of a larger file is.
    if (!feed.isCut(error)) throw error;
  }
  return concatBytes(pieces);
}

/** At most `maxBytes`. @throws Error when the data are malformed, cut or hold more */
export async function inflate(
  format: DeflateFormat,
  packed: Uint8Array,
  maxBytes: number,
): Promise<Uint8Array> {
  const streams = new DecompressionStream(format === 'gzip' ? 'gzip' : 'deflate');
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of new Feed(streams, once(packed)).output()) {
    pieces.push(piece);
    size += piece.length;
    if (size > maxBytes) throw new Error(`more than ${maxBytes} bytes`);
  }
  return concatBytes(pieces);
}

/** @throws UscopeError ENV_MISSING: browsers compress asynchronously only */
export function deflate(format: DeflateFormat, _bytes: Uint8Array): Uint8Array {
  throw new UscopeError(
    'ENV_MISSING',
    `blocks of ${format} cannot be written in a browser: choose lz4 or no compression`,
  );
}

export function gzipStream(): GzipStream {
  const { readable, writable } = new CompressionStream('gzip');
  const writer = writable.getWriter();
  const ready: Uint8Array[] = [];
  // Reads all the time: a stream whose output is not read takes no more input.
  const reading = readAll(readable, ready);
  reading.catch(() => undefined); // reported by `end`
  return {
    async write(bytes) {
      await writer.write(bytes.slice());
      return ready.splice(0);
    },
    async end() {
      await writer.close();
      await reading;
      return ready.splice(0);
    },
  };
}

async function readAll(readable: ReadableStream<Uint8Array>, into: Uint8Array[]): Promise<void> {
  const reader = readable.getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    into.push(value);
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Brings pieces through a stream while its output is read. */
class Feed {
  /** All pieces went in. */
  private isClosing = false;
  /** What the pieces threw. */
  failure: unknown;

  constructor(
    private readonly streams: Streams,
    private readonly pieces: AsyncIterable<Uint8Array>,
  ) {}

  /** Whether a failure means that more pieces are missing: damage is reported before. Node's streams report it late, by a code. */
  isCut(failure: unknown): boolean {
    return this.isClosing && (failure as { code?: string }).code !== 'Z_DATA_ERROR';
  }

  async *output(): AsyncGenerator<Uint8Array> {
    const writer = this.streams.writable.getWriter();
    const reader = this.streams.readable.getReader();
    const iterator = this.pieces[Symbol.asyncIterator]();
    const feeding = this.feed(iterator, writer);
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        if (value.length > 0) yield value;
      }
      await feeding;
    } finally {
      await reader.cancel().catch(() => undefined);
      await feeding.catch(() => undefined);
      await iterator.return?.();
    }
  }

  /** An error of the stream itself is what its reader gets. */
  private async feed(
    iterator: AsyncIterator<Uint8Array>,
    writer: WritableStreamDefaultWriter<Uint8Array>,
  ): Promise<void> {
    try {
      for (;;) {
        const { value, done } = await this.next(iterator);
        if (done) break;
        await writer.write(value);
      }
      // Is taken once all output has been read: an error would throw away what has not.
      await writer.write(new Uint8Array(0));
      this.isClosing = true;
      await writer.close();
    } catch (error) {
      await writer.abort(error).catch(() => undefined);
    }
  }

  private async next(iterator: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
    try {
      return await iterator.next();
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }
}
