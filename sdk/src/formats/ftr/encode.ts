/** Chunks to bytes, as the format's usual writer lays them out. */
import { Lz4Blocks } from '../../native/lz4-blocks.js';
import { CborWriter, END, FALSE, INDEFINITE_ARRAY, Major, TRUE } from './cbor.js';
import {
  type FtrChunk,
  type FtrDeclaration,
  FtrForm,
  type FtrInfo,
  type FtrRawAttribute,
  type FtrRawRelation,
  type FtrRawTransaction,
  FtrTag,
} from './types.js';

const TICKS_TAG = 1;
const HEAD_TAG = 6;
const FIRST_PHASE_TAG = 7;

const lz4 = new Lz4Blocks();

/** Appends a chunk. */
export function encodeChunk(out: CborWriter, chunk: FtrChunk, isCompressed: boolean): void {
  const content = new CborWriter();
  switch (chunk.kind) {
    case 'info':
      encodeInfo(out, chunk);
      return;
    case 'dictionary':
      content.head(Major.MAP, chunk.entries.length);
      for (const [id, text] of chunk.entries) encodeText(content, id, text);
      encodeContent(out, FtrTag.DICTIONARY, [], content.written, isCompressed);
      return;
    case 'directory':
      content.byte(INDEFINITE_ARRAY);
      for (const entry of chunk.entries) encodeDeclaration(content, entry);
      content.byte(END);
      encodeContent(out, FtrTag.DIRECTORY, [], content.written, isCompressed);
      return;
    case 'relations':
      content.byte(INDEFINITE_ARRAY);
      for (const relation of chunk.relations) encodeRelation(content, relation);
      content.byte(END);
      encodeContent(out, FtrTag.RELATIONS, [], content.written, isCompressed);
      return;
    case 'transactions': {
      content.byte(INDEFINITE_ARRAY);
      for (const transaction of chunk.transactions) encodeTransaction(content, transaction);
      content.byte(END);
      const head = [chunk.stream, chunk.start ?? 0n, chunk.end ?? 0n];
      encodeContent(out, FtrTag.TRANSACTIONS, head, content.written, isCompressed);
    }
  }
}

/** A chunk around its content. LZ4 blocks are kept even where they are larger than what is in them: the format has no other way. */
export function encodeContent(
  out: CborWriter,
  tag: number,
  head: readonly bigint[],
  content: Uint8Array,
  isCompressed: boolean,
): void {
  out.head(Major.TAG, isCompressed ? tag + 1 : tag);
  const parts = head.length + (isCompressed ? 2 : 1);
  if (parts > 1) out.head(Major.ARRAY, parts);
  for (const value of head) out.big(Major.UNSIGNED, value);
  if (!isCompressed) {
    out.string(Major.BYTES, content);
    return;
  }
  out.head(Major.UNSIGNED, content.length);
  out.string(Major.BYTES, lz4.compress(content));
}

function encodeInfo(out: CborWriter, { exponent, epoch }: FtrInfo): void {
  const content = new CborWriter();
  content.head(Major.ARRAY, 2);
  content.integer(BigInt(exponent));
  content.head(Major.TAG, TICKS_TAG);
  if (typeof epoch === 'number') {
    const bits = new DataView(new ArrayBuffer(8));
    bits.setFloat64(0, epoch);
    content.float64(bits.getUint32(4), bits.getUint32(0));
  } else content.integer(epoch ?? 0n);
  encodeContent(out, FtrTag.INFO, [], content.written, false);
}

export function encodeText(out: CborWriter, id: number, text: Uint8Array): void {
  out.head(Major.UNSIGNED, id);
  out.string(Major.TEXT, text);
}

export function encodeDeclaration(out: CborWriter, entry: FtrDeclaration): void {
  out.head(Major.TAG, entry.kind === 'stream' ? FtrTag.STREAM : FtrTag.GENERATOR);
  out.head(Major.ARRAY, 3);
  out.big(Major.UNSIGNED, entry.id);
  out.head(Major.UNSIGNED, entry.name);
  out.big(Major.UNSIGNED, entry.kind === 'stream' ? BigInt(entry.streamKind) : entry.stream);
}

/** Three elements where it has no streams, as in old files. */
export function encodeRelation(out: CborWriter, relation: FtrRawRelation): void {
  const { sourceStream, sinkStream } = relation;
  const isShort = sourceStream === null && sinkStream === null;
  out.head(Major.ARRAY, isShort ? 3 : 5);
  out.head(Major.UNSIGNED, relation.name);
  out.big(Major.UNSIGNED, relation.source);
  out.big(Major.UNSIGNED, relation.sink);
  if (isShort) return;
  out.big(Major.UNSIGNED, sourceStream ?? 0n);
  out.big(Major.UNSIGNED, sinkStream ?? 0n);
}

export function encodeTransactionHead(
  out: CborWriter,
  attributes: number,
  { id, generator, start, end }: Omit<FtrRawTransaction, 'attributes'>,
): void {
  out.head(Major.ARRAY, 1 + attributes);
  out.head(Major.TAG, HEAD_TAG);
  out.head(Major.ARRAY, 4);
  out.big(Major.UNSIGNED, id);
  out.big(Major.UNSIGNED, generator);
  out.big(Major.UNSIGNED, start);
  out.big(Major.UNSIGNED, end);
}

export function encodeTransaction(out: CborWriter, transaction: FtrRawTransaction): void {
  encodeTransactionHead(out, transaction.attributes.length, transaction);
  for (const attribute of transaction.attributes) encodeAttribute(out, attribute);
}

/** All but the value. */
export function encodeAttributeHead(out: CborWriter, phase: number, name: number, type: number): void {
  out.head(Major.TAG, FIRST_PHASE_TAG + phase);
  out.head(Major.ARRAY, 3);
  out.head(Major.UNSIGNED, name);
  out.head(Major.UNSIGNED, type);
}

export function encodeAttribute(out: CborWriter, { phase, name, type, form, bits }: FtrRawAttribute): void {
  encodeAttributeHead(out, phase, name, type);
  if (form === FtrForm.UNSIGNED) {
    out.big(Major.UNSIGNED, bits);
    return;
  }
  const lo = Number(bits & 0xffff_ffffn);
  const hi = Number(bits >> 32n);
  if (form === FtrForm.NEGATIVE) out.head(Major.NEGATIVE, lo, hi);
  else if (form === FtrForm.BOOLEAN) out.byte(lo === 0 ? FALSE : TRUE);
  else if (form === FtrForm.FLOAT64) out.float64(lo, hi);
  else if (form === FtrForm.FLOAT32) out.float32(lo);
  else {
    out.byte(0xf9);
    out.byte(lo >>> 8);
    out.byte(lo & 0xff);
  }
}
