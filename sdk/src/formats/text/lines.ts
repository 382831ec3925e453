/** Lines of a text, with the place of each. */
import { UscopeError } from '../../base/errors.js';

export interface TextLine {
  /** Without line feed and carriage return. Bytes that are not UTF-8 read as U+FFFD. */
  readonly text: string;
  /** Of its first byte, in the unpacked text. */
  readonly offset: number;
  /** False for the last line of a text that does not end with a line feed: it may have been cut. */
  readonly isWhole: boolean;
}

/** Bytes of a text that end where a line ends. */
export interface LinePiece {
  /** Valid until the next piece is fetched. */
  readonly bytes: Uint8Array;
  /** End of the last line in `bytes`, after its line feed. */
  readonly end: number;
  /** Of the first byte, in the unpacked text. */
  readonly offset: number;
  /** False for a last line without a line feed, which is a piece alone. */
  readonly isWhole: boolean;
}

/** No line of the formats here comes near it: longer ones are not text. */
const MAX_LINE_BYTES = 1024 * 1024;
export const LF = 10;
export const CR = 13;
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * A text in pieces of whole lines, as they arrive.
 * @throws UscopeError CONVERT_LIMIT for a line above 1 MiB, and what `pieces` throws, after all lines before it
 */
export async function* linePieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<LinePiece> {
  // What is left of a piece becomes a line with the beginning of the next one; all other lines stay where they are.
  let memory = new Uint8Array(0);
  let rest = 0;
  let offset = 0;
  for await (const piece of pieces) {
    const from = rest === 0 ? 0 : piece.indexOf(LF) + 1;
    const end = piece.lastIndexOf(LF) + 1;
    if (rest > 0 && from > 0) {
      memory = joined(memory, rest, piece.subarray(0, from));
      const length = rest + from;
      yield { bytes: memory.subarray(0, length), end: length, offset, isWhole: true };
      offset += length;
      rest = 0;
    }
    if (end > from) {
      yield { bytes: piece.subarray(from), end: end - from, offset, isWhole: true };
      offset += end - from;
    }
    memory = joined(memory, rest, piece.subarray(end));
    rest += piece.length - end;
    checkLength(rest, offset);
  }
  if (rest > 0) yield { bytes: memory.subarray(0, rest), end: rest, offset, isWhole: false };
}

/**
 * The lines of a text, in batches as they arrive: one await per piece, not per line.
 * @throws UscopeError as `linePieces`
 */
export async function* textLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<TextLine[]> {
  for await (const { bytes, end, offset, isWhole } of linePieces(pieces)) {
    const lines: TextLine[] = [];
    for (let at = 0; at < end; ) {
      const to = isWhole ? bytes.indexOf(LF, at) : end;
      lines.push({ text: lineText(bytes, at, to), offset: offset + at, isWhole });
      at = to + 1;
    }
    yield lines;
  }
}

/** The line between two places, without its carriage return. */
export function lineText(bytes: Uint8Array, from: number, to: number): string {
  const end = to > from && bytes[to - 1] === CR ? to - 1 : to;
  return decoder.decode(bytes.subarray(from, end));
}

/** The first `length` bytes with more after them, in the same memory where that has room. */
function joined(memory: Uint8Array<ArrayBuffer>, length: number, more: Uint8Array): Uint8Array<ArrayBuffer> {
  let all = memory;
  if (length + more.length > memory.length) {
    all = new Uint8Array(Math.max(length + more.length, 2 * memory.length));
    all.set(memory.subarray(0, length));
  }
  all.set(more, length);
  return all;
}

function checkLength(rest: number, offset: number): void {
  if (rest <= MAX_LINE_BYTES) return;
  throw new UscopeError('CONVERT_LIMIT', `a line of more than ${MAX_LINE_BYTES} bytes: this is not text`, {
    offset,
  });
}
