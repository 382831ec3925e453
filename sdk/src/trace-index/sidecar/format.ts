/**
 * An index in a separate file, next to a trace that has none (docs/reference/format.md#index-sidecar):
 *
 *   0 u32 magic "uIXF"   4 u32 layout 1   8 16 bytes session id, zeros where the trace has none
 *  24 u32 CRC-32 of the trace's header and preamble   28 u32 CRC-32 of the plan   32 u32 segments   36 u32 0
 *  40 u64 offset of the directory; 0: it is not finished   48 u64 size of the directory   56 u32 0   60 u32 CRC-32 of bytes 0..60
 *  64 the containers, as they would be after the commit records, and the directory
 */
import { ByteReader, ByteWriter, equalBytes } from '../../base/bytes.js';
import { HEADER_SIZE } from '../../format/header.js';
import type { Trace } from '../../reader/index.js';
import type { IndexPlan } from '../plan.js';

const MAGIC = 0x46584975; // "uIXF"
const LAYOUT = 1;
export const SIDECAR_HEAD_SIZE = 64;
const CHECKED_SIZE = 60;

export interface SidecarHead {
  readonly sessionId: Uint8Array;
  readonly traceCrc: number;
  readonly planCrc: number;
  readonly segments: number;
  /** null: it is being made, or making it was interrupted. */
  readonly directory: { readonly offset: number; readonly size: number } | null;
}

/** What a finished sidecar of a trace begins with, but for the directory. */
export async function sidecarHeadOf(trace: Trace, plan: IndexPlan): Promise<SidecarHead> {
  const { preambleEnd } = trace.header;
  const traceCrc = trace.crc32(await trace.bytes(0, Math.max(HEADER_SIZE, preambleEnd)), 0);
  const sessionId = trace.session?.sessionId ?? new Uint8Array(16);
  return { sessionId, traceCrc, planCrc: plan.crc, segments: trace.segmentCount, directory: null };
}

export function encodeSidecarHead(head: SidecarHead, crc32: Trace['crc32']): Uint8Array {
  const { sessionId, traceCrc, planCrc, segments, directory } = head;
  const writer = new ByteWriter(SIDECAR_HEAD_SIZE).u32(MAGIC).u32(LAYOUT).bytes(sessionId.subarray(0, 16));
  writer.u32(traceCrc).u32(planCrc).u32(segments).u32(0);
  writer
    .u64(directory?.offset ?? 0)
    .u64(directory?.size ?? 0)
    .u32(0);
  return writer.u32(crc32(writer.finish(), 0)).finish();
}

/** null: there is no sidecar's head. */
export function decodeSidecarHead(bytes: Uint8Array, crc32: Trace['crc32']): SidecarHead | null {
  if (bytes.length < SIDECAR_HEAD_SIZE) return null;
  const reader = new ByteReader(bytes);
  if (reader.u32() !== MAGIC || reader.u32() !== LAYOUT) return null;
  const sessionId = reader.bytes(16);
  const [traceCrc, planCrc, segments] = [reader.u32(), reader.u32(), reader.u32()];
  reader.skip(4);
  const [offset, size] = [Number(reader.u64()), Number(reader.u64())];
  reader.skip(4);
  if (reader.u32() !== crc32(bytes.subarray(0, CHECKED_SIZE), 0)) return null;
  return { sessionId, traceCrc, planCrc, segments, directory: offset === 0 ? null : { offset, size } };
}

/** Both are of one trace, made by the same rules. */
export function isSameTrace(a: SidecarHead, b: SidecarHead): boolean {
  return (
    equalBytes(a.sessionId, b.sessionId) &&
    a.traceCrc === b.traceCrc &&
    a.planCrc === b.planCrc &&
    a.segments === b.segments
  );
}
