/** Numbers and words of a line, from its bytes. */

// Text between two places of some bytes, which becomes a string only when one is wanted.

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export class TextBytes {
  bytes: Uint8Array = new Uint8Array(0);
  from = 0;
  to = 0;

  /** UTF-8 in foreign bytes, as long as those do not change. */
  point(bytes: Uint8Array, from: number, to: number): this {
    this.bytes = bytes;
    this.from = from;
    this.to = to;
    return this;
  }

  set(text: string): this {
    const bytes = encoder.encode(text);
    return this.point(bytes, 0, bytes.length);
  }

  toString(): string {
    return decoder.decode(this.bytes.subarray(this.from, this.to));
  }
}

const MAX_DIGITS = 15;
const SHORT_WORD = 32;
const WORDS = 256;

/** A whole number of at most 15 digits. The caller looks at `at`, which is where it ends. */
export class NumberColumn {
  value = 0;
  at = 0;

  /** False: no digits there, or too many to be exact. */
  take(bytes: Uint8Array, from: number): boolean {
    let at = from;
    let value = 0;
    for (let digit = bytes[at] - 48; digit >= 0 && digit <= 9; digit = bytes[++at] - 48)
      value = value * 10 + digit;
    this.value = value;
    this.at = at;
    return at > from && at - from <= MAX_DIGITS;
  }
}

/** Strings of short ASCII words that occur again and again, such as the names of stages: made once. */
export class Words {
  /** Of the last word that was found, from 0 to 255: a caller can remember what it means to it. */
  place = 0;
  private readonly words: (string | undefined)[] = new Array(WORDS).fill(undefined);

  /** Null: empty, too long, or with bytes that are not printable ASCII. */
  at(bytes: Uint8Array, from: number, to: number): string | null {
    const length = to - from;
    if (length < 1 || length > SHORT_WORD) return null;
    let hash = length;
    for (let at = from; at < to; at++) {
      const byte = bytes[at];
      if (byte < 0x20 || byte > 0x7e) return null;
      hash = (Math.imul(hash, 31) + byte) | 0;
    }
    const place = hash & (WORDS - 1);
    this.place = place;
    const known = this.words[place];
    if (known !== undefined && isWord(known, bytes, from, length)) return known;
    const word = String.fromCharCode(...bytes.subarray(from, to));
    this.words[place] = word;
    return word;
  }
}

function isWord(word: string, bytes: Uint8Array, from: number, length: number): boolean {
  if (word.length !== length) return false;
  for (let i = 0; i < length; i++) if (word.charCodeAt(i) !== bytes[from + i]) return false;
  return true;
}

/** By byte: its value as a hexadecimal digit; 255 for what is none. */
const DIGITS = new Uint8Array(256).fill(255);
for (let digit = 0; digit < 16; digit++) {
  const text = digit.toString(16);
  DIGITS[text.charCodeAt(0)] = digit;
  DIGITS[text.toUpperCase().charCodeAt(0)] = digit;
}

/** A hexadecimal number of any length, of which the lowest 64 bits are kept. The caller looks at `at`, which is where it ends. */
export class HexColumn {
  low = 0;
  high = 0;
  digits = 0;
  at = 0;

  /** False: no digits there. */
  take(bytes: Uint8Array, from: number): boolean {
    let [at, low, high] = [from, 0, 0];
    for (let digit = DIGITS[bytes[at]]; digit < 16; digit = DIGITS[bytes[++at]]) {
      high = (high << 4) | (low >>> 28);
      low = (low << 4) | digit;
    }
    this.low = low >>> 0;
    this.high = high >>> 0;
    this.digits = at - from;
    this.at = at;
    return at > from;
  }

  /** The lowest 64 bits: a bigint where a number is not exact. */
  get value(): number | bigint {
    const value = this.high * 2 ** 32 + this.low;
    return Number.isSafeInteger(value) ? value : (BigInt(this.high) << 32n) | BigInt(this.low);
  }

  /** The same after `0x`. */
  takePrefixed(bytes: Uint8Array, from: number): boolean {
    return bytes[from] === 0x30 && bytes[from + 1] === 0x78 && this.take(bytes, from + 2);
  }
}

/** Whether the bytes continue with an ASCII text. */
export function startsWith(bytes: Uint8Array, from: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[from + i] !== text.charCodeAt(i)) return false;
  return true;
}
