/** The trace file that a client's memory belongs to, if it is in an output directory. */
import { open } from 'node:fs/promises';
import { decodeHeader, Flag, HEADER_SIZE } from '../../format/header.js';
import { decodePreamble } from '../../format/preamble.js';
import { SessionStatus } from '../../format/session-chunk.js';
import { headerPath, spoolDirectory } from '../../writer/ring/index.js';
import { existingSpoolPath, existingTraceFile } from './trace-name.js';

/** What a trace file is to a session. */
export type TraceState = 'foreign' | 'unclosed' | 'closed';

export interface LocatedTrace {
  readonly path: string | null;
  readonly state: TraceState;
}

const MAX_PREAMBLE_BYTES = 1024 * 1024;

/**
 * The trace's file, the file instead of which there is the spool of a flight recorder, or the file that was set aside because another session
 * came to its name.
 */
export async function locateTrace(
  outputDirectory: string,
  name: string,
  sessionId: Uint8Array,
): Promise<LocatedTrace> {
  const spooled = await existingSpoolPath(outputDirectory, name);
  if (spooled !== null && (await stateOf(headerPath(spoolDirectory(spooled)), sessionId)) === 'unclosed')
    return { path: spooled, state: 'unclosed' };
  const aside = `${name}.${Buffer.from(sessionId).toString('hex').slice(0, 8)}.unfinished`;
  for (const file of [name, aside]) {
    const path = await existingTraceFile(outputDirectory, file);
    const state = path === null ? 'foreign' : await stateOf(path, sessionId);
    if (state !== 'foreign') return { path, state };
  }
  return { path: null, state: 'foreign' };
}

async function stateOf(path: string, sessionId: Uint8Array): Promise<TraceState> {
  try {
    return await stateOfFile(path, sessionId);
  } catch {
    return 'foreign'; // no trace, or not one whose creation was completed
  }
}

async function stateOfFile(path: string, sessionId: Uint8Array): Promise<TraceState> {
  const file = await open(path, 'r');
  try {
    const read = async (length: number, position: number): Promise<Uint8Array> =>
      (await file.read(new Uint8Array(length), 0, length, position)).buffer;
    const header = decodeHeader(await read(HEADER_SIZE, 0));
    const size = Math.min(header.preambleEnd, MAX_PREAMBLE_BYTES) - HEADER_SIZE;
    const { session } = decodePreamble(await read(size, HEADER_SIZE), header.versionMinor);
    if (session === null || !Buffer.from(session.sessionId).equals(sessionId)) return 'foreign';
    const hasClosed = session.status === SessionStatus.CLOSED || session.status === SessionStatus.RING;
    const isClosed = (header.flags & Flag.COMPLETE) !== 0 && hasClosed;
    return isClosed && session.lost === 0n ? 'closed' : 'unclosed';
  } finally {
    await file.close();
  }
}
