/** Preamble (docs/reference/format.md#preamble): typed chunks between the file header and the first segment. */
import { align8, ByteReader, ByteWriter } from '../base/bytes.js';
import { crc32 } from '../base/crc32.js';
import { UscopeError } from '../base/errors.js';
import {
  CHECKSUM_CHUNK_TYPE,
  type Checksums,
  decodeChecksums,
  encodeChecksums,
  isChecksumPayload,
  preambleCrc,
  recordedCrc,
  startCrc,
} from './checksum-chunk.js';
import { decodeDut } from './dut.js';
import { type FileHeader, HEADER_SIZE, VERSION_MAJOR, VERSION_MINOR } from './header.js';
import { decodeSchemaChunk, encodeSchemaPayload } from './schema-chunk.js';
import {
  decodeSessionInfo,
  encodeSessionInfo,
  isSessionPayload,
  SESSION_CHUNK_TYPE,
  SESSION_PAYLOAD_SIZE,
  type SessionInfo,
} from './session-chunk.js';
import type { DutProperties, Schema } from './types.js';

export const ChunkType = {
  END: 0x0000,
  DUT_DESC: 0x0001,
  SCHEMA: 0x0002,
  TRACE_CONFIG: 0x0003,
  SESSION: SESSION_CHUNK_TYPE,
  CHECKSUMS: CHECKSUM_CHUNK_TYPE,
} as const;

export const CHUNK_HEADER_SIZE = 8;

export interface Chunk {
  readonly type: number;
  readonly flags: number;
  /** View into the bytes given, without padding. */
  readonly payload: Uint8Array;
  /** File offset of the payload. */
  readonly offset: number;
}

/** A chunk to write besides the known ones, or one read that is not known. */
export type ExtraChunk = Pick<Chunk, 'type' | 'payload'>;

export interface Preamble {
  readonly schema: Schema;
  readonly dut: DutProperties;
  readonly checkpointIntervalPs: bigint;
  /** null in files of other writers. */
  readonly session: SessionInfo | null;
  /** File offset of the session payload, which is rewritten in place. */
  readonly sessionChunkOffset: number | null;
  /** Absent in files of other writers, and of releases that wrote none. */
  readonly checksums?: Checksums | undefined;
  /** File offset of their payload. */
  readonly checksumOffset?: number | undefined;
  readonly unknownChunks: Chunk[];
}

export interface PreambleParts {
  readonly schema: Schema;
  readonly dut: DutProperties;
  readonly checkpointIntervalPs: number | bigint;
  readonly session: SessionInfo | null;
  /** Written before END, in this order. */
  readonly unknownChunks?: readonly ExtraChunk[];
}

/** Chunk header, payload, zeros up to a multiple of 8. */
export function encodeChunk(type: number, payload: Uint8Array): Uint8Array {
  return new ByteWriter(CHUNK_HEADER_SIZE + align8(payload.length))
    .u16(type)
    .u16(0)
    .u32(payload.length)
    .bytes(payload)
    .align(8)
    .finish();
}

/**
 * Splits the bytes from file offset `baseOffset` to preamble_end into chunks, without END; what follows END is ignored.
 * FORMAT_TRUNCATED when a chunk reaches past the bytes or END is missing.
 */
export function decodeChunks(bytes: Uint8Array, baseOffset = HEADER_SIZE): Chunk[] {
  const reader = new ByteReader(bytes, 0, bytes.length, baseOffset);
  const chunks: Chunk[] = [];
  for (;;) {
    reader.need(CHUNK_HEADER_SIZE, 'preamble without END: chunk header');
    const type = reader.u16();
    const flags = reader.u16();
    const size = reader.u32();
    if (type === ChunkType.END) return chunks;
    reader.need(align8(size), `preamble chunk of type 0x${type.toString(16)}`);
    const offset = reader.fileOffset;
    const payload = reader.bytes(size);
    reader.skip(align8(size) - size);
    chunks.push({ type, flags, payload, offset });
  }
}

/**
 * The whole preamble, to be at file offset 48. `sessionPayloadOffset` is a file offset, 0 without a session.
 * Errors: SCHEMA_LIMIT, SCHEMA_NAME.
 */
export function encodePreamble(parts: PreambleParts): {
  bytes: Uint8Array;
  preambleEnd: number;
  sessionPayloadOffset: number;
} {
  const mandatory = mandatoryChunks(parts);
  const writer = new ByteWriter(mandatory.reduce((sum, { payload }) => sum + payload.length, 512));
  for (const { type, payload } of mandatory) writer.bytes(encodeChunk(type, payload));
  let sessionPayloadOffset = 0;
  if (parts.session) {
    sessionPayloadOffset = HEADER_SIZE + writer.length + CHUNK_HEADER_SIZE;
    writer.bytes(encodeChunk(ChunkType.SESSION, encodeSessionInfo(parts.session)));
  }
  for (const chunk of parts.unknownChunks ?? []) writer.bytes(encodeChunk(chunk.type, chunk.payload));
  writer.bytes(encodeChunk(ChunkType.END, new Uint8Array(0)));
  return { bytes: writer.finish(), preambleEnd: HEADER_SIZE + writer.length, sessionPayloadOffset };
}

