/**
 * Traces whose clients ended while no daemon was there: the memory of a dead client (docs/client-memory.md) and the trace file of the same
 * session are brought together again.
 */
import { open } from 'node:fs/promises';
import { decodeHeader, Flag, HEADER_SIZE } from '../format/header.js';
import { decodePreamble } from '../format/preamble.js';
import { SessionStatus } from '../format/session-chunk.js';
import { headerPath, spoolDirectory } from '../writer/ring/index.js';
import { ClientMemory } from './client-memory.js';
import { existingSpoolPath, existingTraceFile } from './trace-name.js';

export interface Orphan {
  readonly sessionId: Uint8Array;
  readonly name: string;
  readonly path: string;
}

const MAX_PREAMBLE_BYTES = 1024 * 1024;

interface Candidate extends Orphan {
  readonly memory: ClientMemory;
}

export class Orphans {
  private candidates: Candidate[] = [];

  /** Memories of clients whose trace file is in the output directory. Those of other daemons' clients are not. */
  async find(outputDirectory: string): Promise<void> {
    for (const memory of ClientMemory.all()) {
      const { sessionId, traceName } = memory;
      const { path, state } = await find(outputDirectory, traceName, sessionId);
      if (path !== null && state === 'unclosed')
        this.candidates.push({ sessionId, name: traceName, path, memory });
      else discard(memory, state === 'closed');
    }
  }

  /** Those whose process has ended by now; they are forgotten here. Those of sessions that have come back are forgotten too. */
  takeDead(hasSession: (id: Uint8Array) => boolean): Orphan[] {
    const dead: Orphan[] = [];
    this.candidates = this.candidates.filter((candidate) => {
      const { memory, sessionId } = candidate;
      const isBack = hasSession(sessionId);
      if (!isBack && !memory.isAbandoned) return true;
      if (!isBack) dead.push(candidate);
      memory.close();
      return false;
    });
    return dead;
  }

  close(): void {
    for (const { memory } of this.candidates.splice(0)) memory.close();
  }
}

/** The trace's file, or the file in place of which there is the spool of a flight recorder. */
async function find(
  outputDirectory: string,
  name: string,
  sessionId: Uint8Array,
): Promise<{ path: string | null; state: TraceState }> {
  const spooled = await existingSpoolPath(outputDirectory, name);
  if (spooled !== null && (await stateOf(headerPath(spoolDirectory(spooled)), sessionId)) === 'unclosed')
    return { path: spooled, state: 'unclosed' };
  const path = await existingTraceFile(outputDirectory, name);
  return { path, state: path === null ? 'foreign' : await stateOf(path, sessionId) };
}

/** A client that was killed behind its close has left nothing that is not in the file. */
function discard(memory: ClientMemory, isClosed: boolean): void {
  if (isClosed && memory.isAbandoned) memory.remove();
  memory.close();
}

type TraceState = 'foreign' | 'unclosed' | 'closed';

/** What a trace file is to a session. */
async function stateOf(path: string, sessionId: Uint8Array): Promise<TraceState> {
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
  } catch {
    return 'foreign'; // no trace, or not one whose creation was completed
  } finally {
    await file.close();
  }
}
