/** Numbers of a file, least significant byte first, as 64 bits of an event. */

/** Up to eight bytes. @param isSigned the bytes that are left out repeat the sign */
export function putBytes(
  view: DataView,
  offset: number,
  bytes: Uint8Array,
  at: number,
  size: number,
  isSigned: boolean,
): void {
  const fill = isSigned && size > 0 && bytes[at + size - 1] >= 0x80 ? -1 : 0;
  view.setInt32(offset, wordOf(bytes, at, size, fill), true);
  view.setInt32(offset + 4, size > 4 ? wordOf(bytes, at + 4, size - 4, fill) : fill, true);
}

/** Four bytes, those after `size` from `fill`. */
function wordOf(bytes: Uint8Array, at: number, size: number, fill: number): number {
  if (size >= 4) return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
  let word = fill;
  for (let i = size - 1; i >= 0; i--) word = (word << 8) | bytes[at + i];
  return word;
}
