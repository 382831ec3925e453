/** Options of a conversion that makes a new trace of others. */
import type { CompressionName } from '../format/types.js';
import type { SegmentIndexerFactory } from '../writer/contract/segment-indexer.js';
import type { SummarizerFactory } from '../writer/frames/summarizer.js';

export interface RewriteOptions {
  /** Where the new trace goes; see `writeAtomically` for files that appear whole. */
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
