/** Texts of .ctrace: UTF-8, with bytes that are none kept as lone surrogates (U+DC80 + byte - 0x80). */
import { concatBytes } from '../../base/bytes.js';

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();
const LONE = /(?<![\ud800-\udbff])[\udc80-\udcff]/;
const LONES = /(?<![\ud800-\udbff])[\udc80-\udcff]/g;

export function decodeText(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    return decodeDamaged(bytes);
  }
}

/** Back to the same bytes. */
export function encodeText(text: string): Uint8Array {
  if (!LONE.test(text)) return encoder.encode(text);
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const { index } of text.matchAll(LONES)) {
    pieces.push(encoder.encode(text.slice(from, index)), Uint8Array.of(text.charCodeAt(index) - 0xdc00));
    from = index + 1;
  }
  pieces.push(encoder.encode(text.slice(from)));
  return concatBytes(pieces);
}

/** Whether a text is UTF-8 without NUL: other programs can keep it. */
export function isPlain(text: string): boolean {
  return !text.includes('\0') && !LONE.test(text);
}

function decodeDamaged(bytes: Uint8Array): string {
  let text = '';
  let valid = 0;
  for (let at = 0; at < bytes.length; ) {
    const size = sequenceAt(bytes, at);
    if (size > 0) {
      at += size;
      continue;
    }
    text += strict.decode(bytes.subarray(valid, at)) + String.fromCharCode(0xdc00 + bytes[at]);
    valid = ++at;
  }
  return text + strict.decode(bytes.subarray(valid));
}

/** Bytes of the character at `at`; 0 where there is none. */
function sequenceAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at];
  if (first < 0x80) return 1;
  const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + size > bytes.length) return 0;
  for (let i = 1; i < size; i++) if ((bytes[at + i] & 0xc0) !== 0x80) return 0;
  const second = bytes[at + 1];
  const isOutside =
    (first === 0xe0 && second < 0xa0) ||
    (first === 0xed && second >= 0xa0) ||
    (first === 0xf0 && second < 0x90) ||
    (first === 0xf4 && second >= 0x90);
  return isOutside ? 0 : size;
}