/** The chunks that every file has. Errors: SCHEMA_LIMIT, SCHEMA_NAME. */
export function mandatoryChunks(
  parts: Pick<PreambleParts, 'schema' | 'dut' | 'checkpointIntervalPs'>,
): ExtraChunk[] {
  const { schema, dut } = encodeSchemaPayload(parts.schema, parts.dut);
  return [
    { type: ChunkType.DUT_DESC, payload: dut },
    { type: ChunkType.SCHEMA, payload: schema },
    { type: ChunkType.TRACE_CONFIG, payload: encodeTraceConfig(parts.checkpointIntervalPs) },
  ];
}

/** Where our own chunks are: header, session and checksums lie in one sector of a disk, so that they change together or not at all. */
export const SESSION_PAYLOAD_AT = HEADER_SIZE + CHUNK_HEADER_SIZE;
export const CHECKSUMS_AT = SESSION_PAYLOAD_AT + SESSION_PAYLOAD_SIZE + CHUNK_HEADER_SIZE;

/**
 * The preamble of a trace that a writer of ours begins: session and checksums, then the chunks given, END.
 * @param flags header flags of the open trace
 */
export function layOutPreamble(
  flags: number,
  session: SessionInfo,
  chunks: readonly ExtraChunk[],
  isFromDamaged = false,
): { bytes: Uint8Array; header: FileHeader; checksums: Checksums } {
  const payload = encodeSessionInfo(session);
  const empty = {
    preamble: 0,
    session: recordedCrc(crc32(payload)),
    start: 0,
    header: 0,
    sections: 0,
    isFromDamaged,
  };
  const all = [
    { type: ChunkType.SESSION, payload },
    { type: ChunkType.CHECKSUMS, payload: encodeChecksums(empty) },
    ...chunks,
    { type: ChunkType.END, payload: new Uint8Array(0) },
  ];
  const writer = new ByteWriter(all.reduce((sum, chunk) => sum + chunk.payload.length, 512));
  for (const chunk of all) writer.bytes(encodeChunk(chunk.type, chunk.payload));
  const bytes = writer.finish();
  const preambleEnd = HEADER_SIZE + bytes.length;
  const header = {
    versionMajor: VERSION_MAJOR,
    versionMinor: VERSION_MINOR,
    flags,
    totalTimePs: 0n,
    numSegments: 0,
    preambleEnd,
    sectionTableOffset: 0n,
    tailOffset: 0n,
  };
  const preamble = recordedCrc(preambleCrc(bytes, decodeChunks(bytes), HEADER_SIZE));
  const checksums = { ...empty, preamble, start: recordedCrc(startCrc(header)) };
  bytes.set(encodeChecksums(checksums), CHECKSUMS_AT - HEADER_SIZE);
  return { bytes, header, checksums };
}

/**
 * Decodes the bytes from file offset `baseOffset` to preamble_end; chunks may be in any order.
 * FORMAT_CHUNK_MISSING when a mandatory chunk is absent or there twice; errors of the chunks themselves.
 */
export function decodePreamble(bytes: Uint8Array, versionMinor: number, baseOffset = HEADER_SIZE): Preamble {
  const chunks = decodeChunks(bytes, baseOffset);
  const schemaChunk = theOne(chunks, ChunkType.SCHEMA, 'schema', baseOffset);
  const dutChunk = theOne(chunks, ChunkType.DUT_DESC, 'DUT descriptor', baseOffset);
  const configChunk = theOne(chunks, ChunkType.TRACE_CONFIG, 'trace config', baseOffset);
  const sessionChunk = chunks.find(
    (chunk) => chunk.type === ChunkType.SESSION && isSessionPayload(chunk.payload),
  );
  const checksumChunk = chunks.find(
    (chunk) => chunk.type === ChunkType.CHECKSUMS && isChecksumPayload(chunk.payload),
  );
  const { schema, pool } = decodeSchemaChunk(schemaChunk.payload, versionMinor, schemaChunk.offset);
  const known = [schemaChunk, dutChunk, configChunk, sessionChunk, checksumChunk];
  return {
    schema,
    dut: decodeDut(dutChunk.payload, pool, dutChunk.offset),
    checkpointIntervalPs: decodeTraceConfig(configChunk.payload, configChunk.offset),
    session: sessionChunk ? decodeSessionInfo(sessionChunk.payload, sessionChunk.offset) : null,
    sessionChunkOffset: sessionChunk ? sessionChunk.offset : null,
    ...(checksumChunk
      ? { checksums: decodeChecksums(checksumChunk.payload), checksumOffset: checksumChunk.offset }
      : {}),
    unknownChunks: chunks.filter((chunk) => !known.includes(chunk)),
  };
}

function theOne(chunks: readonly Chunk[], type: number, name: string, baseOffset: number): Chunk {
  const [first, second] = chunks.filter((chunk) => chunk.type === type);
  if (!first) {
    throw new UscopeError('FORMAT_CHUNK_MISSING', `the preamble has no ${name} chunk`, {
      offset: baseOffset,
    });
  }
  if (second) {
    throw new UscopeError('FORMAT_CHUNK_MISSING', `the preamble has more than one ${name} chunk`, {
      offset: second.offset,
    });
  }
  return first;
}

/** Trace configuration chunk (docs/reference/format.md#trace-configuration): u64 checkpoint interval in ps. */
export function encodeTraceConfig(checkpointIntervalPs: number | bigint): Uint8Array {
  return new ByteWriter(8).u64(checkpointIntervalPs).finish();
}

/** Checkpoint interval in ps. A longer payload is accepted, its rest ignored. FORMAT_TRUNCATED when shorter. */
export function decodeTraceConfig(payload: Uint8Array, baseOffset = 0): bigint {
  return new ByteReader(payload, 0, payload.length, baseOffset).u64();
}
