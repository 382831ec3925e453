/** The trace that slice and merge write: frames gathered into batches, back-pressure, cancellation. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Turns } from '../base/turns.js';
import { type SessionInfo, SessionStatus } from '../format/session-chunk.js';
import type { CompressionName } from '../format/types.js';
import type { SegmentIndexerFactory } from '../writer/contract/segment-indexer.js';
import type { SummarizerFactory } from '../writer/frames/summarizer.js';
import { openNodeOutput, RecordWriter, type TraceStats, type WriterOptions } from '../writer/index.js';
import { LateSyncs } from '../writer/output/late-syncs.js';

const BATCH_WORDS = 64 * 1024;
/** Segments that may be cut before the event loop turns and a signal can be raised: some 50 ms of work. */
const MOST_RUNS = 256;

/** Records on their way to a writer: `words` up to `length`. */
export interface WaitingRecords {
  readonly words: Uint32Array;
  readonly length: number;
  clear(): void;
}

export class TraceOutput {
  /** Ordinal of the next frame. */
  frames = 0;
  private readonly turns: Turns;

  private constructor(
    private readonly writer: RecordWriter,
    private readonly syncs: LateSyncs,
    private readonly batch: WaitingRecords,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.turns = new Turns(signal);
  }

  /** Cuts by the grid alone: the same input gives the same segments. Only the close syncs. @throws UscopeError WRITER_*, SCHEMA_LIMIT */
  static async create(
    options: WriterOptions,
    batch: WaitingRecords,
    signal?: AbortSignal,
  ): Promise<TraceOutput> {
    const syncs = new LateSyncs(options.openOutput ?? openNodeOutput);
    const { openOutput } = syncs;
    const writer = await RecordWriter.create({ ...options, openOutput, maxDelayMs: 0, signal });
    return new TraceOutput(writer, syncs, batch, signal);
  }

  /** Whether `push` is due. */
  get isFull(): boolean {
    return this.batch.length >= BATCH_WORDS;
  }

  /** Hands the batch to the writer; waits while the disk lags. @throws the reason of the signal when it was raised, WRITER_* */
  async push(): Promise<void> {
    const { words, length } = this.batch;
    for (let at = 0; at < length; ) {
      this.signal?.throwIfAborted();
      at = this.writer.pushSome(words, at, length, MOST_RUNS);
      if (this.writer.congested) await this.writer.ready();
      else if (at < length) await nextTurn();
    }
    this.batch.clear();
    await this.turns.next();
  }

  /** Finalizes the file. */
  async finish(end: { status: SessionStatus; lost: bigint; rejected: bigint }): Promise<TraceStats> {
    await this.push();
    this.syncs.end();
    return this.writer.close(end);
  }

  /** Lets go of the file, which is not to be kept. */
  async abandon(): Promise<void> {
    this.writer.discard();
    await this.writer.close({ status: SessionStatus.OPEN }).catch(() => undefined);
  }
}

/** Runs `fill` on a new output; on a failure the file is let go. */
export async function withOutput(
  options: WriterOptions,
  batch: WaitingRecords,
  signal: AbortSignal | undefined,
  fill: (output: TraceOutput) => Promise<TraceStats>,
): Promise<TraceStats> {
  const output = await TraceOutput.create(options, batch, signal);
  try {
    return await fill(output);
  } catch (error) {
    await output.abandon();
    throw error;
  }
}

/** How a part, or a union, of sessions ended: closed, unless one of them ended otherwise; what they lost and rejected, together. */
export function endOf(sessions: readonly (SessionInfo | null)[]) {
  const known = sessions.filter((session) => session !== null);
  const unusual = known.find(
    ({ status }) => status !== SessionStatus.CLOSED && status !== SessionStatus.OPEN,
  );
  return {
    status: unusual?.status ?? SessionStatus.CLOSED,
    lost: known.reduce((sum, { lost }) => sum + lost, 0n),
    rejected: known.reduce((sum, { rejected }) => sum + rejected, 0n),
  };
}

/** Options of a conversion that makes a new trace of others. */
export interface RewriteOptions {
  /** Place of the new trace; see `writeAtomically` for files that appear whole. */
  readonly path: string;
  /** Default: that of the trace, the longest of several. */
  readonly checkpointIntervalPs?: bigint | undefined;
  readonly compression?: CompressionName | undefined;
  /** The smallest file: ZSTD, half the checkpoints unless `checkpointIntervalPs` is given, and a coarse summary. */
  readonly small?: boolean | undefined;
  /** Gathers the summary of the new trace. */
  readonly summarizer?: SummarizerFactory | null | undefined;
  /** Makes the index of the new trace; without one it has none. */
  readonly index?: SegmentIndexerFactory | null | undefined;
  /** Called now and then with the part that is done, 0 to 1. */
  readonly onProgress?: ((part: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}
