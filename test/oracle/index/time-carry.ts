/**
 * What a segment leaves to the next one, as far as the parts TIME and OCCUPANCY need it: a section of the part CARRY. Everything else is in the next
 * segment's checkpoint.
 */
import { ByteReader } from '../../../sdk/src/base/bytes.js';
import { readLeb128, writeLeb128 } from '../../../sdk/src/base/leb128.js';
import type { StorageDef } from '../../../sdk/src/format/types.js';
import { SF_SPARSE } from '../../../sdk/src/format/types.js';
import { ChannelKind } from '../../../sdk/src/trace-index/channels.js';
import { partWriter } from '../../../sdk/src/trace-index/columns.js';
import type { IndexPlan } from '../../../sdk/src/trace-index/plan.js';

/** Tags of the sections of a CARRY part: LEB128 tag, LEB128 size, bytes. Sections of a tag that is not known are kept. */
export const CarrySection = { TIME: 1, ROWS: 2 } as const;

export interface TimeCarry {
  /** Time of the last frame. */
  readonly lastPs: bigint;
  /** By group: columns of FLUSHES and STALLS that have counted the cycle of the last frame. */
  readonly counted: readonly (readonly number[])[];
  /** By storage with an OCCUPANCY channel, in the order of the plan. */
  readonly occupied: readonly Occupied[];
  /** By core. */
  readonly cores: readonly (readonly InFlight[])[];
}

export interface Occupied {
  /** Slots taken. */
  readonly count: number;
  /** Which, one bit each; empty for a sparse storage, whose checkpoints say it. */
  readonly mask: Uint8Array;
}

/** An instruction in flight of which the next checkpoint does not say everything. */
export interface InFlight {
  readonly slot: number;
  readonly id: number;
  readonly isFlushed: boolean;
}

/** The storages of `TimeCarry.occupied`. */
export function occupancyStorages({ groups, schema }: IndexPlan): StorageDef[] {
  return groups.flatMap(({ channels }) =>
    channels
      .filter(({ kind }) => kind === ChannelKind.OCCUPANCY)
      .map(({ subject }) => schema.storages[subject]!),
  );
}

/** Bytes of a dense buffer's mask in the carry. */
export function carriedMaskBytes({ flags, numSlots }: StorageDef): number {
  return (flags & SF_SPARSE) === 0 ? (numSlots + 7) >>> 3 : 0;
}

export function encodeTimeCarry({ lastPs, counted, occupied, cores }: TimeCarry): Uint8Array {
  const writer = partWriter(lastPs);
  for (const columns of counted) {
    writeLeb128(writer, columns.length);
    columns.forEach((column, index) => {
      writeLeb128(writer, column - (index > 0 ? columns[index - 1]! + 1 : 0));
    });
  }
  for (const { count, mask } of occupied) {
    writeLeb128(writer, count);
    writer.bytes(mask);
  }
  for (const core of cores) {
    writeLeb128(writer, core.length);
    core.forEach(({ slot, id, isFlushed }, index) => {
      writeLeb128(writer, slot - (index > 0 ? core[index - 1]!.slot + 1 : 0));
      writeLeb128(writer, id);
      writer.u8(isFlushed ? 1 : 0);
    });
  }
  return writer.finish();
}

/** @throws UscopeError FORMAT_* where it is malformed: what went before is then not known */
export function decodeTimeCarry(bytes: Uint8Array, plan: IndexPlan): TimeCarry {
  const reader = new ByteReader(bytes);
  const lastPs = readLeb128(reader);
  const counted = plan.groups.map(({ columns }) => readAscending(reader, columns).map(({ key }) => key));
  const occupied = occupancyStorages(plan).map((def) => {
    const count = readLeb128(reader);
    if (count > BigInt(def.numSlots)) {
      throw reader.error('FORMAT_VALUE', `${count} slots of ${def.numSlots} are taken`);
    }
    const mask = reader.bytes(carriedMaskBytes(def));
    if (mask.length > 0 && mask[mask.length - 1]! >> (((def.numSlots - 1) & 7) + 1) !== 0) {
      throw reader.error('FORMAT_VALUE', `a mask has bits after slot ${def.numSlots - 1}`);
    }
    return { count: Number(count), mask };
  });
  const cores = plan.cores.map(() =>
    readAscending(reader, 0x1_0000, () => {
      const id = Number(readLeb128(reader) & 0xffff_ffffn);
      return { id, isFlushed: reader.u8() !== 0 };
    }).map(({ key, value }) => ({ slot: key, ...value! })),
  );
  return { lastPs, counted, occupied, cores };
}

function readAscending<T>(
  reader: ByteReader,
  limit: number,
  read?: () => T,
): { key: number; value: T | undefined }[] {
  const length = readLeb128(reader);
  if (length > BigInt(reader.remaining)) {
    throw reader.error('FORMAT_LENGTH', `${length} entries in ${reader.remaining} bytes`);
  }
  let next = 0n;
  return Array.from({ length: Number(length) }, () => {
    const key = next + readLeb128(reader);
    if (key >= BigInt(limit)) throw reader.error('FORMAT_VALUE', `${key} is not below ${limit}`);
    next = key + 1n;
    return { key: Number(key), value: read?.() };
  });
}

/** A CARRY part of these sections, by tag. */
export function encodeCarry(sections: ReadonlyMap<number, Uint8Array>): Uint8Array {
  const writer = partWriter();
  for (const [tag, bytes] of sections) {
    writeLeb128(writer, tag);
    writeLeb128(writer, bytes.length);
    writer.bytes(bytes);
  }
  return writer.finish();
}

/** @throws UscopeError FORMAT_* where it is malformed */
export function decodeCarry(bytes: Uint8Array): Map<number, Uint8Array> {
  const reader = new ByteReader(bytes);
  const sections = new Map<number, Uint8Array>();
  while (reader.remaining > 0) {
    const tag = Number(readLeb128(reader));
    const size = readLeb128(reader);
    if (size > BigInt(reader.remaining)) throw reader.error('FORMAT_TRUNCATED', 'a carry ends too early');
    sections.set(tag, reader.bytes(Number(size)));
  }
  return sections;
}
