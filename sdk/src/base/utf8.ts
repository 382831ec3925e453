/** Strict UTF-8: what is not valid is an error, never a replacement character. */
import { type ErrorPlace, UscopeError } from './errors.js';

// ignoreBOM keeps a leading U+FEFF, so that text survives a round trip unchanged.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();
const LONE_SURROGATE = /\p{Surrogate}/u;

/** FORMAT_UTF8 when the bytes are not valid UTF-8. */
export function decodeUtf8(bytes: Uint8Array, place: ErrorPlace = {}): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new UscopeError('FORMAT_UTF8', `${bytes.length} bytes of text are not valid UTF-8`, place, {
      cause,
    });
  }
}

/** FORMAT_UTF8 when the text has a lone surrogate, which UTF-8 cannot carry. */
export function encodeUtf8(text: string): Uint8Array {
  if (LONE_SURROGATE.test(text)) {
    throw new UscopeError(
      'FORMAT_UTF8',
      `${JSON.stringify(text)} holds a lone surrogate, which has no UTF-8 form`,
    );
  }
  return encoder.encode(text);
}
