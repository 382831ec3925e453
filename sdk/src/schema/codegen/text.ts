/** Lines of generated code. */

/** Leaves room for the indentation added later. */
const WIDTH = 106;

/**
 * `head(a, b, c)tail`, on as many lines as it takes.
 * @param indent of the first line; the others get `more` on top
 */
export function call(
  head: string,
  items: readonly string[],
  tail: string,
  indent = '',
  more = '  ',
): string[] {
  const lines: string[] = [];
  let line = `${indent}${head}(`;
  items.forEach((item, index) => {
    const piece = index === items.length - 1 ? `${item})${tail}` : `${item},`;
    const space = index === 0 ? '' : ' ';
    if (index > 0 && line.length + space.length + piece.length > WIDTH) {
      lines.push(line);
      line = `${indent}${more}${piece}`;
    } else line += space + piece;
  });
  lines.push(items.length === 0 ? `${line})${tail}` : line);
  return lines;
}

export function indented(lines: readonly string[], by: string): string[] {
  return lines.map((line) => (line === '' ? '' : by + line));
}

/** Sections with an empty line between them. */
export function separated(sections: readonly (readonly string[])[]): string[] {
  return sections
    .filter((lines) => lines.length > 0)
    .flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
}

/** A string literal of C and SystemVerilog; whatever is not plain ASCII as octal escapes of its UTF-8 bytes. */
export function quotedBytes(text: string): string {
  const escaped = [...new TextEncoder().encode(text)].map((byte) => {
    const character = String.fromCharCode(byte);
    // A question mark could be part of a trigraph.
    return /[A-Za-z0-9 _.:;/+*=<>(){}[\]|&^~!@#$%'`,-]/.test(character)
      ? character
      : `\\${byte.toString(8).padStart(3, '0')}`;
  });
  return `"${escaped.join('')}"`;
}

/** A string literal of TypeScript (single quotes) or Python (double quotes), ASCII only. */
export function quoted(text: string, quote: "'" | '"'): string {
  let result = '';
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    const character = text.charAt(i);
    if (character === quote || character === '\\') result += `\\${character}`;
    else if (unit >= 0x20 && unit < 0x7f) result += character;
    else result += `\\u${unit.toString(16).padStart(4, '0')}`;
  }
  return quote + result + quote;
}
