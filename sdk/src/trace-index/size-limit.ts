/** How large an index may be beside its segment. */
import { decodeIndexContainer, encodeIndexContainer, IndexPart } from '../format/index-container.js';
import { type DroppedPart, decodeDropped, encodeDropped } from './dropped.js';

/** Of a segment's bytes; of a small segment, whose container is mostly what every container has, so many bytes. */
const MAX_SHARE = 0.03;
const MIN_BYTES = 4096;
/** What goes first when it is too large. CARRY stays: the next segment's index is made with it. */
const FINEST_FIRST: readonly number[] = [
  IndexPart.PCS,
  IndexPart.STRINGS,
  IndexPart.ROWS,
  IndexPart.TIME,
  IndexPart.STATS,
  IndexPart.OCCUPANCY,
];

/**
 * The container as it is to be stored behind a segment of so many bytes: while it is too large it loses the parts of one kind after the
 * other, and says so in its part DROPPED. null: even its CARRY is too large.
 */
export function fitContainer(container: Uint8Array, segmentBytes: number): Uint8Array | null {
  const limit = Math.max(MIN_BYTES, Math.floor(segmentBytes * MAX_SHARE));
  if (container.length <= limit) return container;
  const decoded = decodeIndexContainer(container, 0, null);
  if (!decoded) return null;
  let { parts } = decoded;
  const dropped: DroppedPart[] = parts
    .filter(({ kind }) => kind === IndexPart.DROPPED)
    .flatMap(({ bytes }) => decodeDropped(bytes));
  for (const kind of FINEST_FIRST) {
    const removed = parts.filter((part) => part.kind === kind);
    if (removed.length === 0) continue;
    dropped.push(...removed.map(({ subject }) => ({ kind, subject })));
    const kept = parts.filter((part) => part.kind !== kind && part.kind !== IndexPart.DROPPED);
    parts = [{ kind: IndexPart.DROPPED, subject: 0, bytes: encodeDropped(dropped) }, ...kept];
    const smaller = encodeIndexContainer({ ...decoded, parts });
    if (smaller.length <= limit) return smaller;
  }
  return null;
}
