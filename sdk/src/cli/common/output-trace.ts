/** What verbs that write a trace share: their options, cancellation, and what they tell when they are done. */
import type { Command } from 'commander';
import type { CompressionName } from '../../format/types.js';
import { createSegmentIndexer } from '../../trace-index/recording/segment-indexer.js';
import type { TraceStats } from '../../writer/index.js';
import { writeAtomically } from '../../writer/output/atomic-file.js';
import { createCpuSummarizer } from '../../writer/summary/cpu-summarizer.js';
import { withInterrupt } from './interrupt.js';
import { ExitCode, io } from './io.js';
import { withProgress } from './progress-bar.js';
import { compressionOf, intervalOf, SMALL_HELP } from './writer-arguments.js';

export interface OutputArguments {
  readonly output: string;
  readonly compression?: string;
  readonly small?: boolean;
  readonly checkpointInterval?: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

export function addOutputOptions(command: Command): Command {
  return command
    .requiredOption('-o, --output <file>', 'the trace to write; it appears when it is complete')
    .option('--force', 'replace a file that is there already')
    .option('--compression <method>', 'lz4, zstd, none (default: lz4)')
    .option('--small', SMALL_HELP)
    .option('--checkpoint-interval <time>', 'simulated time between checkpoints (default: that of the input)')
    .option('--json', 'a report as one JSON document');
}

/** What every trace that a verb writes has. */
const CONTENTS = { summarizer: createCpuSummarizer, index: createSegmentIndexer };

/** What the writer gets. */
export interface Output extends Readonly<typeof CONTENTS> {
  /** Temporary. */
  readonly path: string;
  readonly compression: CompressionName | undefined;
  readonly small: boolean | undefined;
  readonly checkpointIntervalPs: bigint | undefined;
  readonly onProgress: (part: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Lets `write` write the output, with a progress bar; it gets its name when it is whole. Ctrl-C leaves nothing behind.
 * @param inputs files that must not be replaced
 */
export async function writeOutput<T>(
  verb: string,
  args: OutputArguments,
  inputs: readonly string[],
  write: (output: Output) => Promise<T>,
): Promise<T | null> {
  const { small } = args;
  const compression = compressionOf(args);
  const checkpointIntervalPs = intervalOf(args);
  return withInterrupt(args.output, (signal) =>
    withProgress(verb, (onProgress) =>
      writeAtomically(args.output, { inputs, force: args.force, signal }, (path) =>
        write({ ...CONTENTS, path, compression, small, checkpointIntervalPs, onProgress, signal }),
      ),
    ),
  );
}

/** One line about what was written. */
export function tellWritten(output: string, { segments, frames, items, strings, bytes }: TraceStats): void {
  io.err(
    `${output}: ${items} items in ${frames} frames, ${segments} segments, ${strings} strings, ${bytes} bytes`,
  );
}

/** What could not be kept: told, and the exit status says so. */
export function tellLosses(losses: readonly { readonly count: number; readonly what: string }[]): void {
  for (const { count, what } of losses) {
    if (count === 0) continue;
    io.err(`uscope: warning: ${count} ${what}`);
    process.exitCode = ExitCode.LOSS;
  }
}

export function statsJson({ segments, frames, items, strings, bytes, totalTimePs }: TraceStats) {
  return { segments, frames, items, strings, bytes, totalTimePs };
}
