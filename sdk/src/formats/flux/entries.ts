/** Entries as objects. */

import { concatBytes } from '../../base/bytes.js';
import { UscopeError } from '../../base/errors.js';
import { varintBytes } from '../common/varint.js';
import type { FluxCursor } from './cursor.js';
import { bigIntToSint } from './numbers.js';
import type { FluxBuffer } from './outputs.js';
import {
  CONFLICT,
  type FluxEntry,
  type FluxMember,
  type FluxSample,
  FluxTag,
  LAYOUT,
  MAGIC,
  TAG_NAMES,
  VERSION,
} from './types.js';
import { memberBytes, membersOf } from './values.js';

/** The entry that the cursor is at; nothing in it points into the cursor's bytes. */
export function decodeEntry(cursor: FluxCursor): FluxEntry {
  const { tag } = cursor;
  if (tag === FluxTag.SAMPLE) return decodeSample(cursor);
  const entry: Record<string, unknown> = { tag };
  if (tag === FluxTag.RING) return entry as FluxEntry;
  for (const [i, { name, kind }] of LAYOUT[tag]!.entries()) {
    if (kind === 'text') entry[name] = cursor.text(i);
    else if (kind === 'sint') entry[name] = cursor.sint(i);
    else if (kind === 'pint') entry[name] = (BigInt(cursor.highs[i]) << 32n) | BigInt(cursor.numbers[i]);
    else if (kind === 'members') entry[name] = membersOf(cursor.field(i).slice());
    else if (kind !== 'magic') entry[name] = cursor.numbers[i];
  }
  return entry as FluxEntry;
}

function decodeSample(cursor: FluxCursor): FluxSample {
  const { id, flags, df, xdf, value, group } = cursor;
  const position = group?.position ?? 0n;
  return {
    tag: FluxTag.SAMPLE,
    id,
    conflict: (flags & CONFLICT) !== 0,
    position,
    df,
    xdf,
    data: value.slice(),
  };
}

// Entries to bytes, by their layout.

const encoder = new TextEncoder();

/** Appends an entry other than a sample, in version 6. @throws UscopeError CONVERT_SOURCE for a value that has no place in it */
export function encodeEntry(buffer: FluxBuffer, entry: FluxEntry, maxBytes: number): void {
  const layout = LAYOUT[entry.tag];
  if (!layout)
    throw new UscopeError('CONVERT_SOURCE', `${TAG_NAMES.get(entry.tag)} is not written as an entry`);
  const parts: Uint8Array[] = [];
  let size = 2;
  const fields = entry as unknown as Record<string, unknown>;
  for (const { name, kind } of layout) {
    const part = partOf(name, kind, fields[name]);
    parts.push(part);
    size += part.length;
  }
  if (size > maxBytes) {
    throw new UscopeError(
      'CONVERT_SOURCE',
      `${TAG_NAMES.get(entry.tag)} would have ${size} bytes; ${maxBytes} are the most`,
    );
  }
  buffer.room(size);
  const { bytes } = buffer;
  let at = buffer.at;
  bytes[at++] = 0;
  bytes[at++] = entry.tag;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  buffer.commit(at);
}

function partOf(name: string, kind: string, value: unknown): Uint8Array {
  switch (kind) {
    case 'magic':
      return MAGIC.subarray(2);
    case 'u8':
      return Uint8Array.of(name === 'version' ? VERSION : number(name, value as number, 0xff));
    case 'id':
      return varintBytes(number(name, value as number, 0xffff_ffff));
    case 'pint':
      return varintBytes(BigInt.asUintN(64, value as bigint));
    case 'members': {
      const members = value as readonly FluxMember[];
      return concatBytes([varintBytes(members.length), memberBytes(members)]);
    }
    default: {
      const bytes = kind === 'text' ? encoder.encode(value as string) : bigIntToSint(value as bigint);
      return concatBytes([varintBytes(bytes.length), bytes]);
    }
  }
}

function number(name: string, value: number, max: number): number {
  if (Number.isInteger(value) && value >= 0 && value <= max) return value;
  throw new UscopeError('CONVERT_SOURCE', `${name} of ${value}; ${max} is the highest`);
}
