import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LF, linePieces, textLines } from './lines.js';

const text = fc.array(fc.oneof(fc.constantFrom('\n', 'a', 'b', '\r'), fc.string({ maxLength: 9 })), {
  maxLength: 80,
});

/** The bytes in pieces of these sizes, all in the same memory, as a file is read. */
async function* cut(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  const memory = new Uint8Array(64);
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const piece = bytes.subarray(at, at + (sizes[i % sizes.length] ?? 1));
    at += piece.length;
    memory.set(piece);
    yield memory.subarray(0, piece.length);
    memory.fill(LF);
  }
}

it('a text comes whole, in pieces that end with lines, wherever it is cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      text,
      fc.array(fc.integer({ min: 1, max: 64 }), { minLength: 1, maxLength: 9 }),
      async (parts, sizes) => {
        const bytes = new TextEncoder().encode(parts.join(''));
        const found: number[] = [];
        for await (const { bytes: piece, end, offset, isWhole } of linePieces(cut(bytes, sizes))) {
          expect(offset).toBe(found.length);
          expect(isWhole).toBe(piece[end - 1] === LF);
          found.push(...piece.subarray(0, end));
        }
        expect(found).toEqual([...bytes]);
        const lines: string[] = [];
        for await (const batch of textLines(cut(bytes, sizes))) lines.push(...batch.map((line) => line.text));
        const expected = parts.join('').split('\n');
        if (expected.at(-1) === '') expected.pop();
        expect(lines).toEqual(expected.map((line) => line.replace(/\r$/, '')));
      },
    ),
  );
});
