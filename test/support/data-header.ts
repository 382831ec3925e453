/** The header of a data message, which clients write (docs/reference/bridge-protocol.md#data-header). */
import { DATA_HEADER_BYTES, DATA_MAGIC } from '../../sdk/src/bridge/wire/constants.js';
import type { DataHeader } from '../../sdk/src/bridge/wire/data-header.js';

export function encodeDataHeader(header: DataHeader): Uint8Array {
  const bytes = new Uint8Array(DATA_HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, DATA_MAGIC, true);
  view.setUint16(4, header.flags, true);
  view.setUint16(6, DATA_HEADER_BYTES, true);
  view.setUint32(8, header.trace, true);
  view.setUint32(12, header.epoch, true);
  view.setBigUint64(16, header.seq, true);
  view.setBigUint64(24, header.firstFrame, true);
  view.setUint32(32, header.payloadSize, true);
  view.setBigUint64(40, BigInt(header.memoryOffset ?? 0), true);
  return bytes;
}
