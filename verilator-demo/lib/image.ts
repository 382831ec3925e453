/** Program images: 32-bit words in hex, one per line, comments on separate lines (firmware/Makefile). */

export function parseHex(text: string): number[] {
  const lines = text.split('\n').filter((line) => line && !line.startsWith('//'));
  return lines.map((line) => Number.parseInt(line, 16));
}

export function formatHex(words: readonly number[]): string {
  return `${words.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('\n')}\n`;
}
