/** What xz has packed, by its decoder in WebAssembly: the same in Node and in browsers. */
import { UscopeError } from '../base/errors.js';

/**
 * The bytes in pieces. What could be unpacked before the end of a cut file comes first.
 * @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT, CONVERT_TRUNCATED (the packed data are not whole), and what the pieces throw
 */
export async function* unxz(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  // Loaded when there is xz: few files are packed with it.
  const { default: xz } = await import('xz-decompress');
  let ended = false;
  const iterator = pieces[Symbol.asyncIterator]();
  const input = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await iterator.next();
      ended = done === true;
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
  const reader = new xz.XzReadableStream(input).getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      if (value.length > 0) yield value.slice();
    }
  } catch (cause) {
    throw xzFailure(cause, ended);
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** The decoder's message says which of its errors it was. */
const XZ_LIMITS = new Set([3, 4]);
const XZ_INPUT_MISSING = 8;

function xzFailure(cause: unknown, ended: boolean): unknown {
  const code = Number(
    /error code (\d+)/.exec(cause instanceof Error ? cause.message : '')?.[1] ?? Number.NaN,
  );
  if (XZ_LIMITS.has(code)) {
    return new UscopeError('CONVERT_LIMIT', 'xz: the dictionary is larger than 64 MiB', {}, { cause });
  }
  if (cause instanceof UscopeError) return cause;
  const isTruncated = Number.isNaN(code) ? ended : code === XZ_INPUT_MISSING;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new UscopeError(
    isTruncated ? 'CONVERT_TRUNCATED' : 'CONVERT_FORMAT',
    `xz: ${reason}`,
    {},
    { cause },
  );
}
