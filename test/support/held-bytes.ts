/** How much memory of typed arrays an object keeps: counted, not measured, so that the answer is the same every time. */

/**
 * Bytes of all buffers that can be reached from an object, each counted once, and the number of typed arrays over them.
 * @param except what is not followed: other objects that it only refers to
 */
export function heldBytes(root: object, except: readonly object[] = []): { bytes: number; views: number } {
  const seen = new Set<unknown>(except);
  const buffers = new Set<ArrayBufferLike>();
  let views = 0;
  const waiting: unknown[] = [root];
  const follow = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    waiting.push(value);
  };
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (ArrayBuffer.isView(value)) {
      views++;
      buffers.add(value.buffer);
    } else if (value instanceof Map) {
      for (const [key, entry] of value) [key, entry].forEach(follow);
    } else if (value instanceof Set) value.forEach(follow);
    else Object.values(value as object).forEach(follow);
  }
  return { bytes: [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0), views };
}
