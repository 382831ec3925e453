/**
 * A recorder's trace that is finalized, whose client did not learn of it: it asks again, of another daemon. It gets the place of the file, so
 * that it can close; more cannot be taken, as the spool is gone.
 */
import { align8 } from '../../base/bytes.js';
import { UscopeError } from '../../base/errors.js';
import { COMMIT_HEADER_SIZE, decodeCommitPlace } from '../../format/commit-record.js';
import { type FileHeader, Flag } from '../../format/header.js';
import { decodeSegmentHeader, SEGMENT_HEADER_SIZE } from '../../format/segment.js';
import type { RingInfo, SessionInfo } from '../../format/session-chunk.js';
import type { Schema } from '../../format/types.js';
import type { AcceptedStats, SessionEnd, TraceStats, WriterOptions } from '../contract/options.js';
import { type OutputFile, openNodeOutput } from '../output/output-file.js';
import { refuseDamaged } from '../resume.js';
import { readTraceHeader } from './spool-content.js';

/** null: what is at `options.path` is not that session's finalized trace of a recorder. */
export async function finishedRing(options: WriterOptions): Promise<FinishedRing | null> {
  const found = await readTraceHeader(
    options.path,
    options.openOutput ?? openNodeOutput,
    async (header, file) => ({
      nextFrame: await nextFrameOf(header, file),
      bytes: await file.size(),
    }),
  );
  if (found === null || (found.header.flags & Flag.COMPLETE) === 0) return null;
  const { header, session, preamble, more } = found;
  const isSame = options.sessionId !== undefined && Buffer.from(session.sessionId).equals(options.sessionId);
  if (!isSame || !session.ring) return null;
  refuseDamaged(found.check, options.path);
  const whole = {
    frames: more.nextFrame,
    items: session.ring.items,
    totalTimePs: header.totalTimePs,
  };
  const stats: TraceStats = {
    ...whole,
    path: options.path,
    status: session.status,
    strings: session.ring.nextString,
    segments: header.numSegments,
    bytes: BigInt(more.bytes),
    firstFrame: session.ring.firstFrame,
    accepted: whole,
    completed: session.completed,
    rejected: session.rejected,
    lost: session.lost,
  };
  return new FinishedRing(options.path, preamble.schema, stats, session.ring, session);
}

async function nextFrameOf(header: FileHeader, file: OutputFile): Promise<bigint> {
  const offset = Number(header.tailOffset);
  if (offset === 0) return 0n;
  const segment = decodeSegmentHeader(await file.read(offset, SEGMENT_HEADER_SIZE), offset);
  const size = SEGMENT_HEADER_SIZE + segment.checkpointSize + segment.deltasCompressedSize;
  const at = align8(offset + size);
  const head = await file.read(at, COMMIT_HEADER_SIZE);
  const recordSize = new DataView(head.buffer, head.byteOffset).getUint32(4, true);
  return decodeCommitPlace(await file.read(at, Math.min(recordSize, await file.size())), at).nextFrame;
}

export class FinishedRing {
  readonly windows = [];
  readonly congested = false;
  readonly isLarge = false;

  constructor(
    readonly path: string,
    readonly schema: Schema,
    readonly stats: TraceStats,
    private readonly ring: RingInfo,
    readonly session: SessionInfo,
  ) {}

  get accepted(): AcceptedStats {
    return this.stats.accepted;
  }

  get nextFrame(): bigint {
    return this.stats.frames;
  }

  get durableFrames(): bigint {
    return this.stats.frames;
  }

  get nextString(): bigint {
    return this.ring.nextString;
  }

  /** @throws UscopeError WRITER_CLOSED */
  push(): never {
    throw new UscopeError(
      'WRITER_CLOSED',
      'the flight recorder has finalized this trace; open it under another name',
      {
        file: this.path,
      },
    );
  }

  /** @throws UscopeError WRITER_CLOSED */
  pushSome(): never {
    return this.push();
  }

  async ready(): Promise<void> {}

  restartStream(): void {}

  async flush(): Promise<void> {}

  async close(_end: SessionEnd): Promise<TraceStats> {
    return this.stats;
  }

  abortWaiting(): void {}
}
