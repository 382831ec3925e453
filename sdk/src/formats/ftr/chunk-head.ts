/** The beginning of a chunk: its kind, what it says next to its content, and where that lies. Today's and the historic forms. */
import type { ErrorCode } from '../../base/codes.js';
import { UscopeError } from '../../base/errors.js';
import { type CborReader, Major } from './cbor.js';
import { type FtrChunk, FtrTag } from './types.js';

export interface ChunkHead {
  readonly kind: FtrChunk['kind'];
  readonly isCompressed: boolean;
  /** Of blocks of transactions. */
  readonly stream: bigint;
  readonly start: bigint | null;
  readonly end: bigint | null;
  /** Bytes of the content, in the file and unpacked. */
  readonly size: number;
  readonly rawSize: number;
}

/** Content of a chunk that is taken: it has to be in memory. Usual writers stay below 100 KiB. */
export const MAX_CHUNK_BYTES = 256 * 1024 * 1024;
/** No head is longer. */
export const MAX_HEAD_BYTES = 64;

const KINDS: ReadonlyMap<number, readonly [kind: FtrChunk['kind'], isCompressed: boolean]> = new Map([
  [FtrTag.INFO, ['info', false]],
  [FtrTag.DICTIONARY, ['dictionary', false]],
  [FtrTag.DICTIONARY + 1, ['dictionary', true]],
  [FtrTag.DIRECTORY, ['directory', false]],
  [FtrTag.DIRECTORY + 1, ['directory', true]],
  [FtrTag.TRANSACTIONS, ['transactions', false]],
  [FtrTag.TRANSACTIONS + 1, ['transactions', true]],
  [FtrTag.RELATIONS, ['relations', false]],
  [FtrTag.RELATIONS + 1, ['relations', true]],
]);

/**
 * Reads up to the first byte of the content.
 * @param offset of the chunk in the file, for errors
 * @throws OutOfBytes, NotCbor, UscopeError CONVERT_FORMAT, CONVERT_UNSUPPORTED, CONVERT_LIMIT
 */
export function readChunkHead(cbor: CborReader, offset: number): ChunkHead {
  const fail = (code: ErrorCode, detail: string): never => {
    throw new UscopeError(code, detail, { offset });
  };
  if (cbor.head() !== Major.TAG) fail('CONVERT_FORMAT', 'a chunk begins with a tag; this one does not');
  const [kind, isCompressed] =
    KINDS.get(cbor.number) ?? fail('CONVERT_UNSUPPORTED', `there is no chunk with the tag ${cbor.number}`);
  let major = cbor.head();
  const numbers: bigint[] = [];
  if (major === Major.ARRAY) {
    const count = cbor.number;
    if (cbor.isIndefinite || count < 1 || count > 5)
      fail('CONVERT_FORMAT', `the head of a chunk of kind ${kind} has no such number of parts`);
    for (let i = 0; i < count; i++) {
      major = cbor.head();
      if (i === count - 1) break;
      if (major !== Major.UNSIGNED)
        fail('CONVERT_FORMAT', `a number in the head of a chunk of kind ${kind} is none`);
      numbers.push(cbor.value);
    }
  }
  if (major !== Major.BYTES)
    fail('CONVERT_FORMAT', `the content of a chunk of kind ${kind} is not a byte string`);
  if (cbor.isIndefinite)
    fail('CONVERT_UNSUPPORTED', `the content of a chunk of kind ${kind} states no length`);
  const size = cbor.number;
  const rawSize = isCompressed
    ? Number(numbers.pop() ?? fail('CONVERT_FORMAT', 'a packed chunk states no size'))
    : size;
  if (Math.max(size, rawSize) > MAX_CHUNK_BYTES)
    fail(
      'CONVERT_LIMIT',
      `a chunk of ${Math.max(size, rawSize)} bytes; at most ${MAX_CHUNK_BYTES} are taken`,
    );
  const isBlock = kind === 'transactions';
  if (isBlock ? numbers.length !== 1 && numbers.length !== 3 : numbers.length !== 0)
    fail('CONVERT_FORMAT', `the head of a chunk of kind ${kind} has ${numbers.length} numbers`);
  const [stream = 0n, start = null, end = null] = numbers;
  return { kind, isCompressed, stream, start, end, size, rawSize };
}
