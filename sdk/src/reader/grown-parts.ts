/**
 * What a reader that follows a trace is going to ask for, as one answer of the server that has the file (growing-file.ts): a reader far away takes
 * it instead of one request after the other. They are bytes of the file, no more: a reader that lacks one asks for it.
 */
import { UscopeError } from '../base/errors.js';

/** Bytes of the file from `offset` on. */
export interface FilePart {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export interface GrownParts {
  /** Bytes of the file that are committed. */
  readonly size: number;
  /** Offset of the last segment; 0: there is none yet. */
  readonly tail: number;
  /** In the order of the file. */
  readonly parts: readonly FilePart[];
}

const HEAD_BYTES = 24;
const ENTRY_BYTES = 16;

/**
 * Little-endian: size and tail (f64), number of parts (u32, 4 bytes of padding); for each its offset (f64) and length (f64); then their bytes.
 * @returns what is to be sent, one after the other: the parts' bytes are not copied
 */
export function encodeGrownParts({ size, tail, parts }: GrownParts): Uint8Array[] {
  const head = new Uint8Array(HEAD_BYTES + ENTRY_BYTES * parts.length);
  const view = new DataView(head.buffer);
  view.setFloat64(0, size, true);
  view.setFloat64(8, tail, true);
  view.setUint32(16, parts.length, true);
  for (const [index, { offset, bytes }] of parts.entries()) {
    view.setFloat64(HEAD_BYTES + ENTRY_BYTES * index, offset, true);
    view.setFloat64(HEAD_BYTES + ENTRY_BYTES * index + 8, bytes.byteLength, true);
  }
  return [head, ...parts.map(({ bytes }) => bytes)];
}

/** @throws UscopeError FORMAT_LENGTH: the answer does not hold what it says */
export function decodeGrownParts(encoded: Uint8Array): GrownParts {
  const view = new DataView(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  const count = encoded.byteLength < HEAD_BYTES ? Number.POSITIVE_INFINITY : view.getUint32(16, true);
  let at = HEAD_BYTES + ENTRY_BYTES * count;
  if (at > encoded.byteLength) cut(encoded);
  const parts = Array.from({ length: count }, (_, index) => {
    const offset = view.getFloat64(HEAD_BYTES + ENTRY_BYTES * index, true);
    const length = view.getFloat64(HEAD_BYTES + ENTRY_BYTES * index + 8, true);
    if (!(length >= 0 && at + length <= encoded.byteLength)) cut(encoded);
    const bytes = encoded.subarray(at, at + length);
    at += length;
    return { offset, bytes };
  });
  return { size: view.getFloat64(0, true), tail: view.getFloat64(8, true), parts };
}

function cut({ byteLength }: Uint8Array): never {
  throw new UscopeError(
    'FORMAT_LENGTH',
    `an answer of ${byteLength} bytes about what a trace has got since is cut`,
  );
}
