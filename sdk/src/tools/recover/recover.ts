/**
 * `uscope recover`: a finalized file from a truncated, unfinalized or damaged one. Segments are found by where they are, each is taken when its
 * checksum holds (files of other writers: when everything about it fits together) and copied byte for byte; what closing a trace adds is made
 * anew. The input is only read. The output appears under its name when it has passed verification, not before.
 */
import { UscopeError } from '../../base/errors.js';
import type { CompletedFrames, SessionInfo } from '../../format/session-chunk.js';
import { fileSource, nodeCodec, openSource, segmentLimit } from '../../reader/node.js';
import { CheckedSource } from '../../reader/source.js';
import { type Account, accountOf } from '../../writer/contract/account.js';
import type { SegmentIndexerFactory } from '../../writer/contract/segment-indexer.js';
import type { SummarizerFactory } from '../../writer/frames/summarizer.js';
import { writeAtomically } from '../../writer/output/atomic-file.js';
import { type OutputFile, openNodeOutput } from '../../writer/output/output-file.js';
import { FindingLog } from '../verify/finding.js';
import { type VerifyReport, verifyTrace } from '../verify/index.js';
import { readOutline } from '../verify/outline.js';
import { LossCount, PREAMBLE_UNTRUSTED, type RecoverReport } from './report.js';
import { Rescue, type RescueResult } from './rescue.js';

/** What a dead client recorded and had not sent (docs/reference/bridge-protocol.md#memory-of-a-local-client). */
export interface RecordMemory {
  /** Its records in the order of the stream; each array is valid until the next is asked for. */
  records(): Iterable<Uint32Array>;
  /** Frames that the client completed, those among them that it no longer recorded; absent: as many as there are records of. */
  readonly completed?: CompletedFrames | undefined;
}

export interface RecoverOptions {
  readonly input: string;
  readonly output: string;
  /** Replace what is at `output`. Never what is read. */
  readonly force?: boolean | undefined;
  /** Gathers the summary (TSUM) of the output; without one it stays empty. */
  readonly summarizer?: SummarizerFactory | undefined;
  /** Makes the index of the output; without one it has none. */
  readonly index?: SegmentIndexerFactory | null | undefined;
  /** The memory of the client of this session, if there is one that may be used. */
  readonly memory?: ((session: SessionInfo) => RecordMemory | null) | undefined;
  readonly maxSegmentBytes?: number | undefined;
  readonly maxStateBytes?: number | undefined;
  /** Bytes of input looked at, of how many. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/**
 * @throws UscopeError RECOVER_NOTHING when nothing can be saved; WRITER_EXISTS when the output exists (without `force`) or is the input;
 *   RECOVER_OUTPUT when what was written does not pass verification; READER_OPEN, WRITER_* for files that cannot be read or written
 */
export function recoverTrace(options: RecoverOptions): Promise<RecoverReport> {
  const { input, output, force } = options;
  return writeAtomically(output, { inputs: [input], force }, (partial) => recoverInto(partial, options));
}

async function recoverInto(partial: string, options: RecoverOptions): Promise<RecoverReport> {
  const { input, output } = options;
  const source = await openSource(input);
  try {
    const size = await source.size();
    const log = new FindingLog();
    const checked = new CheckedSource(source);
    const outline = await readOutline(checked, log);
    if (!outline.header || !outline.schema) nothing(input, log);
    const file = await openNodeOutput(partial, 'create');
    const result = await closing(file, async () => {
      const losses = new LossCount();
      const rescue = new Rescue(checked, size, outline, file, log, losses, {
        codec: nodeCodec,
        summarizer: options.summarizer,
        index: options.index ?? null,
        memory: options.memory,
        maxSegmentBytes: options.maxSegmentBytes ?? segmentLimit(),
        maxStateBytes: options.maxStateBytes,
        onProgress: (done) => options.onProgress?.(done, size),
      });
      const outcome = await rescue.run();
      if (outcome.segments === 0 && outcome.wasCommitted) nothing(input, log);
      return { ...outcome, losses };
    });
    const verified = await verifyOutput(partial, options);
    const { segments, frames, items, strings, firstTimePs, lastTimePs } = verified;
    const account = recoveredAccount(result, frames, outline.session);
    // Of a trace that was closed the client has said how many there were, so that an end that is cut off counts too.
    if (account?.lost != null && !result.losses.isNothing) result.losses.set(Number(account.lost));
    return {
      output,
      saved: { segments, frames, items, strings, firstTimePs, lastTimePs },
      framesFromMemory: result.framesFromMemory,
      memoryProblem: result.memoryProblem,
      lost: result.losses.result(),
      untrusted: outline.isDoubtful ? PREAMBLE_UNTRUSTED : null,
      account,
      complete: result.losses.isNothing && !outline.isDoubtful,
      findings: log.findings,
    };
  } finally {
    await source.close?.();
  }
}

function recoveredAccount(
  { completed, framesFromMemory }: RescueResult,
  saved: number,
  session: SessionInfo | null,
): Account | null {
  if (completed === null) return null;
  const firstFrame = session?.ring?.firstFrame ?? 0n;
  const frames = firstFrame + BigInt(saved);
  const accepted = { frames, items: 0n, totalTimePs: 0n };
  return accountOf({
    stats: { frames, firstFrame, accepted },
    completed,
    salvaged: BigInt(framesFromMemory),
  });
}

async function closing<T>(file: OutputFile, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await file.close().catch(() => {}); // a writer that took it over has closed it
  }
}

function nothing(input: string, log: FindingLog): never {
  const [first] = log.findings;
  const reason = first ? `: ${first.detail}` : '';
  throw new UscopeError('RECOVER_NOTHING', `nothing can be saved${reason}`, { file: input });
}

async function verifyOutput(path: string, options: RecoverOptions): Promise<VerifyReport> {
  const source = await fileSource(path);
  try {
    const { summarizer, maxSegmentBytes, maxStateBytes } = options;
    const report = await verifyTrace(source, { summarizer, maxSegmentBytes, maxStateBytes });
    const error = report.findings.find(({ severity }) => severity === 'error');
    if (!error) return report;
    throw new UscopeError('RECOVER_OUTPUT', `${error.code}: ${error.detail}`, {
      file: options.output,
      offset: error.offset ?? undefined,
    });
  } finally {
    await source.close?.();
  }
}
