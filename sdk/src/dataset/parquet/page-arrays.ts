/**
 * Arrays of pages that are kept for the next table: memory that was used already costs neither zeros nor garbage. Like a column after its first
 * page, they have old values: each row of a page is set before it is written.
 */

/** Of this thread. As much as the tables of one export may hold. */
const MOST_BYTES = 64 << 20;
/** Small ones cost little. */
const LEAST_LENGTH = 2048;

const kept = new Map<number, Float64Array<ArrayBuffer>[]>();
let bytes = 0;

/** Whatever is in it. */
export function takeArray(length: number): Float64Array<ArrayBuffer> {
  const array = kept.get(length)?.pop();
  if (!array) return new Float64Array(length);
  bytes -= array.byteLength;
  return array;
}

/** Nobody uses it any more. */
export function keepArray(array: Float64Array<ArrayBuffer>): void {
  const { length, byteLength } = array;
  if (length < LEAST_LENGTH || bytes + byteLength > MOST_BYTES) return;
  bytes += byteLength;
  const others = kept.get(length);
  if (others) others.push(array);
  else kept.set(length, [array]);
}
