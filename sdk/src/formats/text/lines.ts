/** Lines of a text, with the place of each. */
import { concatBytes } from '../../base/bytes.js';
import { UscopeError } from '../../base/errors.js';

export interface TextLine {
  /** Without line feed and carriage return. Bytes that are not UTF-8 read as U+FFFD. */
  readonly text: string;
  /** Of its first byte, in the unpacked text. */
  readonly offset: number;
  /** False for the last line of a text that does not end with a line feed: it may have been cut. */
  readonly isWhole: boolean;
}

/** No line of the formats here comes near it: longer ones are not text. */
const MAX_LINE_BYTES = 1024 * 1024;
const LF = 10;
const CR = 13;
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * The lines of a text, in batches as they arrive: one await per piece, not per line.
 * @throws UscopeError CONVERT_LIMIT for a line above 1 MiB, and what `pieces` throws, after all lines before it
 */
export async function* textLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<TextLine[]> {
  let rest = new Uint8Array(0);
  let offset = 0;
  for await (const piece of pieces) {
    const bytes = rest.length === 0 ? piece : concatBytes([rest, piece]);
    const { lines, used } = split(bytes, offset);
    // The piece's memory may be reused by its source.
    rest = Uint8Array.prototype.slice.call(bytes, used);
    offset += used;
    checkLength(rest, offset);
    if (lines.length > 0) yield lines;
  }
  if (rest.length > 0) yield [lineAt(rest, 0, rest.length, offset, false)];
}

function split(bytes: Uint8Array, offset: number): { lines: TextLine[]; used: number } {
  const lines: TextLine[] = [];
  let used = 0;
  for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, used)) {
    lines.push(lineAt(bytes, used, end, offset, true));
    used = end + 1;
  }
  return { lines, used };
}

function lineAt(bytes: Uint8Array, from: number, to: number, offset: number, isWhole: boolean): TextLine {
  const end = to > from && bytes[to - 1] === CR ? to - 1 : to;
  return { text: decoder.decode(bytes.subarray(from, end)), offset: offset + from, isWhole };
}

function checkLength(rest: Uint8Array, offset: number): void {
  if (rest.length <= MAX_LINE_BYTES) return;
  throw new UscopeError('CONVERT_LIMIT', `a line of more than ${MAX_LINE_BYTES} bytes: this is no text`, {
    offset,
  });
}
