/** The time deltas of nearly all frames: LEB128 numbers of up to three bytes, taken from one word. */

/** Bytes of the number that a word begins with; 0 for more than three. */
export function shortDeltaSize(word: number): number {
  if ((word & 0x80) === 0) return 1;
  if ((word & 0x8000) === 0) return 2;
  return (word & 0x80_0000) === 0 ? 3 : 0;
}

export function shortDelta(word: number, size: number): number {
  const low = word & 0x7f;
  if (size === 1) return low;
  const two = low | ((word >>> 1) & 0x3f80);
  return size === 2 ? two : two | ((word >>> 2) & 0x1f_c000);
}
