/** The content of chunks but blocks of transactions, item by item. */
import type { ErrorCode } from '../../base/codes.js';
import { UscopeError } from '../../base/errors.js';
import { CborReader, Major, NotCbor, OutOfBytes } from './cbor.js';
import type { RawChunk } from './reader.js';
import { type FtrDeclaration, type FtrInfo, type FtrRawRelation, FtrTag } from './types.js';

const TICKS_TAG = 1;
const DATE_TAG = 0;
const MAX_EXPONENT = 30;
const DEFAULT_EXPONENT = -12;

/** An error in the content of a chunk; offsets in packed content are given in words. */
export function contentError(chunk: RawChunk, at: number, code: ErrorCode, detail: string): UscopeError {
  if (!chunk.isCompressed) return new UscopeError(code, detail, { offset: chunk.contentOffset + at });
  const where = `${detail} (byte ${at} of the chunk's unpacked content)`;
  return new UscopeError(code, where, { offset: chunk.offset });
}

/**
 * What reading an item of a chunk ran into: false where the chunk was cut there, which is not an error of the item.
 * @throws UscopeError CONVERT_FORMAT, or the error itself
 */
export function isCutHere(chunk: RawChunk, at: number, error: unknown): boolean {
  if (error instanceof OutOfBytes) {
    if (chunk.isCut) return true;
    throw contentError(chunk, at, 'CONVERT_FORMAT', 'an item reaches past the end of its chunk');
  }
  if (error instanceof NotCbor) throw contentError(chunk, at, 'CONVERT_FORMAT', error.message);
  throw error;
}

/** Reads the items of an array or map, of a stated number or up to a break; those before a cut. */
class ItemReader {
  readonly cbor: CborReader;
  private left = 0;
  private isOpen = true;
  /** Where the present item begins. */
  at = 0;

  constructor(
    readonly chunk: RawChunk,
    private readonly major: number,
  ) {
    this.cbor = new CborReader(chunk.content);
  }

  /** Whether there is another item; `read` reads it. Undefined at the end. */
  next<T>(read: (cbor: CborReader) => T): T | undefined {
    try {
      if (this.isOpen) this.open();
      this.at = this.cbor.at;
      if (this.left === 0) return undefined;
      if (this.left === Number.POSITIVE_INFINITY && this.cbor.isAtBreak) {
        this.left = 0;
        return undefined;
      }
      const item = read(this.cbor);
      this.left--;
      return item;
    } catch (error) {
      isCutHere(this.chunk, this.at, error);
      this.left = 0;
      return undefined;
    }
  }

  private open(): void {
    this.cbor.head();
    if (this.cbor.major !== this.major)
      this.fail('the content of a chunk is not of the kind that its tag says');
    this.left = this.cbor.isIndefinite ? Number.POSITIVE_INFINITY : this.cbor.number;
    this.isOpen = false;
  }

  fail(detail: string, code: ErrorCode = 'CONVERT_FORMAT'): never {
    throw contentError(this.chunk, this.at, code, detail);
  }

  /** An array of one of these lengths; returns which. */
  array(...sizes: readonly number[]): number {
    this.cbor.head();
    const { number } = this.cbor;
    if (this.cbor.major === Major.ARRAY && !this.cbor.isIndefinite && sizes.includes(number)) return number;
    return this.fail(`an array of ${sizes.join(' or ')} parts belongs here`);
  }

  unsigned(what: string): bigint {
    this.cbor.head();
    if (this.cbor.major !== Major.UNSIGNED) this.fail(`${what} is not an unsigned number`);
    return this.cbor.value;
  }

  /** The number of a text. */
  text(what: string): number {
    this.cbor.head();
    if (this.cbor.major !== Major.UNSIGNED) this.fail(`${what} is not a number of a text`);
    if (this.cbor.hi !== 0)
      this.fail(`${what} is text ${this.cbor.value}; numbers of texts stay below 2^32`, 'CONVERT_LIMIT');
    return this.cbor.lo;
  }
}

/** Texts with their numbers; the bytes are views. @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT */
export function* dictionaryEntries(chunk: RawChunk): Generator<readonly [number, Uint8Array]> {
  const items = new ItemReader(chunk, Major.MAP);
  for (;;) {
    const entry = items.next((cbor) => {
      const id = items.text('the number of a text');
      cbor.head();
      if ((cbor.major !== Major.TEXT && cbor.major !== Major.BYTES) || cbor.isIndefinite)
        items.fail(`text ${id} is none`);
      return [id, cbor.take(cbor.number)] as const;
    });
    if (!entry) return;
    yield entry;
  }
}

