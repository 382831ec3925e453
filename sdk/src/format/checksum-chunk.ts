/**
 * Checksum chunk: our second private preamble chunk, which other readers skip (docs/reference/format.md#preamble-checksum). It holds CRC-32s over everything that no commit record covers.
 *
 * Payload, 32 bytes: u32 layout version = 1, u32 CRC of the preamble, u32 CRC of the session chunk's payload, u32 CRC of the header as it was when the
 * trace began, u32 CRC of the finalized header, u32 CRC of the tail sections, u32 1 if the preamble was taken over from a file in which its
 * checksum did not hold, u32 0.
 *
 * The preamble's CRC covers the bytes from 48 to preamble_end, the payloads of our two chunks taken as zeros. In the header as it was when the trace
 * began F_COMPLETE, F_HAS_STRINGS, total_time_ps, num_segments, section_table_offset and tail_offset are zero. The CRCs of finalized header and
 * sections are 0 until the trace is finalized.
 */
import { ByteReader, ByteWriter } from '../base/bytes.js';
import { crc32 as pureCrc32 } from '../base/crc32.js';
import type { Crc32 } from './commit-record.js';
import { encodeHeader, type FileHeader, Flag } from './header.js';
import type { Chunk } from './preamble.js';
import { SESSION_CHUNK_TYPE } from './session-chunk.js';

export const CHECKSUM_CHUNK_TYPE = 0xff02;
export const CHECKSUM_PAYLOAD_SIZE = 32;
const CHECKSUM_LAYOUT = 1;
/** In the payload: where the CRC of the header is written when a trace is finalized. */
export const HEADER_CRC_AT = 16;

export interface Checksums {
  readonly preamble: number;
  readonly session: number;
  /** Of the header's 48 bytes as they were when the trace began: what never changes. */
  readonly start: number;
  /** Of the 48 bytes of a finalized file's header; 0 before. */
  readonly header: number;
  /** From the first tail section to the end of the section table; 0 before the trace is finalized. */
  readonly sections: number;
  /** `recover` took the preamble over from a file in which its checksum did not hold. */
  readonly isFromDamaged: boolean;
}

export function encodeChecksums(checksums: Checksums): Uint8Array {
  const writer = new ByteWriter(CHECKSUM_PAYLOAD_SIZE)
    .u32(CHECKSUM_LAYOUT)
    .u32(checksums.preamble)
    .u32(checksums.session)
    .u32(checksums.start)
    .u32(checksums.header)
    .u32(checksums.sections)
    .u32(checksums.isFromDamaged ? 1 : 0);
  return writer.zeros(CHECKSUM_PAYLOAD_SIZE - writer.length).finish();
}

/** Whether a chunk of type 0xFF02 has the layout of this release; one that has not is treated as unknown. */
export function isChecksumPayload(payload: Uint8Array): boolean {
  return payload.length >= CHECKSUM_PAYLOAD_SIZE && new ByteReader(payload).u32() === CHECKSUM_LAYOUT;
}

/** Of a payload for which `isChecksumPayload` holds. */
export function decodeChecksums(payload: Uint8Array): Checksums {
  const reader = new ByteReader(payload);
  reader.skip(4);
  return {
    preamble: reader.u32(),
    session: reader.u32(),
    start: reader.u32(),
    header: reader.u32(),
    sections: reader.u32(),
    isFromDamaged: reader.u32() !== 0,
  };
}

/** CRC of what of a header never changes. */
export function startCrc(header: FileHeader, crc32: Crc32 = pureCrc32): number {
  const start = encodeHeader({
    ...header,
    flags: header.flags & ~(Flag.COMPLETE | Flag.HAS_STRINGS),
    totalTimePs: 0n,
    numSegments: 0,
    sectionTableOffset: 0n,
    tailOffset: 0n,
  });
  return crc32(start, 0);
}

/** @param preamble the bytes between header and preamble_end @param chunks those in it, their offsets from `baseOffset` on */
export function preambleCrc(
  preamble: Uint8Array,
  chunks: readonly Pick<Chunk, 'type' | 'offset' | 'payload'>[],
  baseOffset: number,
  crc32: Crc32 = pureCrc32,
): number {
  const copy = preamble.slice();
  for (const { type, offset, payload } of chunks) {
    if (type !== SESSION_CHUNK_TYPE && type !== CHECKSUM_CHUNK_TYPE) continue;
    copy.fill(0, offset - baseOffset, offset - baseOffset + payload.length);
  }
  return crc32(copy, 0);
}

/** The CRC that is recorded: 0 means that there is none. */
export function recordedCrc(crc: number): number {
  return crc === 0 ? 0xffff_ffff : crc;
}
