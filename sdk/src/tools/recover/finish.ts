/** The end of a recovered trace: what the client's memory still holds, then the tail sections and the header of a finalized file. */
import { UscopeError } from '../../base/errors.js';
import { SessionStatus } from '../../format/session-chunk.js';
import type { CompressionName, Schema } from '../../format/types.js';
import { DEFAULT_CHECKPOINT_INTERVAL_PS } from '../../writer/contract/options.js';
import type { SegmentIndexer } from '../../writer/contract/segment-indexer.js';
import { FileStore } from '../../writer/file/file-store.js';
import { finalizeFile } from '../../writer/file/finalize.js';
import { EMPTY_SUMMARY, type Summarizer } from '../../writer/frames/summarizer.js';
import { RecordWriter } from '../../writer/record-writer.js';
import { RecordBatch } from '../../writer/records/record-batch.js';
import type { Replayer } from '../verify/replay.js';
import type { OutputTrace } from './output-trace.js';
import type { RecordMemory } from './recover.js';

/** What was saved of the file. */
export interface RescuedContent {
  readonly out: OutputTrace;
  readonly schema: Schema;
  /** Its state is that after the last frame. */
  readonly replayer: Replayer;
  readonly summarizer: Summarizer | null;
  readonly indexer: SegmentIndexer | null;
  readonly compression: CompressionName;
  /** 0: not known. */
  readonly checkpointIntervalPs: bigint;
  readonly nextFrame: bigint;
  /** Strings in the commit records. */
  readonly nextString: number;
  /** All strings. */
  readonly numStrings: number;
  /** Those in no commit record. */
  readonly lateStrings: AsyncGenerator<Uint8Array>;
  readonly lastTimePs: bigint | null;
  readonly rejected: bigint;
  /** Items lost, as far as they are counted when it is asked. */
  lost(): bigint;
  /** Everything in the client's memory has been taken. */
  onMemoryTaken(): void;
}

export interface Finished {
  readonly framesFromMemory: number;
  /** Why not all of the memory could be used. */
  readonly memoryProblem: string | null;
}

export async function finalizeContent(content: RescuedContent): Promise<void> {
  const { out, summarizer, lastTimePs, numStrings, lateStrings } = content;
  await finalizeFile(out.trace, {
    segments: out.segments,
    end: out.end,
    totalTimePs: lastTimePs ?? 0n,
    summary: summarizer?.finish() ?? EMPTY_SUMMARY,
    numStrings,
    lateStrings,
    session: { ...out.trace.session, lost: content.lost() },
    indexer: content.indexer,
  });
}

/** @param problem a reason, known before, not to use the memory */
export async function finalizeWithMemory(
  content: RescuedContent,
  memory: RecordMemory,
  problem: string | null,
): Promise<Finished> {
  const writer = continuation(content);
  const memoryProblem = problem ?? (await drain(writer, memory));
  const framesFromMemory = Number(writer.nextFrame - content.nextFrame);
  if (memoryProblem === null) content.onMemoryTaken();
  await pushStrings(writer, content.lateStrings);
  await writer.close({ status: SessionStatus.RECOVERED, lost: content.lost(), rejected: content.rejected });
  return { framesFromMemory, memoryProblem };
}

/** A writer that continues where the segments saved end. */
function continuation(content: RescuedContent): RecordWriter {
  const { out, schema, replayer, summarizer, indexer, compression, nextString, lastTimePs } = content;
  return new RecordWriter(
    {
      path: out.trace.file.path,
      schema,
      compression,
      checkpointIntervalPs: content.checkpointIntervalPs || DEFAULT_CHECKPOINT_INTERVAL_PS,
      maxDelayMs: 0,
    },
    {
      store: new FileStore(out.trace, out.segments, out.end),
      session: out.trace.session,
      state: replayer.state,
      summarizer,
      indexer,
      nextFrame: Number(content.nextFrame),
      nextString,
      items: replayer.items,
      lastTimePs,
    },
  );
}

/** Takes what the writer does not have yet; returns why not all of it could be taken. */
async function drain(writer: RecordWriter, memory: RecordMemory): Promise<string | null> {
  writer.restartStream();
  try {
    for (const words of memory.records()) {
      writer.push(words);
      await writer.ready();
    }
    return null;
  } catch (error) {
    if (error instanceof UscopeError && !error.code.startsWith('WRITER_')) return error.detail;
    throw error;
  }
}

async function pushStrings(writer: RecordWriter, texts: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const text of texts) {
    const batch = new RecordBatch();
    batch.string(Number(writer.nextString), text);
    writer.push(batch.words, 0, batch.length);
  }
}
