/** Header and preamble against the checksums that the preamble holds (checksum-chunk.ts). */
import { crc32 as pureCrc32 } from '../base/crc32.js';
import {
  CHECKSUM_CHUNK_TYPE,
  type Checksums,
  decodeChecksums,
  HEADER_CRC_AT,
  isChecksumPayload,
  preambleCrc,
  recordedCrc,
  startCrc,
} from './checksum-chunk.js';
import type { Crc32 } from './commit-record.js';
import { encodeHeader, type FileHeader, Flag, HEADER_FLAGS_OFFSET, HEADER_SIZE } from './header.js';
import { type Chunk, decodeChunks } from './preamble.js';
import { SESSION_CHUNK_TYPE } from './session-chunk.js';

/** A part of header or preamble that is not what was written. */
export interface DamagedPart {
  readonly what: 'preamble' | 'session' | 'header';
  /** Where the part begins in the file. */
  readonly offset: number;
  /** A sentence without its full stop: what is damaged, and what that puts in doubt. */
  readonly detail: string;
}

export interface PreambleCheck {
  /** null: there are none; nothing can be said. */
  readonly checksums: Checksums | null;
  readonly damaged: readonly DamagedPart[];
  /** The trace is finalized, and its header has a checksum. */
  readonly hasHeaderCrc: boolean;
}

/**
 * @param bytes from the end of the header to preamble_end
 * @throws UscopeError FORMAT_TRUNCATED where they cannot be split into chunks
 */
export function checkPreamble(
  header: FileHeader,
  bytes: Uint8Array,
  crc32: Crc32 = pureCrc32,
): PreambleCheck {
  return checkChunks(header, bytes, decodeChunks(bytes), crc32);
}

function checkChunks(
  header: FileHeader,
  bytes: Uint8Array,
  chunks: readonly Chunk[],
  crc32: Crc32,
): PreambleCheck {
  const chunk = chunks.find(
    ({ type, payload }) => type === CHECKSUM_CHUNK_TYPE && isChecksumPayload(payload),
  );
  if (!chunk) return { checksums: null, damaged: [], hasHeaderCrc: false };
  const checksums = decodeChecksums(chunk.payload);
  const hasHeaderCrc = (header.flags & Flag.COMPLETE) !== 0 && checksums.header !== 0;
  const damaged: DamagedPart[] = [];
  const isRight = (stored: number, crc: number): boolean => stored === recordedCrc(crc);
  if (!isRight(checksums.preamble, preambleCrc(bytes, chunks, HEADER_SIZE, crc32))) {
    const detail = `the preamble (bytes ${HEADER_SIZE} to ${header.preambleEnd}) is not what was written: names, types, clocks and DUT properties may be wrong`;
    damaged.push({ what: 'preamble', offset: HEADER_SIZE, detail });
  }
  const session = chunks.find(({ type }) => type === SESSION_CHUNK_TYPE);
  if (session && !isRight(checksums.session, crc32(session.payload, 0))) {
    const detail = 'the session chunk is not what was written: session, run, status and losses may be wrong';
    damaged.push({ what: 'session', offset: session.offset, detail });
  }
  if (!isRight(checksums.start, startCrc(header, crc32))) {
    const detail = 'version, flags or preamble_end of the file header are not what was written';
    damaged.push({ what: 'header', offset: 0, detail });
  } else if (hasHeaderCrc && !isRight(checksums.header, crc32(encodeHeader(header), 0))) {
    damaged.push({ what: 'header', offset: 0, detail: 'the file header is not what was written' });
  } else if (isSealed(header, checksums)) {
    const detail = `the header is not marked complete, although its checksum at ${chunk.offset + HEADER_CRC_AT} says that the trace was finalized`;
    damaged.push({ what: 'header', offset: HEADER_FLAGS_OFFSET, detail });
  }
  return { checksums, damaged, hasHeaderCrc };
}

/** The header's checksum is written after F_COMPLETE: where it exists, the flag was set. */
function isSealed({ flags }: FileHeader, { header }: Checksums): boolean {
  return (flags & Flag.COMPLETE) === 0 && header !== 0;
}
