/** Creation of a trace file: what stands at the path is dealt with, header and preamble are written and made durable. */
import { randomBytes } from 'node:crypto';
import { lstat, rename, unlink } from 'node:fs/promises';
import { UscopeError } from '../base/errors.js';
import { compressionFlags, decodeHeader, encodeHeader, Flag, HEADER_SIZE } from '../format/header.js';
import { decodePreamble, encodePreamble } from '../format/preamble.js';
import { encodeSessionInfo, NO_CORE, type SessionInfo, SessionStatus } from '../format/session-chunk.js';
import type { WriterOptions } from './options.js';
import { DEFAULT_CHECKPOINT_INTERVAL_PS } from './options.js';
import { ioError, type OpenOutput, type OutputFile, openNodeOutput } from './output-file.js';

const VERSION_MAJOR = 0;
const VERSION_MINOR = 3;
const MAX_PREAMBLE_BYTES = 1024 * 1024;

/** An open trace file with its preamble written. */
export interface TraceFile {
  readonly file: OutputFile;
  /** Header flags while the trace is open. */
  readonly openFlags: number;
  readonly preambleEnd: number;
  readonly sessionPayloadOffset: number;
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

export async function createTraceFile(options: WriterOptions): Promise<TraceFile> {
  const open = options.openOutput ?? openNodeOutput;
  const session = newSession(options);
  const preamble = encodePreamble({
    schema: options.schema,
    dut: options.dut ?? [],
    checkpointIntervalPs: checkpointInterval(options),
    session,
  });
  await clearPath(options.path, open);
  const file = await open(options.path, 'create');
  try {
    const flags = openFlags(options);
    const header = encodeHeader({
      versionMajor: VERSION_MAJOR,
      versionMinor: VERSION_MINOR,
      flags,
      totalTimePs: 0n,
      numSegments: 0,
      preambleEnd: preamble.preambleEnd,
      sectionTableOffset: 0n,
      tailOffset: 0n,
    });
    await file.write([header, preamble.bytes], 0);
    await file.sync();
    await file.syncDirectory();
    const { preambleEnd, sessionPayloadOffset } = preamble;
    return { file, openFlags: flags, preambleEnd, sessionPayloadOffset, session };
  } catch (error) {
    await file.close();
    throw error;
  }
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

/** Rewrites the session chunk's payload, the only part of the preamble that ever changes. */
export async function writeSession(trace: TraceFile, session: SessionInfo): Promise<void> {
  await trace.file.write([encodeSessionInfo(session)], trace.sessionPayloadOffset);
}

/**
 * Makes room at the path: a finalized trace is replaced, an unfinalized one (somebody's only copy) is set aside under
 * `NAME.<first 8 hex digits of its session>.unfinished.uscope`, and anything that is no µScope file is left alone.
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
    else await rename(path, await freeName(aside));
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
    'something that is no ordinary file is there; remove it or choose another name',
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
    const detail = 'a file that is no µScope trace is there; remove it or choose another name';
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
