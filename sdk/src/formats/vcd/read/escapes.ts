/** Texts of `s` changes: a blank ends a word of the file, so that writers escape as C does (`\040`, `\n`, `\x20`), which GTKWave reads, too. */

const ESCAPE = /\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|([abfnrtv\\'"?]))/g;
const LETTERS: Readonly<Record<string, string>> = {
  ...{ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' },
};
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Bytes that are not UTF-8 are Latin-1, the characters of VHDL. */
export function textOfBytes(bytes: Uint8Array): string {
  // A character for each byte: `latin1` of TextDecoder is Windows-1252, which differs from 0x80 to 0x9f.
  const text = unescaped(Buffer.from(bytes).toString('latin1'));
  try {
    return utf8.decode(Buffer.from(text, 'latin1'));
  } catch {
    return text;
  }
}

function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(ESCAPE, (_, octal?: string, hex?: string, letter = '') => {
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
    return hex === undefined ? (LETTERS[letter] ?? letter) : String.fromCharCode(Number.parseInt(hex, 16));
  });
}
