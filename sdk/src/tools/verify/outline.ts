/**
 * Header and preamble of a file that may be damaged: whatever can be made out, with a finding for everything that cannot. A reader stops at the
 * first of these; here each part is looked at by itself.
 */

import { crc32 } from '#platform/crc32';
import { align8, ByteReader } from '../../base/bytes.js';
import { isUscopeError } from '../../base/errors.js';
import { decodeDut } from '../../format/dut.js';
import { decodeHeader, type FileHeader, Flag, HEADER_SIZE, VERSION_MINOR } from '../../format/header.js';
import { CHUNK_HEADER_SIZE, type Chunk, ChunkType, decodeTraceConfig } from '../../format/preamble.js';
import { checkPreamble, type PreambleCheck } from '../../format/preamble-check.js';
import { decodeSchemaChunk } from '../../format/schema-chunk.js';
import {
  decodeSessionInfo,
  isSessionPayload,
  reservedBytes,
  type SessionInfo,
} from '../../format/session-chunk.js';
import type { DutProperties, Schema } from '../../format/types.js';
import type { CheckedSource } from '../../reader/source.js';
import { type Finding, FindingLog, isFormatError } from './finding.js';

/** As the reader's limit: more is damage. */
const MAX_PREAMBLE_BYTES = 256 * 1024 * 1024;
const MAX_CHUNKS = 4096;
const MAGIC = Buffer.from('uSCP');

export interface Outline {
  /** What the file's header says, damaged fields replaced; null when there are not even 48 bytes of it. */
  readonly header: FileHeader | null;
  /** Header fields that were damaged and so say nothing. */
  readonly repaired: ReadonlySet<HeaderField>;
  readonly chunks: readonly Chunk[];
  readonly schema: Schema | null;
  /** null: the chunk is missing or cannot be read. */
  readonly dut: DutProperties | null;
  readonly checkpointIntervalPs: bigint | null;
  /** null in files of other writers, and where the chunk is damaged. */
  readonly session: SessionInfo | null;
  /** The preamble has a chunk of our type. */
  readonly hasSessionChunk: boolean;
  /** Where the segments begin: after the END chunk, or where the header says when that is damaged. */
  readonly segmentsStart: number;
  /** The part of a file of ours without a checksum, for the report; null: none. */
  readonly unprotected: Pick<Finding, 'severity' | 'offset' | 'detail'> | null;
  /** CRC-32 of the tail sections, if the file has one. */
  readonly sectionsCrc: number | null;
  /** What header and preamble say may not be what was written: their checksums do not hold, or did not in the file they were taken from. */
  readonly isDoubtful: boolean;
}

export type HeaderField = 'magic' | 'version' | 'flags' | 'preambleEnd';

export async function readOutline(source: CheckedSource, log: FindingLog): Promise<Outline> {
  const { header, repaired } = repairHeader(await source.upTo(0, HEADER_SIZE), log);
  if (!header) return { ...NOTHING, repaired };
  if (!repaired.has('magic')) return readPreamble(source, header, repaired, log);
  // A file of something else entirely has said so; what else it is not is of no interest.
  const trial = new FindingLog();
  const outline = await readPreamble(source, header, repaired, trial);
  if (outline.schema === null) return { ...NOTHING, repaired };
  for (const { severity, code, offset, detail } of trial.findings) log.add(severity, code, offset, detail);
  return outline;
}

async function readPreamble(
  source: CheckedSource,
  header: FileHeader,
  repaired: Set<HeaderField>,
  log: FindingLog,
): Promise<Outline> {
  const { chunks, end } = await readChunks(source, log);
  if (end !== null && end !== header.preambleEnd && !repaired.has('preambleEnd')) {
    log.add('error', 'VERIFY_HEADER', 28, `preamble_end is ${header.preambleEnd}, the chunks end at ${end}`);
  }
  const segmentsStart = end ?? Math.max(header.preambleEnd, HEADER_SIZE);
  const payloads = decodeChunkPayloads(chunks, header.versionMinor, log);
  const check = end === null ? null : await checkedPreamble(source, { ...header, preambleEnd: end }, log);
  const { checksums = null, damaged = [] } = check ?? {};
  return {
    header,
    repaired,
    chunks,
    segmentsStart,
    ...payloads,
    unprotected: unprotectedPart(header, chunks, check),
    sectionsCrc: checksums?.sections || null,
    // The fields of the header are made anew from the segments; what the preamble says is nowhere else.
    isDoubtful:
      end === null || damaged.some(({ what }) => what !== 'header') || checksums?.isFromDamaged === true,
  };
}

