/**
 * A finalized trace from the spool that a killed daemon left, and what its dead client had not sent. It is what a daemon makes that adopts them, on a copy: the
 * spool stays as it is.
 */
import { constants, cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { UscopeError } from '../../base/errors.js';
import { type CompletedFrames, SessionStatus } from '../../format/session-chunk.js';
import type { SegmentIndexerFactory } from '../contract/segment-indexer.js';
import type { SummarizerFactory } from '../frames/summarizer.js';
import { ioError, type OpenOutput } from '../output/output-file.js';
import { spoolDirectory } from './layout.js';
import type { RingStats, RingWriter } from './ring-writer.js';
import type { SpoolHeader } from './spool-content.js';
import { resumeRing } from './spool-start.js';

/** What a dead client recorded and had not sent (docs/reference/bridge-protocol.md#memory-of-a-local-client). */
export interface ClientRecords {
  /** In the order of the stream; each array is valid until the next is asked for. */
  records(): Iterable<Uint32Array>;
  /** Frames that the client completed. */
  readonly completed?: CompletedFrames | undefined;
}

/** Of the output. */
export interface Makers {
  readonly summarizer: SummarizerFactory;
  /** null: it has no index. */
  readonly index: SegmentIndexerFactory | null;
  readonly openOutput: OpenOutput;
}

export interface TakenRecords {
  readonly stats: RingStats;
  readonly framesFromMemory: number;
  /** Why not all of the records could be used. */
  readonly problem: string | null;
}

/** Nothing is let go. */
const EVERYTHING = { span: { ps: 2n ** 64n - 1n } };

/** @throws UscopeError WRITER_* */
export async function recoverWithRecords(
  directory: string,
  output: string,
  { preamble, session }: SpoolHeader,
  client: ClientRecords,
  makers: Makers,
): Promise<TakenRecords> {
  const work = await mkdtemp(join(dirname(output), `.${basename(output)}.`));
  try {
    const path = join(work, 'trace.uscope');
    await copySpool(directory, spoolDirectory(path));
    const { schema } = preamble;
    const { sessionId } = session;
    const options = { ...makers, path, schema, sessionId, maxDelayMs: 0 };
    const ring = await resumeRing(options, EVERYTHING);
    if (ring === null)
      throw new UscopeError('WRITER_IO', 'the copy of the spool cannot be read', { file: work });
    const before = ring.nextFrame;
    const problem = await drain(ring, client);
    const framesFromMemory = Number(ring.nextFrame - before);
    const stats = await ring.close({ status: SessionStatus.RECOVERED, completed: client.completed });
    await rename(path, output);
    return { stats, framesFromMemory, problem };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function copySpool(from: string, to: string): Promise<void> {
  try {
    await cp(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE });
  } catch (error) {
    throw ioError(error, to);
  }
}

/** Takes what the spool does not have; returns why not all of it could be taken. */
async function drain(ring: RingWriter, client: ClientRecords): Promise<string | null> {
  ring.restartStream();
  try {
    for (const words of client.records()) {
      ring.push(words);
      await ring.ready();
    }
    return null;
  } catch (error) {
    if (error instanceof UscopeError && !error.code.startsWith('WRITER_')) return error.detail;
    throw error;
  }
}
