/** Trace configuration chunk (docs/reference/format.md#trace-configuration): u64 checkpoint interval in ps. */
import { ByteReader, ByteWriter } from '../base/bytes.js';

export function encodeTraceConfig(checkpointIntervalPs: number | bigint): Uint8Array {
  return new ByteWriter(8).u64(checkpointIntervalPs).finish();
}

/** Checkpoint interval in ps. A longer payload is accepted, its rest ignored. FORMAT_TRUNCATED when shorter. */
export function decodeTraceConfig(payload: Uint8Array, baseOffset = 0): bigint {
  return new ByteReader(payload, 0, payload.length, baseOffset).u64();
}
