/** What a writer gets, and what it says when it is done. */
import type { UscopeError } from '../../base/errors.js';
import type { CompletedFrames, SessionStatus } from '../../format/session-chunk.js';
import type { CompressionName, DutProperties, Schema } from '../../format/types.js';
import type { WriterBudget } from '../frames/memory-need.js';
import type { SummarizerFactory } from '../frames/summarizer.js';
import type { OpenOutput } from '../output/output-file.js';
import type { RingReport } from './ring-report.js';
import type { SegmentIndexerFactory } from './segment-indexer.js';

/** 10,000 cycles of a 1 GHz clock. */
export const DEFAULT_CHECKPOINT_INTERVAL_PS = 10_000_000n;

export interface WriterOptions {
  /** Where the trace file goes; its directory must exist. */
  readonly path: string;
  readonly schema: Schema;
  readonly dut?: DutProperties | undefined;
  /** Time between checkpoints in ps (docs/reference/format.md#trace-configuration); default 10,000,000. */
  readonly checkpointIntervalPs?: number | bigint | undefined;
  /**
   * A trace that does not begin with empty storages at time 0 (a part of another one): its first segment starts at `timePs` (ps) with
   * this checkpoint (docs/reference/format.md#checkpoints). No frame may be earlier.
   */
  readonly start?: { readonly timePs: bigint; readonly checkpoint: Uint8Array } | undefined;
  /** Default 'lz4', which every viewer opens. */
  readonly compression?: CompressionName | undefined;
  /**
   * The smallest file: ZSTD, checkpoints half as often as by default unless `checkpointIntervalPs` is given, and `coarseSummary`.
   * WRITER_COMPRESSION with another compression, or where there is no ZSTD.
   */
  readonly small?: boolean | undefined;
  /** The summary, which is not compressed, takes at most a sixteenth of the file: its finest levels are left out. */
  readonly coarseSummary?: boolean | undefined;
  /** ZSTD level; default 1. */
  readonly compressionLevel?: number | undefined;
  /** 16 bytes each; a random session id and an all-zero run id by default. */
  readonly sessionId?: Uint8Array | undefined;
  readonly runId?: Uint8Array | undefined;
  /** 0xFFFFFFFF (the default): not one of several cores. */
  readonly coreIndex?: number | undefined;
  /** Gathers the trace summary; without one the file carries an empty summary. */
  readonly summarizer?: SummarizerFactory | null | undefined;
  /** Makes the index of the segments; without one the file has none. */
  readonly index?: SegmentIndexerFactory | null | undefined;
  /** Client bytes that may be unacknowledged: drives early cuts. Default: the 32 MiB of a hard cut. */
  readonly creditBytes?: number | undefined;
  /** Raw bytes at which a segment is cut softly (default 8 MiB) and hard (32 MiB). */
  readonly softCutBytes?: number | undefined;
  readonly hardCutBytes?: number | undefined;
  /** Wall clock milliseconds after which waiting frames are committed; default 1,000, 0 = never. */
  readonly maxDelayMs?: number | undefined;
  /** Frames with an ordinal below `frames`, and strings below `strings`, are durable. */
  readonly onDurable?: ((frames: bigint, strings: bigint) => void) | undefined;
  /** The disk is full, and the writer waits (an error), or it has room again (null). Default: a warning of the process. */
  readonly onStall?: ((error: UscopeError | null) => void) | undefined;
  /** The writer cannot continue: a write has failed, or a cut that nobody called for. It is to be closed; the next call meets the same error. */
  readonly onFailure?: ((error: Error) => void) | undefined;
  /** Is asked before memory is taken; default: nobody. */
  readonly budget?: WriterBudget | undefined;
  /** Full disk: fail with WRITER_DISK_FULL (default), or wait for room, which `onStall` reports. */
  readonly onFull?: 'wait' | 'stop' | undefined;
  /** The file layer; the default writes to the file system. */
  readonly openOutput?: OpenOutput | undefined;
  /**
   * The inner loop: `native` is machine code where it was built (`make -C sdk/kernel/native`) and WebAssembly elsewhere, which is the default.
   * `typescript` is the plain path, the reference for both: slower, one frame after the other. All three write the same file.
   */
  readonly kernel?: 'native' | 'wasm' | 'typescript' | undefined;
  /**
   * When it is raised the trace is given up: what waits is not written, and `push`, `ready` and `close` fail at once with its reason. The
   * caller removes the file.
   */
  readonly signal?: AbortSignal | undefined;
  /** Limit on the memory the schema's storages may take. */
  readonly maxStateBytes?: number | undefined;
}

/** How the session ended, for its chunk in the file. */
export interface SessionEnd {
  readonly status: SessionStatus;
  /** Items the client is known to have lost, and items and cycles it refused. */
  readonly lost?: bigint | undefined;
  readonly rejected?: bigint | undefined;
  /** Frames that the client completed, if anything is known of it. */
  readonly completed?: CompletedFrames | undefined;
  /** The client may be alive and open the trace again: what only that would need is kept. */
  readonly mayReturn?: boolean | undefined;
}

/** What a writer has taken, whether it is durable or not. */
export interface AcceptedStats {
  readonly frames: bigint;
  readonly items: bigint;
  /** Time of the last frame in ps. */
  readonly totalTimePs: bigint;
}

export interface TraceStats {
  readonly path: string;
  readonly status: SessionStatus;
  /** Durable: in the file, or let go by a flight recorder. */
  readonly frames: bigint;
  readonly items: bigint;
  readonly strings: bigint;
  readonly segments: number;
  /** Size of the file. */
  readonly bytes: bigint;
  /** Time of the last durable frame in ps. */
  readonly totalTimePs: bigint;
  /** Ordinal of the first frame in the file; absent: 0. Those before it a flight recorder has let go. */
  readonly firstFrame?: bigint | undefined;
  /** Frames that the client completed, as the finalized file says. */
  readonly completed?: CompletedFrames | undefined;
  /** Of these some may not be durable: while the trace is open, and when it has failed. */
  readonly accepted: AcceptedStats;
  readonly rejected: bigint;
  /** Items. */
  readonly lost: bigint;
  /** Of a flight recorder: what it has kept and let go. */
  readonly ring?: RingReport | undefined;
}
