/** The file that `recover` writes: a preamble made of the chunks that were saved, segments with commit records, and what close adds. */
import { randomBytes } from 'node:crypto';
import { crc32 } from '#platform/crc32';
import { align8 } from '../../base/bytes.js';
import { encodeCommitRecord } from '../../format/commit-record.js';
import { VERSION_MINOR } from '../../format/header.js';
import { sealIndexContainer } from '../../format/index-container.js';
import { ChunkType, type ExtraChunk, encodeTraceConfig } from '../../format/preamble.js';
import { encodeSchemaPayload } from '../../format/schema-chunk.js';
import { encodeSegmentHeader, type SegmentHeader } from '../../format/segment.js';
import { NO_CORE, type SessionInfo, SessionStatus } from '../../format/session-chunk.js';
import { DEFAULT_CHECKPOINT_INTERVAL_PS } from '../../writer/contract/options.js';
import { SegmentList } from '../../writer/file/segment-list.js';
import { beginTrace, type TraceFile } from '../../writer/file/trace-file.js';
import type { OutputFile } from '../../writer/output/output-file.js';
import type { Outline } from '../verify/outline.js';

const KNOWN_CHUNKS: ReadonlySet<number> = new Set(Object.values(ChunkType));

/** What a segment of the output is made of. */
export interface SegmentParts {
  readonly header: SegmentHeader;
  readonly checkpoint: Uint8Array;
  /** As they are in the file. */
  readonly deltas: Uint8Array;
  readonly nextFrame: bigint;
  readonly nextString: bigint;
  readonly strings: readonly Uint8Array[];
  readonly snapshots: readonly number[];
  /** Its index container, without place and checksum; null: none. */
  readonly index: Uint8Array | null;
}

export class OutputTrace {
  readonly segments = new SegmentList();
  /** 8-aligned end of the last commit record. */
  end: number;

  private constructor(readonly trace: TraceFile) {
    this.end = trace.preambleEnd;
  }

  /** @param flags header flags of an open trace */
  static async create(file: OutputFile, outline: Outline, flags: number): Promise<OutputTrace> {
    const rest = outline.chunks.filter(({ type }) => !KNOWN_CHUNKS.has(type));
    const chunks = [...savedChunks(outline), ...rest];
    const session = recoveredSession(outline);
    return new OutputTrace(await beginTrace(file, flags, session, chunks, outline.isDoubtful));
  }

  async append(parts: SegmentParts): Promise<void> {
    const { checkpoint, deltas } = parts;
    const header = encodeSegmentHeader({
      ...parts.header,
      flags: 0,
      prevSegmentOffset: BigInt(this.segments.lastOffset),
      checkpointSize: checkpoint.length,
      deltasCompressedSize: deltas.length,
    });
    const size = header.length + checkpoint.length + deltas.length;
    const index = parts.index ?? undefined;
    if (index) sealIndexContainer(index, this.end, crc32);
    const record = encodeCommitRecord(
      { ...parts, index, segmentOffset: BigInt(this.end), segmentSize: size },
      crc32(deltas, crc32(checkpoint, crc32(header))),
      crc32,
    );
    const padding = new Uint8Array(align8(size) - size);
    await this.trace.file.write([header, checkpoint, deltas, padding, record], this.end);
    this.segments.push(this.end, size, parts.header.timeStartPs, parts.header.timeEndPs);
    this.end += size + padding.length + record.length;
  }
}

/**
 * The schema as it was (names of the DUT lie in its pool), or in the form of the present version where it is older; the other two, should they
 * be damaged, are replaced by empty ones.
 */
function savedChunks({ chunks, dut, schema, header, checkpointIntervalPs }: Outline): ExtraChunk[] {
  const isOld = header !== null && header.versionMinor < VERSION_MINOR;
  const anew = isOld && schema ? encodeSchemaPayload(schema, dut ?? []) : null;
  const payload = (type: number): Uint8Array | undefined =>
    chunks.find((chunk) => chunk.type === type)?.payload;
  return [
    {
      type: ChunkType.DUT_DESC,
      payload: anew?.dut ?? (dut && payload(ChunkType.DUT_DESC)) ?? new Uint8Array(4),
    },
    { type: ChunkType.SCHEMA, payload: anew?.schema ?? payload(ChunkType.SCHEMA) ?? new Uint8Array(0) },
    {
      type: ChunkType.TRACE_CONFIG,
      payload: encodeTraceConfig(checkpointIntervalPs ?? DEFAULT_CHECKPOINT_INTERVAL_PS),
    },
  ];
}

function recoveredSession({ session }: Outline): SessionInfo {
  const now = BigInt(Date.now());
  const status = SessionStatus.RECOVERED;
  if (session) return { ...session, status, endTimeMs: session.endTimeMs || now };
  return {
    sessionId: new Uint8Array(randomBytes(16)),
    runId: new Uint8Array(16),
    coreIndex: NO_CORE,
    status,
    startTimeMs: now,
    endTimeMs: now,
    lost: 0n,
    rejected: 0n,
  };
}
