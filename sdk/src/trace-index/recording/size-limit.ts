/** How large an index may be beside its segment. */
import { appendAll } from '../../base/arrays.js';
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
import { coarserRowsPart } from '../rows/coarser-rows.js';
import { MAX_GROUP_LEVEL } from '../rows/rows-part.js';
import { maxContainerShare } from '../share.js';
import { decodeTimePart } from '../time-part.js';

/** Of the bytes of a segment, with TIME. */
const MAX_SHARE_WITH_TIME = 0.05;
/** What remains when all parts are dropped that may be. */
const LEAST_BYTES = 160;
/** What may remain with TIME: where one segment lacks it, the levels of the whole trace lack something. */
const LEAST_WITH_TIME = 640;

function limitsOf(segmentBytes: number): { readonly most: number; readonly withTime: number } {
  const share = maxContainerShare(segmentBytes);
  const ofTime = Math.floor(segmentBytes * MAX_SHARE_WITH_TIME);
  return {
    most: Math.max(LEAST_BYTES, Math.floor(segmentBytes * share)),
    withTime: Math.max(LEAST_WITH_TIME, ofTime),
  };
}

/** One way to make a container smaller; what it leaves as it is does not help. CARRY stays: the next segment's index is made with it. */
type Step = (container: Shrinking) => void;

/** The parts of a kind, which DROPPED names then. */
const without =
  (kind: number): Step =>
  (container) =>
    container.drop(kind);

/**
 * The container as it is to be stored after a segment of this size. While it is too large, it loses its finest levels one after the other:
 * PCS and STRINGS, then groups of rows, then buckets of 256 cycles, then other parts; its part DROPPED says which parts. TIME goes last. null:
 * even its CARRY is too large.
 */
export function fitContainer(
  { groups, cores }: Pick<IndexPlan, 'groups' | 'cores'>,
  container: Uint8Array,
  segmentBytes: number,
): Uint8Array | null {
  const { most, withTime } = limitsOf(segmentBytes);
  if (container.length <= most) return container;
  const decoded = decodeIndexContainer(container, 0, null);
  if (!decoded) return null;
  const smaller = new Shrinking(decoded);
  const coarserTime: Step = (of) => of.replace((part) => coarser(part, groups));
  const fits = (most: number, ...steps: readonly Step[]) =>
    steps.some((step) => {
      step(smaller);
      return smaller.bytes.length <= most;
    });
  const { PCS, STRINGS, ROWS, STATS, OCCUPANCY, TIME } = IndexPart;
  if (fits(most, without(PCS), without(STRINGS))) return smaller.bytes;
  if (smaller.has(ROWS)) {
    const coarserRow: Step = (of) => of.replace((part) => coarserRows(part, cores));
    if (fits(most, ...new Array<Step>(MAX_GROUP_LEVEL).fill(coarserRow))) return smaller.bytes;
    // Where one segment lacks ROWS, no later row's retired number is known: that is worth more than buckets of 256 cycles here.
    const fine = smaller.parts;
    if (fits(most, coarserTime)) return smaller.bytes;
    smaller.restore(fine);
  }
  if (fits(most, without(ROWS), without(STATS), without(OCCUPANCY))) return smaller.bytes;
  if (smaller.bytes.length <= withTime || fits(withTime, coarserTime)) return smaller.bytes;
  return fits(most, without(TIME)) ? smaller.bytes : null;
}

class Shrinking {
  bytes: Uint8Array;
  parts: readonly IndexPartBytes[];
  private readonly dropped: DroppedPart[];

  constructor(private readonly container: IndexContainer) {
    const { parts } = container;
    this.dropped = parts
      .filter(({ kind }) => kind === IndexPart.DROPPED)
      .flatMap(({ bytes }) => decodeDropped(bytes));
    this.parts = parts.filter(({ kind }) => kind !== IndexPart.DROPPED);
    this.bytes = this.encoded();
  }

  restore(parts: readonly IndexPartBytes[]): void {
    this.parts = parts;
    this.bytes = this.encoded();
  }

  has(kind: number): boolean {
    return this.parts.some((part) => part.kind === kind);
  }

  drop(kind: number): void {
    const removed = this.parts.filter((part) => part.kind === kind);
    if (removed.length === 0) return;
    appendAll(
      this.dropped,
      removed.map(({ subject }) => ({ kind, subject })),
    );
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

/** ROWS with a quarter of the groups. */
function coarserRows(part: IndexPartBytes, cores: IndexPlan['cores']): IndexPartBytes {
  const stages = cores[part.subject]?.rows?.stages;
  if (part.kind !== IndexPart.ROWS || stages === undefined) return part;
  return ifWellFormed(part, () => coarserRowsPart(part.bytes, stages));
}

/** The part with other bytes; as it is where it is damaged, or there are none. */
function ifWellFormed(part: IndexPartBytes, change: () => Uint8Array | null): IndexPartBytes {
  try {
    const bytes = change();
    return bytes ? { ...part, bytes } : part;
  } catch (error) {
    if (isUscopeError(error)) return part;
    throw error;
  }
}

/** TIME with the buckets of the next level. */
function coarser(part: IndexPartBytes, groups: IndexPlan['groups']): IndexPartBytes {
  const group = groups[part.subject];
  if (part.kind !== IndexPart.TIME || !group) return part;
  return ifWellFormed(part, () => {
    const rows: LevelRow[] = [];
    const coarsener = new Coarsener(group, bucketCyclesOf(1), (row) => rows.push(row));
    const time = decodeTimePart(part.bytes, group);
    coarsener.add(time);
    coarsener.finish();
    return encodeLevelRows(group, 1, rows, time);
  });
}
