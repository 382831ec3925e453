/** The part DROPPED: which parts a container lacks for their size. */
import { ByteReader } from '../base/bytes.js';
import { readLeb128, writeLeb128 } from '../base/leb128.js';
import { partWriter } from './columns.js';

export interface DroppedPart {
  /** An `IndexPart`. */
  readonly kind: number;
  readonly subject: number;
}

export function encodeDropped(parts: readonly DroppedPart[]): Uint8Array {
  const writer = partWriter();
  for (const { kind, subject } of parts) {
    writeLeb128(writer, kind);
    writeLeb128(writer, subject);
  }
  return writer.finish();
}

/** @throws UscopeError FORMAT_* where it is malformed */
export function decodeDropped(bytes: Uint8Array): DroppedPart[] {
  const reader = new ByteReader(bytes);
  const parts: DroppedPart[] = [];
  while (reader.remaining > 0) {
    parts.push({ kind: Number(readLeb128(reader)), subject: Number(readLeb128(reader)) });
  }
  return parts;
}
