/** Bytes as hexadecimal digits, two each, and back. */

const PAIRS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Lower case, without a prefix. */
export function toHex(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i++) text += PAIRS[bytes[i]];
  return text;
}

/** The bytes up to the first pair that is not two digits. */
export function fromHex(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length >>> 1);
  for (let i = 0; i < bytes.length; i++) {
    const high = digit(text.charCodeAt(2 * i));
    const low = digit(text.charCodeAt(2 * i + 1));
    if (high < 0 || low < 0) return bytes.slice(0, i);
    bytes[i] = (high << 4) | low;
  }
  return bytes;
}

function digit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
