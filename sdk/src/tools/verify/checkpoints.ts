/**
 * Holds each checkpoint against the state replayed up to it. In files of ours it is the state before its segment (docs/reference/format.md#checkpoints); one existing writer stores
 * the state after it, which shows in segment 0.
 */
import { SEGMENT_HEADER_SIZE } from '../../format/segment.js';
import type { StateLayout } from '../../state/layout.js';
import { StorageState } from '../../state/storage-state.js';
import type { FindingLog, Severity } from './finding.js';
import type { FoundSegment } from './segment-walk.js';

export function checkpointOf({ bytes, header }: FoundSegment): Uint8Array {
  return bytes.subarray(SEGMENT_HEADER_SIZE, SEGMENT_HEADER_SIZE + header.checkpointSize);
}

/** The state a checkpoint holds; null (and findings) when it cannot be read. */
export function loadCheckpoint(
  layout: StateLayout,
  segment: FoundSegment,
  log: FindingLog,
): StorageState | null {
  const stored = new StorageState(layout);
  try {
    stored.loadCheckpoint(checkpointOf(segment), segment.offset + SEGMENT_HEADER_SIZE);
    return stored;
  } catch (error) {
    log.caught(error, segment.offset + SEGMENT_HEADER_SIZE);
    return null;
  }
}

/** Takes over everything of another state. */
export function copyState(from: StorageState, to: StorageState): void {
  to.cells.set(from.cells);
  to.mask.set(from.mask);
  to.occupied.set(from.occupied);
}

/** Equal as far as a checkpoint shows: the mask of a dense storage is not stored. */
export function sameState(a: StorageState, b: StorageState): boolean {
  const [first, second] = [a.encodeCheckpoint(), b.encodeCheckpoint()];
  return first.length === second.length && Buffer.compare(first, second) === 0;
}

/**
 * Says how a checkpoint differs from the state replayed up to it: per storage, its first difference.
 * @param severity of a difference that is not a snapshot of the model's
 */
export function compareStates(
  replayed: StorageState,
  stored: StorageState,
  segment: FoundSegment,
  severity: Severity,
  log: FindingLog,
): void {
  const snapshots = new Set(segment.crc === 'good' ? segment.record?.snapshots : []);
  const offset = segment.offset + SEGMENT_HEADER_SIZE;
  const at = `in the checkpoint at ${segment.header.timeStartPs} ps`;
  replayed.layout.schema.storages.forEach((storage, id) => {
    const slot = firstSlot(replayed, stored, id);
    const detail = `"${storage.name}" ${at}: ${slot}`;
    if (slot && snapshots.has(id)) {
      log.add('info', 'VERIFY_SNAPSHOT', offset, `${detail}: the model supplied a snapshot`);
    } else if (slot) log.add(severity, 'VERIFY_CHECKPOINT', offset, detail);
    const property = firstProperty(replayed, stored, id);
    if (property) log.add(severity, 'VERIFY_CHECKPOINT', offset, `"${storage.name}" ${at}: ${property}`);
  });
}

function firstProperty(replayed: StorageState, stored: StorageState, id: number): string | null {
  const { properties } = replayed.layout.schema.storages[id];
  const index = properties.findIndex((_, i) => replayed.property(id, i) !== stored.property(id, i));
  if (index < 0) return null;
  const [is, should] = [stored.property(id, index), replayed.property(id, index)];
  return `property "${properties[index].name}" is ${is}, by replay ${should}`;
}

function firstSlot(replayed: StorageState, stored: StorageState, id: number): string | null {
  const { layout } = replayed;
  const { numSlots, fields } = layout.schema.storages[id];
  for (let slot = 0; slot < numSlots; slot++) {
    const valid = stored.slotValid(id, slot);
    if (valid !== replayed.slotValid(id, slot)) {
      return `slot ${slot} is ${valid ? 'valid' : 'not valid'}, by replay it is${valid ? ' not' : ''}`;
    }
    for (let field = 0; field < fields.length; field++) {
      const [is, should] = [stored.value(id, slot, field), replayed.value(id, slot, field)];
      if (is !== should) return `slot ${slot}, field "${fields[field].name}" is ${is}, by replay ${should}`;
    }
  }
  return null;
}
