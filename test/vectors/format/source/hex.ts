/** Bytes spelled out by hand, so that the vectors owe nothing to the encoders they check. */

/**
 * hex`"uSCP" 00 00 # version ${part} 00*8`: byte pairs, repeated bytes (`00*8`), quoted ASCII, inserted bytes; `#` starts a comment.
 */
export function hex(strings: TemplateStringsArray, ...parts: Uint8Array[]): Uint8Array {
  const out: number[] = [];
  strings.raw.forEach((text, index) => {
    for (const line of text.split('\n')) spell(line.replace(/#.*$/, ''), out);
    out.push(...(parts[index] ?? []));
  });
  return Uint8Array.from(out);
}

function spell(line: string, out: number[]): void {
  const token = /\s*(?:"([^"]*)"|([0-9a-f]{2})(?:\*(\d+))?(?![0-9a-f]))\s*/y;
  while (token.lastIndex < line.length && line.trim() !== '') {
    const at = token.lastIndex;
    const match = token.exec(line);
    if (!match) throw new Error(`not bytes: '${line.slice(at)}'`);
    if (match[1] !== undefined) for (const char of match[1]) out.push(char.charCodeAt(0));
    else for (let i = Number(match[3] ?? 1); i > 0; i--) out.push(Number.parseInt(match[2], 16));
  }
}

/** Bytes in the form in which JSON holds them. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function fromHex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
