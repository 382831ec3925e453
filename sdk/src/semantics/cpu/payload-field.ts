/** Reads one field of an event's payload: its lower 32 bits, which is all that ids and labels have. */
import type { FrameCursor } from '../../format/frame.js';
import { fieldSize } from '../../format/types.js';
import type { CoreEvent } from './cores.js';

/** Where a field lies, and how many of its bytes count. */
export interface PayloadField {
  readonly offset: number;
  readonly size: number;
}

export function payloadField(event: CoreEvent, name: string): PayloadField | null {
  const field = event.fields.get(name);
  return field ? { offset: field.offset, size: Math.min(fieldSize(field.type), 4) } : null;
}

/** The payload has the size that the schema says: scans check it. */
export function readField({ bytes, payloadOffset }: FrameCursor, { offset, size }: PayloadField): number {
  const at = payloadOffset + offset;
  if (size === 1) return bytes[at];
  if (size === 2) return bytes[at] | (bytes[at + 1] << 8);
  return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
}
