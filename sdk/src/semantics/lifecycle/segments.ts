/** Segments one by one, and which slots of the catalog are taken where one begins: what looking back and counting are made of. */
import { CursorItem, type FrameCursor, type ItemLimits, type ItemVisitor } from '../../format/frame.js';
import { Action, type StorageDef } from '../../format/types.js';
import type { LoadedSegment, SegmentEntry, Trace } from '../../reader/index.js';
import { placeInSegment } from '../../reader/segment-loader.js';
import type { SegmentWindow } from '../../reader/segment-window.js';
import type { StorageState } from '../../state/storage-state.js';
import { CatalogCheckpoints, type CatalogState, catalogIn } from '../common/catalog-checkpoint.js';
import { ClearWitness } from './clear-witness.js';

const TWO_32 = 2 ** 32;

/** A storage whose slots are taken by what it lists: instructions, transactions. */
export interface Catalog {
  readonly def: StorageDef;
  /** Index of the field whose SET is a birth; -1: any SET on a free slot is. */
  readonly idField: number;
}

export class SegmentAccess {
  private constructor(
    private readonly trace: Trace,
    readonly count: number,
  ) {}

  static async of(trace: Trace): Promise<SegmentAccess> {
    // The number of segments of a finalized trace is confirmed when its table is first asked.
    if (trace.segmentCount > 0) await trace.segment(0);
    return new SegmentAccess(trace, trace.segmentCount);
  }

  entry(index: number): Promise<SegmentEntry> {
    return this.trace.segment(index);
  }

  /** When a segment starts, in ps. */
  async start(index: number): Promise<bigint> {
    return (await this.entry(index)).timeStartPs;
  }

  /** The first segment that may hold frames at or after a time: the last one that begins before it may still reach it. */
  firstReaching(timePs: bigint): Promise<number> {
    return this.trace.firstSegmentReaching(timePs);
  }

  /** The segments from `first` on that begin before `to`, each read while its predecessor is looked at, and valid until the next. */
  from(first: number, to: bigint | undefined): AsyncGenerator<LoadedSegment> {
    return this.trace.segmentsInPlace(first, to);
  }

  /** For segments one by one, and nothing loaded ahead; to be closed. */
  window(space?: number, keeps?: boolean): Promise<SegmentWindow> {
    return this.trace.segmentWindow(space, keeps);
  }

  witnessOf({ def }: Catalog): ClearWitness {
    return new ClearWitness(this.trace.schema, def);
  }

  /** What checkpoints say of a catalog; null where they say nothing beyond the frames. */
  checkpointsOf({ def }: Catalog): CatalogCheckpoints | null {
    return CatalogCheckpoints.of(this.trace, def);
  }

  /** What `FrameCursor.run` takes for ordinary. */
  get limits(): ItemLimits {
    return this.trace.itemLimits;
  }

  /** The state in front of a segment's first frame. */
  async stateBefore(index: number): Promise<StorageState> {
    return (await this.trace.stateBefore(index)).raw;
  }

  /**
   * Who is listed in front of a segment's first frame.
   * @param checkpoints of `checkpointsOf`: where there are any, the segment itself shows it
   */
  async catalogBefore(
    segment: LoadedSegment,
    { def }: Catalog,
    checkpoints: CatalogCheckpoints | null,
  ): Promise<CatalogState> {
    return checkpoints?.at(segment) ?? catalogIn(await this.stateBefore(segment.index), def.storageId);
  }
}

/**
 * The segments of a range, then one by one those in which what is in flight at its end may end. Each is valid until the next.
 * @param to the range's end in ps; undefined: that of the trace
 * @param lookahead segments behind the range
 * @param hasMore something is in flight behind the range
 */
export async function* segmentsToWalk(
  access: SegmentAccess,
  first: number,
  to: bigint | undefined,
  lookahead: number,
  hasMore: () => boolean,
): AsyncGenerator<LoadedSegment> {
  let next = first;
  // A range in front of the first segment is empty, but that segment is where to find that out.
  const start = await access.start(first);
  const end = to !== undefined && to <= start ? start + 1n : to;
  for await (const segment of access.from(first, end)) {
    next = segment.index + 1;
    yield segment;
  }
  const last = Math.min(access.count, next + lookahead);
  const window = await access.window();
  try {
    for (; next < last && hasMore(); next++) yield await window.load(next);
  } finally {
    window.close();
  }
}

/** Which slots of a catalog are taken, through a walk over ops; calls back at births. */
export class SlotWalk {
  private readonly taken = new Set<number>();
  private readonly visitor: ItemVisitor;

  /** @param onBirth ends the walk by answering false */
  constructor(
    private readonly entities: Catalog,
    private readonly limits: ItemLimits,
    state: CatalogState,
    private readonly onBirth: (cursor: FrameCursor) => boolean,
  ) {
    for (const slot of takenSlots(state, entities)) this.taken.add(slot);
    this.visitor = { op: (cursor) => this.op(cursor) };
  }

  /** A later segment begins: its checkpoint knows best. */
  continueFrom(state: CatalogState): void {
    const { numSlots } = this.entities.def;
    for (const slot of this.taken) if (slot < numSlots && !state.isTaken(slot)) this.taken.delete(slot);
    for (const slot of takenSlots(state, this.entities)) this.taken.add(slot);
  }

  /** Applies the ops of a segment. @throws UscopeError FORMAT_* with the place in the file */
  walk(segment: LoadedSegment): void {
    const cursor = segment.cursor();
    try {
      while (cursor.next()) {
        if (cursor.kind === CursorItem.OP && !this.op(cursor)) return;
        if (!cursor.run(this.limits, this.visitor, TWO_32)) return;
      }
    } catch (error) {
      throw placeInSegment(error, segment);
    }
  }

  private op(cursor: FrameCursor): boolean {
    const { taken, entities } = this;
    const { def, idField } = entities;
    if (cursor.storageId !== def.storageId) return true;
    const { action, slot } = cursor;
    if (action === Action.CLEAR) taken.delete(slot);
    else if (action === Action.SET && (cursor.field === idField || idField < 0) && !taken.has(slot)) {
      taken.add(slot);
      return this.onBirth(cursor);
    }
    return true;
  }
}

/** The slots of a catalog that are taken in a state. */
export function takenSlots(state: CatalogState, { def }: Catalog): number[] {
  const slots: number[] = [];
  for (let slot = 0; slot < def.numSlots; slot++) if (state.isTaken(slot)) slots.push(slot);
  return slots;
}
