/** Values of a core's events at a cursor, by name. */
import type { FrameCursor } from '../../format/frame.js';
import { fieldSize } from '../../format/types.js';
import { readRaw, type Trace } from '../../reader/index.js';
import { describeEvent, membersOf, ownFirst, type ProtocolEvent } from '../../semantics/common/describe.js';
import type { CpuCore } from '../../semantics/cpu/index.js';

/** The events of a core by name, those included that the conventions do not know. */
export function eventsOf(trace: Trace, core: CpuCore): ReadonlyMap<string, ProtocolEvent> {
  const { schema } = trace;
  const events = ownFirst(schema.events, membersOf(schema, core.scopeId), core.scopeId);
  const found = new Map<string, ProtocolEvent>();
  for (const { name } of events) {
    const event = found.has(name) ? null : describeEvent(schema, events, name);
    if (event) found.set(name, event);
  }
  return found;
}

/** Null: the event has no such field. */
export function wideOf(cursor: FrameCursor, event: ProtocolEvent, name: string): bigint | null {
  const field = event.fields.get(name);
  return field ? readRaw(cursor.bytes, cursor.payloadOffset + field.offset, field.type) : null;
}

/** Where a field is in the payload of its event. */
export interface FieldPlace {
  readonly offset: number;
  readonly size: number;
}

/** Null: the event has no such field. */
export function placeOf(event: ProtocolEvent, name: string): FieldPlace | null {
  const field = event.fields.get(name);
  return field ? { offset: field.offset, size: fieldSize(field.type) } : null;
}

/** -1: the event has no such field. What is above 2^53 is rounded. */
export function numberIn({ bytes, payloadOffset }: FrameCursor, place: FieldPlace | null): number {
  if (place === null) return -1;
  let value = 0;
  const at = payloadOffset + place.offset;
  for (let index = place.size - 1; index >= 0; index--) value = value * 256 + bytes[at + index];
  return value;
}

/** The same by name, for fields of which there are few. */
export function numberOf(cursor: FrameCursor, event: ProtocolEvent, name: string): number {
  return numberIn(cursor, placeOf(event, name));
}

/** Label of an enum's value, or the number; '' where the event has no such field. */
export function labelAt(cursor: FrameCursor, event: ProtocolEvent, name: string): string {
  const field = event.fields.get(name);
  if (!field) return '';
  const value = numberOf(cursor, event, name);
  return field.labels?.values.find((candidate) => candidate.value === value)?.name ?? String(value);
}
