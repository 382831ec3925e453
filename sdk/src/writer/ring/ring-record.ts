/**
 * After the commit record of a spooled segment: what a daemon that continues needs to know about the dropped segments.
 *
 *   0 u32 magic "uRNG"   4 u32 size, padding included   8 u32 CRC-32 of the record, with this field taken as 0   12 u32 length   16 JSON, zeros
 */
import { crc32 } from '#platform/crc32';
import { align8, ByteReader, ByteWriter } from '../../base/bytes.js';

const RING_MAGIC = 0x474e5275; // "uRNG"
const HEADER_BYTES = 16;
const CRC_OFFSET = 8;

/** A trigger on its way to its file. */
export interface Trigger {
  /** From 1 on; part of the file's name. */
  readonly number: number;
  /** Text, or the index of a string of the client. */
  readonly label: string | number;
  readonly timePs: bigint;
}

/** State of the triggers at a cut. */
export interface TriggerState {
  /** Triggers seen, and those of them that make no file. */
  readonly seen: number;
  readonly skipped: number;
  /** Triggers that wait for what comes after them. */
  readonly waiting: readonly Trigger[];
  /** Triggers whose file ends with this segment. */
  readonly due: readonly Trigger[];
}

export const NO_TRIGGERS: TriggerState = { seen: 0, skipped: 0, waiting: [], due: [] };

export interface RingRecord {
  readonly ordinal: number;
  /** Segments below this ordinal were durable when this one was written: where one of them cannot be read, it is damaged, not torn. */
  readonly durable: number;
  /** Items and frames of the trace up to the end of this segment, those let go included. */
  readonly items: number;
  readonly triggers: TriggerState;
}

export function encodeRingRecord(record: RingRecord): Uint8Array {
  const json = new TextEncoder().encode(
    JSON.stringify(record, (_key, value) => (typeof value === 'bigint' ? `${value}` : value)),
  );
  const size = align8(HEADER_BYTES + json.length);
  const bytes = new ByteWriter(size)
    .u32(RING_MAGIC)
    .u32(size)
    .u32(0)
    .u32(json.length)
    .bytes(json)
    .align(8)
    .finish();
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(CRC_OFFSET, crc32(bytes), true);
  return bytes;
}

/** null: torn or damaged. */
export function decodeRingRecord(bytes: Uint8Array): RingRecord | null {
  if (bytes.length < HEADER_BYTES) return null;
  const reader = new ByteReader(bytes);
  if (reader.u32() !== RING_MAGIC || reader.u32() !== bytes.length) return null;
  const crc = reader.u32();
  const length = reader.u32();
  if (length > bytes.length - HEADER_BYTES) return null;
  const copy = bytes.slice();
  new DataView(copy.buffer).setUint32(CRC_OFFSET, 0, true);
  if (crc32(copy) !== crc) return null;
  const { ordinal, durable, items, triggers } = JSON.parse(Buffer.from(reader.bytes(length)).toString());
  const waiting = triggers.waiting.map(withTime);
  return { ordinal, durable, items, triggers: { ...triggers, waiting, due: triggers.due.map(withTime) } };
}

function withTime(trigger: Omit<Trigger, 'timePs'> & { timePs: string }): Trigger {
  return { ...trigger, timePs: BigInt(trigger.timePs) };
}
