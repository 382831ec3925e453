/** A trace that its client closed, found by a daemon that did not know of it: its numbers, without changing a byte of it. */
import { compressionOf, Flag } from '../format/header.js';
import { SessionStatus } from '../format/session-chunk.js';
import { stateLayout } from '../state/layout.js';
import type { TraceStats, WriterOptions } from './contract/options.js';
import { type OutputFile, openNodeOutput } from './output/output-file.js';
import { Replay, readPreamble, sameSession } from './resume.js';

/**
 * null: what is at `options.path` is not that session's trace, or its client did not close it.
 * @throws UscopeError READER_OPEN, WRITER_*, FORMAT_*
 */
export async function finishedTrace(
  options: Pick<WriterOptions, 'path' | 'sessionId' | 'schema'>,
): Promise<TraceStats | null> {
  const file = await openNodeOutput(options.path, 'resume');
  try {
    return await statsOf(file, options);
  } finally {
    await file.close();
  }
}

async function statsOf(file: OutputFile, options: WriterOptions): Promise<TraceStats | null> {
  const found = await readPreamble(file);
  if (found === null || !sameSession(found.preamble, options.sessionId)) return null;
  const { header, preamble } = found;
  const { status, ring, lost, rejected, completed } = preamble.session!;
  if ((header.flags & Flag.COMPLETE) === 0 || status !== SessionStatus.CLOSED || ring) return null;
  if (found.check.damaged.length > 0) return null; // resuming says so
  const replay = new Replay(stateLayout(preamble.schema), compressionOf(header.flags), options);
  await replay.walk(file, header.preambleEnd);
  if (replay.segments.lastOffset !== Number(header.tailOffset)) return null; // damaged: resuming says so
  const { nextFrame, nextString, items } = replay;
  const taken = { frames: BigInt(nextFrame), items: BigInt(items), totalTimePs: header.totalTimePs };
  return {
    ...taken,
    path: options.path,
    status,
    strings: BigInt(nextString),
    segments: replay.segments.length,
    bytes: BigInt(await file.size()),
    accepted: taken,
    completed,
    rejected,
    lost,
  };
}
