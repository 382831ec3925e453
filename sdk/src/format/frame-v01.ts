/** Cycle frames of version 0.1 (docs/reference/format.md#plain-frames): a frame's ops, then its events. Read through `FrameCursor`; written only to make old files for tests. */
import { ByteWriter } from '../base/bytes.js';
import { UscopeError } from '../base/errors.js';
import { writeLeb128 } from '../base/leb128.js';
import { canonicalOp, fitsCompact, frameDelta } from './frame.js';
import type { Frame, Item } from './types.js';

const OP_FORMAT = { WIDE: 0, COMPACT: 1 } as const;

/**
 * v0.1 delta blob. Ops are written before events whatever their order in `items`. Compact ops are used where a frame allows and `allowCompact` (file flag
 * F_COMPACT_DELTAS) is set. Errors: FORMAT_VALUE when time runs backwards, FORMAT_LENGTH for more than 65,535 ops or events in a frame.
 */
export function encodeFramesV01(
  frames: readonly Frame[],
  startPs: bigint,
  allowCompact: boolean,
): Uint8Array {
  const writer = new ByteWriter(1024);
  let before = startPs;
  for (const frame of frames) {
    writeLeb128(writer, frameDelta(frame, before));
    before = frame.timePs;
    const ops = frame.items.filter((item) => item.kind === 'op');
    const events = frame.items.filter((item) => item.kind === 'event');
    if (ops.length > 0xffff || events.length > 0xffff) {
      throw new UscopeError(
        'FORMAT_LENGTH',
        `a frame of ${ops.length} ops and ${events.length} events; split it`,
      );
    }
    const isCompact = allowCompact && fitsCompact(ops);
    writer.u8(isCompact ? OP_FORMAT.COMPACT : OP_FORMAT.WIDE).u8(0);
    writer.u16(ops.length).u16(events.length);
    for (const op of ops) writeOp(writer, op, isCompact);
    for (const { eventTypeId, payload } of events) {
      writer.u16(eventTypeId).u16(0).u32(payload.length).bytes(payload);
    }
  }
  return writer.finish();
}

function writeOp(writer: ByteWriter, item: Extract<Item, { kind: 'op' }>, isCompact: boolean): void {
  const { action, storageId, slot, field, value } = canonicalOp(item);
  if (isCompact) writer.u8(action).u8(storageId).u16(slot).u16(field).u16(Number(value));
  else writer.u8(action).u8(0).u16(storageId).u16(slot).u16(field).u64(value);
}