/** Header and preamble against their checksums. */
async function checkedPreamble(
  source: CheckedSource,
  header: FileHeader,
  log: FindingLog,
): Promise<PreambleCheck> {
  const bytes = await source.exactly(HEADER_SIZE, header.preambleEnd - HEADER_SIZE, 'the preamble');
  const check = checkPreamble(header, bytes, crc32);
  for (const { offset, detail } of check.damaged) log.add('error', 'FORMAT_CHECKSUM', offset, detail);
  if (check.checksums?.isFromDamaged) {
    const detail =
      'the preamble was recovered from a file in which its checksum did not hold: names, types, clocks and DUT properties may be wrong';
    log.add('warning', 'VERIFY_DOUBTFUL', HEADER_SIZE, detail);
  }
  return check;
}

function unprotectedPart(
  header: FileHeader,
  chunks: readonly Chunk[],
  check: PreambleCheck | null,
): Outline['unprotected'] {
  if (check === null || !chunks.some(({ type }) => type === ChunkType.SESSION)) return null;
  if (check.checksums) {
    const isSealed = (header.flags & Flag.COMPLETE) === 0 || check.hasHeaderCrc;
    const detail = 'the file header is not protected by a checksum: the writer ended before it recorded one';
    return isSealed ? null : { severity: 'info', offset: 0, detail };
  }
  const unknown = chunks.find(({ type }) => type === ChunkType.CHECKSUMS);
  if (unknown) {
    const detail =
      'the checksum chunk has a layout that this release does not know: header, preamble and tail sections are not compared with it';
    return { severity: 'warning', offset: unknown.offset, detail };
  }
  const detail =
    'header, preamble and tail sections are not protected by checksums: an earlier release wrote the file';
  return { severity: 'info', offset: null, detail };
}

const NOTHING: Outline = {
  header: null,
  repaired: new Set(),
  chunks: [],
  schema: null,
  dut: null,
  checkpointIntervalPs: null,
  session: null,
  hasSessionChunk: false,
  segmentsStart: HEADER_SIZE,
  unprotected: null,
  sectionsCrc: null,
  isDoubtful: false,
};

/** Each field that `decodeHeader` refuses is reported, replaced by something harmless, and the rest read on. */
function repairHeader(
  bytes: Uint8Array,
  log: FindingLog,
): { header: FileHeader | null; repaired: Set<HeaderField> } {
  if (
    bytes.length < HEADER_SIZE &&
    Buffer.compare(bytes.subarray(0, 4), MAGIC.subarray(0, bytes.length)) !== 0
  ) {
    // Whatever it is, that it is short is not what is wrong with it.
    log.add('error', 'FORMAT_MAGIC', 0, 'not a µScope file: it does not start with "uSCP"');
    return { header: null, repaired: new Set() };
  }
  const copy = bytes.slice();
  const view = new DataView(copy.buffer);
  const repaired = new Set<HeaderField>();
  for (;;) {
    try {
      return { header: decodeHeader(copy), repaired };
    } catch (error) {
      log.caught(error, 0);
      const code = isUscopeError(error) ? error.code : '';
      if (code === 'FORMAT_TRUNCATED') return { header: null, repaired };
      repaired.add(repairField(code, view));
    }
  }
}

function repairField(code: string, view: DataView): HeaderField {
  switch (code) {
    case 'FORMAT_MAGIC':
      view.setUint32(0, 0x50435375, true);
      return 'magic';
    case 'FORMAT_VERSION':
      view.setUint32(4, VERSION_MINOR << 16, true);
      return 'version';
    case 'FORMAT_LENGTH':
      view.setUint32(28, HEADER_SIZE, true);
      return 'preambleEnd';
    case 'FORMAT_COMPRESSION':
      view.setUint8(8, view.getUint8(8) & ~0x38);
      return 'flags';
    default:
      view.setBigUint64(8, view.getBigUint64(8, true) & 0xffn, true);
      return 'flags';
  }
}