/** @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT */
export function* directoryEntries(chunk: RawChunk): Generator<FtrDeclaration> {
  const items = new ItemReader(chunk, Major.ARRAY);
  for (;;) {
    const entry = items.next((cbor): FtrDeclaration => {
      cbor.head();
      const tag = cbor.major === Major.TAG ? cbor.number : -1;
      if (tag !== FtrTag.STREAM && tag !== FtrTag.GENERATOR)
        items.fail('an entry of the directory is neither a stream (tag 16) nor a generator (tag 17)');
      items.array(3);
      const id = items.unsigned('the id of a stream or generator');
      const name = items.text('the name of a stream or generator');
      if (tag === FtrTag.STREAM)
        return { kind: 'stream', id, name, streamKind: items.text('the kind of a stream') };
      return { kind: 'generator', id, name, stream: items.unsigned('the stream of a generator') };
    });
    if (!entry) return;
    yield entry;
  }
}

/** @throws UscopeError CONVERT_FORMAT, CONVERT_LIMIT */
export function* relationEntries(chunk: RawChunk): Generator<FtrRawRelation> {
  const items = new ItemReader(chunk, Major.ARRAY);
  for (;;) {
    const relation = items.next((): FtrRawRelation => {
      const isOld = items.array(3, 5) === 3;
      const name = items.text('the name of a relation');
      const source = items.unsigned('the source of a relation');
      const sink = items.unsigned('the sink of a relation');
      const sourceStream = isOld ? null : items.unsigned('the stream of the source of a relation');
      const sinkStream = isOld ? null : items.unsigned('the stream of the sink of a relation');
      return { name, source, sink, sourceStream, sinkStream };
    });
    if (!relation) return;
    yield relation;
  }
}

/** Null when the chunk was cut inside. @throws UscopeError CONVERT_FORMAT */
export function infoOf(chunk: RawChunk): FtrInfo | null {
  const items = new ItemReader(chunk, Major.ARRAY);
  const numbers: (bigint | number | null)[] = [];
  for (;;) {
    const item = items.next((cbor) => readNumber(items, cbor));
    if (item === undefined) break;
    numbers.push(item);
  }
  if (chunk.isCut && numbers.length < 2) return null;
  if (numbers.length !== 2 && numbers.length !== 3)
    items.fail('the info chunk has two parts, or three in old files');
  // Old files count ticks per second.
  const scale = numbers.length === 3 ? numbers[1] : numbers[0];
  const exponent = numbers.length === 3 ? -Math.round(Math.log10(Number(scale))) : Number(scale);
  if (typeof scale !== 'bigint' || !Number.isInteger(exponent) || Math.abs(exponent) > MAX_EXPONENT)
    items.fail('the info chunk has no timescale that is one');
  return { kind: 'info', exponent, epoch: numbers[numbers.length - 1] ?? null };
}

export const DEFAULT_INFO: FtrInfo = { kind: 'info', exponent: DEFAULT_EXPONENT, epoch: null };

function readNumber(items: ItemReader, cbor: CborReader): bigint | number | null {
  cbor.head();
  if (cbor.major === Major.TAG) {
    const tag = cbor.number;
    if (tag !== TICKS_TAG && tag !== DATE_TAG) items.fail(`tag ${tag} has no place in the info chunk`);
    return readNumber(items, cbor);
  }
  if (cbor.major === Major.UNSIGNED) return cbor.value;
  if (cbor.major === Major.NEGATIVE) return -1n - cbor.value;
  if (cbor.major === Major.TEXT && !cbor.isIndefinite) return secondsOf(cbor.take(cbor.number));
  if (cbor.major === Major.SIMPLE && cbor.info >= 25 && cbor.info <= 27) {
    const bits = new DataView(new ArrayBuffer(8));
    bits.setBigUint64(0, cbor.value);
    if (cbor.info === 27) return bits.getFloat64(0);
    if (cbor.info === 26) return bits.getFloat32(4);
  }
  return items.fail('a part of the info chunk is not a number');
}

function secondsOf(text: Uint8Array): number | null {
  const time = Date.parse(new TextDecoder().decode(text));
  return Number.isNaN(time) ? null : time / 1000;
}
