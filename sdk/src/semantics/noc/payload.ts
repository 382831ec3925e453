/** Fields of the noc protocol's events. Besides the transaction their names are not agreed: then it is the first that is left. */
import type { FrameCursor } from '../../format/frame.js';
import { type EnumDef, fieldSize } from '../../format/types.js';
import { readRaw } from '../../reader/payload.js';
import type { EventField, ProtocolEvent } from '../common/describe.js';

export interface NocEvent {
  readonly type: number;
  /** The transaction's id; null when the event names none. */
  readonly id: EventField | null;
  /** The first other field. */
  readonly value: EventField | null;
}

/** By names: the field `txn_id`, and `preferred` or the first other one. */
export function nocEvent({ def, fields }: ProtocolEvent, preferred?: string): NocEvent {
  const id = fields.get('txn_id') ?? null;
  const others = [...fields].filter(([name]) => name !== 'txn_id').map(([, field]) => field);
  const named = preferred === undefined ? undefined : fields.get(preferred);
  return { type: def.eventTypeId, id, value: named ?? others[0] ?? null };
}

/** By position: the first two fields. */
export function pairEvent({ def, fields }: ProtocolEvent): NocEvent {
  const [first = null, second = null] = fields.values();
  return { type: def.eventTypeId, id: first, value: second };
}

/** The lower 32 bits of a field. The payload has its size. */
export function readNumber({ bytes, payloadOffset }: FrameCursor, { offset, type }: EventField): number {
  let value = 0;
  for (let i = Math.min(fieldSize(type), 4) - 1; i >= 0; i--) {
    value = value * 256 + bytes[payloadOffset + offset + i];
  }
  return value;
}

/** A field as stored, unsigned. */
export function readField({ bytes, payloadOffset }: FrameCursor, { offset, type }: EventField): bigint {
  return readRaw(bytes, payloadOffset + offset, type);
}

/** Label of an enum's value; the number where it has none. */
export function labelOf(labels: EnumDef | null, value: number): string {
  return labels?.values.find((candidate) => candidate.value === value)?.name ?? String(value);
}
