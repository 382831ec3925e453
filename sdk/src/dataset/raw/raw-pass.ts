/** One walk over the ops and events of a trace for all tables that need them. A damaged segment is a gap; the walk continues with the checkpoint of the next. */
import { isDamage } from '../../base/errors.js';
import type { FrameCursor } from '../../format/frame.js';
import type { LoadedSegment, Trace } from '../../reader/index.js';
import { StorageState } from '../../state/storage-state.js';
import type { Gap } from './gaps.js';

/** Cycles of a clock: `now` is that of the present frame. */
export class Cycles {
  now = 0;

  constructor(private readonly periodPs: bigint) {}

  enter(lo: number, hi: number): void {
    // Exact: below 2^53.
    if (hi < 0x20_0000) this.now = Math.floor((hi * 0x1_0000_0000 + lo) / Number(this.periodPs));
    else this.now = this.of((BigInt(hi) << 32n) | BigInt(lo));
  }

  of(timePs: bigint): number {
    return Number(timePs / this.periodPs);
  }
}

/** What makes a table of the walk. All calls are in the order of the trace. */
export interface RawSink {
  /**
   * Before the frames of a segment. `state` is the checkpoint's; it may differ from what the ops before have left.
   * @param isResumed the first segment, or the first after a gap
   */
  begin?(state: StorageState, isResumed: boolean): void;
  /**
   * An instant is over; `Cycles.now` is still its cycle, `state` what it has left.
   * @param isFrame it has a frame; else a segment began, whose checkpoint may have changed something
   */
  settle?(state: StorageState, isFrame: boolean): void;
  /** Called after the op has changed `state`. */
  op?(cursor: FrameCursor): void;
  event?(cursor: FrameCursor): void;
  /** Intact segments end here, and what follows is not known. */
  gap?(): void;
  /** Between segments: the place to wait. */
  rotate(): Promise<void>;
  /** At the end. */
  finish(): Promise<void>;
}

export interface RawPass {
  readonly clocks: readonly Cycles[];
  readonly sinks: readonly RawSink[];
  onGap(gap: Gap): void;
  onProgress?(fraction: number): void;
}

export async function rawPass(trace: Trace, { clocks, sinks, onGap, onProgress }: RawPass): Promise<void> {
  const state = new StorageState(trace.schema);
  const checkpointsAreAfter = await trace.checkpointsAreAfter();
  const walk = new Walk(state, clocks, sinks);
  let isResumed = true;
  for (let index = 0; index < trace.segmentCount; index++) {
    try {
      const before = isResumed ? (await trace.stateBefore(index)).raw : null;
      await trace.scanSegment(
        index,
        {},
        {
          segment: (segment) => walk.begin(segment, before, checkpointsAreAfter, isResumed),
          frame: (cursor) => walk.frame(cursor),
          op: (cursor) => walk.op(cursor),
          event: (cursor) => walk.event(cursor),
        },
      );
      isResumed = false;
    } catch (error) {
      if (!isDamage(error)) throw error;
      walk.gap();
      isResumed = true;
      onGap({ segment: index, error });
    }
    for (const sink of sinks) await sink.rotate();
    onProgress?.((index + 1) / trace.segmentCount);
  }
  walk.settle();
  for (const sink of sinks) await sink.finish();
}

class Walk {
  private lastLo = -1;
  private lastHi = -1;
  private isFrame = false;
  private readonly dense: readonly number[];
  private readonly opSinks: readonly RawSink[];
  private readonly eventSinks: readonly RawSink[];

  constructor(
    private readonly state: StorageState,
    private readonly clocks: readonly Cycles[],
    private readonly sinks: readonly RawSink[],
  ) {
    const { layout } = state;
    this.dense = [...layout.sparse.keys()].filter((id) => layout.sparse[id] === 0);
    this.opSinks = sinks.filter((sink) => sink.op);
    this.eventSinks = sinks.filter((sink) => sink.event);
  }

  begin(segment: LoadedSegment, before: StorageState | null, isAfter: boolean, isResumed: boolean): void {
    const { timeStartPs } = segment.header;
    const lo = Number(timeStartPs & 0xffff_ffffn);
    const hi = Number(timeStartPs >> 32n);
    // An instant may be divided between two segments.
    const isSame = lo === this.lastLo && hi === this.lastHi;
    if (!isSame) this.settle();
    if (before) copyState(before, this.state);
    else if (!isAfter) this.reload(segment);
    if (!isSame) this.enter(lo, hi);
    for (const sink of this.sinks) sink.begin?.(this.state, isResumed);
  }

  /** Takes the checkpoint over, but for which slots of dense storages are set: it does not say that. */
  private reload({ checkpoint, checkpointOffset }: LoadedSegment): void {
    const { state, dense } = this;
    const { maskBase, numSlots } = state.layout;
    const masks = dense.map((id) =>
      state.mask.slice(maskBase[id], maskBase[id] + ((numSlots[id] + 7) >>> 3)),
    );
    const occupied = dense.map((id) => state.occupied[id]);
    state.reset();
    state.loadCheckpoint(checkpoint, checkpointOffset);
    dense.forEach((id, index) => {
      state.mask.set(masks[index], maskBase[id]);
      state.occupied[id] = occupied[index];
    });
  }

  frame({ timeLo, timeHi }: FrameCursor): void {
    if (timeLo !== this.lastLo || timeHi !== this.lastHi) {
      this.settle();
      this.enter(timeLo, timeHi);
    }
    this.isFrame = true;
  }

  op(cursor: FrameCursor): void {
    const { state } = this;
    const { action, storageId, slot, field } = cursor;
    // Files of other writers may name slots that do not exist.
    if (!state.inRange(action, storageId, slot, field)) return;
    state.apply(action, storageId, slot, field, cursor.lo, cursor.hi);
    for (const sink of this.opSinks) sink.op?.(cursor);
  }

  event(cursor: FrameCursor): void {
    for (const sink of this.eventSinks) sink.event?.(cursor);
  }

  settle(): void {
    if (this.lastHi < 0) return;
    for (const sink of this.sinks) sink.settle?.(this.state, this.isFrame);
    this.isFrame = false;
  }

  gap(): void {
    this.settle();
    this.lastLo = -1;
    this.lastHi = -1;
    for (const sink of this.sinks) sink.gap?.();
  }

  private enter(lo: number, hi: number): void {
    this.lastLo = lo;
    this.lastHi = hi;
    for (const clock of this.clocks) clock.enter(lo, hi);
  }
}

function copyState(from: StorageState, to: StorageState): void {
  to.cells.set(from.cells);
  to.mask.set(from.mask);
  to.occupied.set(from.occupied);
}
