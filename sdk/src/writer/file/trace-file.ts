/** Creation of a trace file: what is at the path is dealt with, header and preamble are written and made durable. */
import { randomBytes } from 'node:crypto';
import { lstat, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from '#platform/crc32';
import { UscopeError } from '../../base/errors.js';
import { type Checksums, encodeChecksums, HEADER_CRC_AT, recordedCrc } from '../../format/checksum-chunk.js';
import {
  compressionFlags,
  decodeHeader,
  encodeHeader,
  type FileHeader,
  Flag,
  HEADER_FLAGS_OFFSET,
  HEADER_SIZE,
} from '../../format/header.js';
import {
  CHECKSUMS_AT,
  ChunkType,
  decodePreamble,
  type ExtraChunk,
  encodeChunk,
  layOutPreamble,
  mandatoryChunks,
  SESSION_PAYLOAD_AT,
} from '../../format/preamble.js';
import { encodeSessionInfo, NO_CORE, type SessionInfo, SessionStatus } from '../../format/session-chunk.js';
import { DEFAULT_CHECKPOINT_INTERVAL_PS, type WriterOptions } from '../contract/options.js';
import {
  ioError,
  type OpenOutput,
  type OutputFile,
  openNodeOutput,
  syncDirectory,
} from '../output/output-file.js';

const MAX_PREAMBLE_BYTES = 1024 * 1024;

/** An open trace file with its preamble written. */
export interface TraceFile {
  readonly file: OutputFile;
  /** Header flags while the trace is open. */
  readonly openFlags: number;
  readonly preambleEnd: number;
  readonly sessionPayloadOffset: number;
  /** null in files of releases that wrote none. */
  readonly checksums: { readonly offset: number; readonly values: Checksums } | null;
  readonly session: SessionInfo;
}

export function checkpointInterval(options: WriterOptions): bigint {
  const interval = BigInt(options.checkpointIntervalPs ?? DEFAULT_CHECKPOINT_INTERVAL_PS);
  if (interval < 1n || interval > 0xffff_ffff_ffff_ffffn) {
    throw new UscopeError('SCHEMA_RANGE', `the checkpoint interval must be at least 1 ps, not ${interval}`);
  }
  return interval;
}

/** Flags of a trace that is being written: compression and interleaved frames, nothing that only close may promise. */
export function openFlags(options: WriterOptions): number {
  const compression = options.compression ?? 'lz4';
  const compressed = compression === 'none' ? 0 : Flag.COMPRESSED | compressionFlags(compression);
  return Flag.INTERLEAVED | compressed;
}

/** @param isFromDamaged the schema comes from a preamble whose checksum did not hold */
export async function createTraceFile(options: WriterOptions, isFromDamaged = false): Promise<TraceFile> {
  const open = options.openOutput ?? openNodeOutput;
  const session = newSession(options);
  const { schema, dut = [] } = options;
  const chunks = mandatoryChunks({ schema, dut, checkpointIntervalPs: checkpointInterval(options) });
  await clearPath(options.path, open);
  const file = await open(options.path, 'create');
  try {
    const trace = await beginTrace(file, openFlags(options), session, chunks, isFromDamaged);
    await file.sync();
    await file.syncDirectory();
    return trace;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Writes header and preamble of a new trace, not yet durable.
 * @param isFromDamaged the chunks come from a preamble whose checksum did not hold
 */
export async function beginTrace(
  file: OutputFile,
  flags: number,
  session: SessionInfo,
  chunks: readonly ExtraChunk[],
  isFromDamaged = false,
): Promise<TraceFile> {
  const { bytes, header, checksums } = layOutPreamble(flags, session, chunks, isFromDamaged);
  await file.write([encodeHeader(header), bytes], 0);
  return {
    file,
    openFlags: flags,
    preambleEnd: header.preambleEnd,
    sessionPayloadOffset: SESSION_PAYLOAD_AT,
    checksums: { offset: CHECKSUMS_AT, values: checksums },
    session,
  };
}

function newSession(options: WriterOptions): SessionInfo {
  return {
    sessionId: options.sessionId ?? new Uint8Array(randomBytes(16)),
    runId: options.runId ?? new Uint8Array(16),
    coreIndex: options.coreIndex ?? NO_CORE,
    status: SessionStatus.OPEN,
    startTimeMs: BigInt(Date.now()),
    endTimeMs: 0n,
    lost: 0n,
    rejected: 0n,
  };
}

/**
 * Rewrites the header and what of the preamble ever changes: session chunk and checksums. In files of this release that is one write within one
 * sector: a crash leaves the old bytes or the new ones, never a checksum that does not hold.
 * @param sectionsCrc of the tail sections; 0 while there are none
 */
export async function writeHead(
  trace: TraceFile,
  header: FileHeader,
  session: SessionInfo,
  sectionsCrc: number,
): Promise<void> {
  const { file, checksums, sessionPayloadOffset } = trace;
  const payload = encodeSessionInfo(session);
  if (!checksums) {
    await file.write([encodeHeader(header)], 0);
    await file.write([payload], sessionPayloadOffset);
    return;
  }
  const sessionCrc = recordedCrc(crc32(payload));
  const values = { ...checksums.values, session: sessionCrc, header: 0, sections: sectionsCrc };
  const encoded = encodeChecksums(values);
  if (sessionPayloadOffset === SESSION_PAYLOAD_AT && checksums.offset === CHECKSUMS_AT) {
    const chunks = [encodeChunk(ChunkType.SESSION, payload), encodeChunk(ChunkType.CHECKSUMS, encoded)];
    await file.write([Buffer.concat([encodeHeader(header), ...chunks])], 0);
    return;
  }
  await file.write([encodeHeader(header)], 0);
  await file.write([payload], sessionPayloadOffset);
  await file.write([encoded], checksums.offset);
}

/** Marks the trace complete. The flags come first and alone, then the checksum of the header: a crash may lie between the two. */
export async function sealHeader({ file, checksums }: TraceFile, header: FileHeader): Promise<void> {
  const bytes = encodeHeader(header);
  await file.write([bytes.subarray(HEADER_FLAGS_OFFSET, HEADER_FLAGS_OFFSET + 8)], HEADER_FLAGS_OFFSET);
  if (!checksums) return;
  const crc = new Uint8Array(4);
  new DataView(crc.buffer).setUint32(0, recordedCrc(crc32(bytes)), true);
  await file.write([crc], checksums.offset + HEADER_CRC_AT);
}

/**
 * Makes room at the path: a finalized trace is replaced, an unfinalized one (somebody's only copy) is set aside under
 * `NAME.<first 8 hex digits of its session>.unfinished.uscope`, and anything that is not a µScope file is left alone.
 * @throws UscopeError WRITER_EXISTS for a file that is not a trace.
 */
export async function clearPath(path: string, open: OpenOutput): Promise<void> {
  if (!(await exists(path))) return;
  const file = await open(path, 'resume');
  let aside: string | null;
  try {
    aside = await asideName(file, path);
  } finally {
    await file.close();
  }
  try {
    if (aside === null) await unlink(path);
    else {
      await rename(path, await freeName(aside));
      // Before anything new has this name: else a disk that loses power might keep the new file's name and not the old one's.
      await syncDirectory(dirname(path));
    }
  } catch (error) {
    throw ioError(error, path);
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    if ((await lstat(path)).isFile()) return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw ioError(error, path);
  }
  throw new UscopeError(
    'WRITER_EXISTS',
    'something that is not an ordinary file is there; remove it or choose another name',
    { file: path },
  );
}

/** null: a finalized trace, which may be replaced. */
async function asideName(file: OutputFile, path: string): Promise<string | null> {
  const stem = path.replace(/\.uscope$/, '');
  try {
    const header = decodeHeader(await file.read(0, HEADER_SIZE));
    if (header.flags & Flag.COMPLETE) return null;
    const session = await readSession(file, header.preambleEnd, header.versionMinor);
    const id = session ? Buffer.from(session.sessionId).toString('hex').slice(0, 8) : 'unknown';
    return `${stem}.${id}.unfinished.uscope`;
  } catch (cause) {
    if (cause instanceof UscopeError && cause.code === 'WRITER_IO') throw cause;
    // Not even a whole header: the remains of a creation that was cut short hold nothing, any other content is not ours to touch.
    if ((await file.size()) === 0) return null;
    const detail = 'a file that is not a µScope trace is there; remove it or choose another name';
    throw new UscopeError('WRITER_EXISTS', detail, { file: path }, { cause });
  }
}

async function readSession(
  file: OutputFile,
  preambleEnd: number,
  versionMinor: number,
): Promise<SessionInfo | null> {
  if (preambleEnd <= HEADER_SIZE || preambleEnd > MAX_PREAMBLE_BYTES) return null;
  try {
    return decodePreamble(await file.read(HEADER_SIZE, preambleEnd - HEADER_SIZE), versionMinor).session;
  } catch {
    return null; // a torn preamble: still set aside, under a name without its session
  }
}

async function freeName(wanted: string): Promise<string> {
  if (!(await exists(wanted))) return wanted;
  for (let n = 2; ; n++) {
    const name = wanted.replace(/\.unfinished\.uscope$/, `.${n}.unfinished.uscope`);
    if (!(await exists(name))) return name;
  }
}
