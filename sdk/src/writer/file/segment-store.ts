/** The destination of finished segments: the trace file (FileStore), or the spool of a flight recorder (ring/). */
import type { EncodedStrings } from '../../format/encoded-strings.js';
import type { SegmentHeader } from '../../format/segment.js';
import type { SessionInfo } from '../../format/session-chunk.js';
import type { TraceSummary } from '../../format/tsum.js';
import type { SegmentIndexer } from '../contract/segment-indexer.js';

/** A segment with its deltas compressed. Its place is the store's matter. */
export interface FinishedSegment {
  readonly header: Omit<SegmentHeader, 'prevSegmentOffset'>;
  readonly checkpoint: Uint8Array;
  readonly deltas: Uint8Array;
  /** CRC-32 of the checkpoint, and of the deltas, if it is known. */
  readonly checkpointCrc?: number | undefined;
  readonly deltasCrc?: number | undefined;
  /** Storages whose slots in the checkpoint are the client's snapshots. */
  readonly snapshots: readonly number[];
  /** Ordinal of the next client frame, and index of the next string, after this segment. */
  readonly nextFrame: bigint;
  readonly nextString: bigint;
  /** Strings first seen since the segment before. */
  readonly strings: EncodedStrings;
  /** What the store said at the cut. */
  readonly note: unknown;
  /** Its index container, which does not know its place yet; null: none. */
  readonly index?: Uint8Array | null | undefined;
}

/** What a finalized trace has besides its segments. */
export interface TraceEnd {
  readonly totalTimePs: bigint;
  readonly summary: TraceSummary;
  readonly numStrings: number;
  /** Strings that came after the last segment. */
  readonly lateStrings: Iterable<Uint8Array>;
  readonly session: SessionInfo;
  /** Writes the directory of the index; null: the trace has no index. */
  readonly indexer?: Pick<SegmentIndexer, 'directory'> | null | undefined;
}

export interface SegmentStore {
  /** Of the trace file. */
  readonly path: string;
  /** Segments held, and the bytes they take; of the file, once it is finalized. */
  readonly numSegments: number;
  readonly bytes: number;
  /**
   * A segment is being cut; what this returns comes back with it.
   * @param items of the trace so far
   */
  atCut?(items: number): unknown;
  /** Takes the next segment, whose bytes must not change before `commit`; returns how many it takes. */
  add(segment: FinishedSegment): number;
  /** Makes what was added durable. Called again after it has failed. */
  commit(): Promise<void>;
  /** After a commit that has failed for good: how many of the segments that it was to make durable readers find all the same. */
  found(): Promise<number>;
  /** Writes the finalized trace; returns its size. May be called again after it has failed. */
  finalize(end: TraceEnd): Promise<number>;
  close(): Promise<void>;
}
