/** How large an index may be beside its segment. */
import { isUscopeError } from '../../base/errors.js';
import {
  decodeIndexContainer,
  encodeIndexContainer,
  type IndexContainer,
  IndexPart,
  type IndexPartBytes,
} from '../../format/index-container.js';
import { type DroppedPart, decodeDropped, encodeDropped } from '../dropped.js';
import { Coarsener, type LevelRow } from '../levels/coarsener.js';
import { bucketCyclesOf, encodeLevelRows } from '../levels/level-chunk.js';
import type { IndexPlan } from '../plan.js';
import { decodeTimePart } from '../time-part.js';

/** Of the bytes of a segment; of a small one, to which the parts of every container add up, more. */
const MAX_SHARE = 0.03;
const MAX_SHARE_OF_SMALL = 0.05;
const SMALL_BYTES = 64 * 1024;
/** What remains when all parts are dropped that may be. */
const LEAST_BYTES = 160;
/** What may remain with TIME: where one segment lacks it, the levels of the whole trace lack something. */
const LEAST_WITH_TIME = 640;

function limitsOf(segmentBytes: number): { readonly most: number; readonly withTime: number } {
  const share = segmentBytes < SMALL_BYTES ? MAX_SHARE_OF_SMALL : MAX_SHARE;
  const ofTime = Math.floor(segmentBytes * MAX_SHARE_OF_SMALL);
  return {
    most: Math.max(LEAST_BYTES, Math.floor(segmentBytes * share)),
    withTime: Math.max(LEAST_WITH_TIME, ofTime),
  };
}

/** What goes first when it is too large. CARRY stays: the next segment's index is made with it. */
const FINEST_FIRST: readonly number[] = [
  IndexPart.PCS,
  IndexPart.STRINGS,
  IndexPart.ROWS,
  IndexPart.STATS,
  IndexPart.OCCUPANCY,
];

/**
 * The container as it is to be stored after a segment of this size: while it is too large it loses the parts of one kind after the
 * other, and says so in its part DROPPED. TIME, which goes last, has buckets of 1,024 cycles before it does. null: even its CARRY is too
 * large.
 */
export function fitContainer(
  { groups }: Pick<IndexPlan, 'groups'>,
  container: Uint8Array,
  segmentBytes: number,
): Uint8Array | null {
  const { most, withTime } = limitsOf(segmentBytes);
  if (container.length <= most) return container;
  const decoded = decodeIndexContainer(container, 0, null);
  if (!decoded) return null;
  const smaller = new Shrinking(decoded);
  for (const kind of FINEST_FIRST) {
    smaller.drop(kind);
    if (smaller.bytes.length <= most) return smaller.bytes;
  }
  if (smaller.bytes.length <= withTime) return smaller.bytes;
  smaller.replace((part) => coarser(part, groups));
  if (smaller.bytes.length <= withTime) return smaller.bytes;
  smaller.drop(IndexPart.TIME);
  return smaller.bytes.length <= most ? smaller.bytes : null;
}

class Shrinking {
  bytes: Uint8Array;
  private parts: readonly IndexPartBytes[];
  private readonly dropped: DroppedPart[];

  constructor(private readonly container: IndexContainer) {
    const { parts } = container;
    this.dropped = parts
      .filter(({ kind }) => kind === IndexPart.DROPPED)
      .flatMap(({ bytes }) => decodeDropped(bytes));
    this.parts = parts.filter(({ kind }) => kind !== IndexPart.DROPPED);
    this.bytes = this.encoded();
  }

  drop(kind: number): void {
    const removed = this.parts.filter((part) => part.kind === kind);
    if (removed.length === 0) return;
    this.dropped.push(...removed.map(({ subject }) => ({ kind, subject })));
    this.parts = this.parts.filter((part) => part.kind !== kind);
    this.bytes = this.encoded();
  }

  replace(change: (part: IndexPartBytes) => IndexPartBytes): void {
    this.parts = this.parts.map(change);
    this.bytes = this.encoded();
  }

  private encoded(): Uint8Array {
    const { dropped, parts } = this;
    const what =
      dropped.length > 0 ? [{ kind: IndexPart.DROPPED, subject: 0, bytes: encodeDropped(dropped) }] : [];
    return encodeIndexContainer({ ...this.container, parts: [...what, ...parts] });
  }
}

/** TIME with the buckets of the next level. */
function coarser(part: IndexPartBytes, groups: IndexPlan['groups']): IndexPartBytes {
  const group = groups[part.subject];
  if (part.kind !== IndexPart.TIME || !group) return part;
  try {
    const rows: LevelRow[] = [];
    const coarsener = new Coarsener(group, bucketCyclesOf(1), (row) => rows.push(row));
    const time = decodeTimePart(part.bytes, group);
    coarsener.add(time);
    coarsener.finish();
    return { ...part, bytes: encodeLevelRows(group, 1, rows, time) };
  } catch (error) {
    if (isUscopeError(error)) return part;
    throw error;
  }
}