/** The chunks up to END, and where END ends; null when the walk does not get there. */
async function readChunks(
  source: CheckedSource,
  log: FindingLog,
): Promise<{ chunks: Chunk[]; end: number | null }> {
  const chunks: Chunk[] = [];
  let at = HEADER_SIZE;
  try {
    while (chunks.length < MAX_CHUNKS) {
      const head = new ByteReader(await source.exactly(at, CHUNK_HEADER_SIZE, 'a preamble chunk'));
      const [type, flags, size] = [head.u16(), head.u16(), head.u32()];
      if (flags !== 0)
        log.add('warning', 'FORMAT_VALUE', at + 2, `flags ${flags} of a preamble chunk are reserved`);
      const offset = at + CHUNK_HEADER_SIZE;
      if (type === ChunkType.END) {
        if (size !== 0) log.add('error', 'FORMAT_VALUE', at + 4, `the END chunk claims ${size} bytes`);
        return { chunks, end: offset };
      }
      if (offset + size > MAX_PREAMBLE_BYTES) break;
      const bytes = await source.exactly(
        offset,
        align8(size),
        `preamble chunk of type 0x${type.toString(16)}`,
      );
      if (bytes.subarray(size).some((byte) => byte !== 0)) {
        log.add('warning', 'FORMAT_VALUE', offset + size, 'the padding of a preamble chunk is not zero');
      }
      chunks.push({ type, flags, payload: bytes.subarray(0, size), offset });
      at = offset + align8(size);
    }
    log.add('error', 'FORMAT_LENGTH', at, 'the preamble has no end');
  } catch (error) {
    log.caught(error, at);
  }
  return { chunks, end: null };
}

type Payloads = Pick<Outline, 'schema' | 'dut' | 'checkpointIntervalPs' | 'session' | 'hasSessionChunk'>;

function decodeChunkPayloads(chunks: readonly Chunk[], versionMinor: number, log: FindingLog): Payloads {
  const schemaChunk = theOne(chunks, ChunkType.SCHEMA, 'schema', log);
  const dutChunk = theOne(chunks, ChunkType.DUT_DESC, 'DUT descriptor', log);
  const configChunk = theOne(chunks, ChunkType.TRACE_CONFIG, 'trace config', log);
  const sessionChunk = chunks.find((chunk) => chunk.type === ChunkType.SESSION);
  const decoded = tried(schemaChunk, log, ({ payload, offset }) =>
    decodeSchemaChunk(payload, versionMinor, offset),
  );
  return {
    schema: decoded?.schema ?? null,
    dut: decoded
      ? tried(dutChunk, log, ({ payload, offset }) => decodeDut(payload, decoded.pool, offset))
      : null,
    checkpointIntervalPs: tried(configChunk, log, ({ payload, offset }) =>
      decodeTraceConfig(payload, offset),
    ),
    session: tried(sessionChunk, log, (chunk) => decodeSession(chunk, log)),
    hasSessionChunk: sessionChunk !== undefined,
  };
}

function decodeSession({ payload, offset }: Chunk, log: FindingLog): SessionInfo | null {
  if (!isSessionPayload(payload)) {
    log.add(
      'error',
      'FORMAT_VERSION',
      offset,
      'the session chunk has a layout that this release does not know',
    );
    return null;
  }
  const session = decodeSessionInfo(payload, offset);
  for (const [first, end] of reservedBytes(session)) {
    if (payload.subarray(first, end).every((byte) => byte === 0)) continue;
    log.add('warning', 'FORMAT_VALUE', offset + first, 'reserved bytes of the session chunk are not zero');
  }
  return session;
}

function theOne(chunks: readonly Chunk[], type: number, name: string, log: FindingLog): Chunk | undefined {
  const [first, second] = chunks.filter((chunk) => chunk.type === type);
  if (!first) log.add('error', 'FORMAT_CHUNK_MISSING', HEADER_SIZE, `the preamble has no ${name} chunk`);
  if (second) {
    log.add('error', 'FORMAT_CHUNK_MISSING', second.offset, `the preamble has more than one ${name} chunk`);
  }
  return first;
}

function tried<T>(chunk: Chunk | undefined, log: FindingLog, decode: (chunk: Chunk) => T): T | null {
  if (!chunk) return null;
  try {
    return decode(chunk);
  } catch (error) {
    if (!isFormatError(error)) throw error;
    log.caught(error, chunk.offset);
    return null;
  }
}
