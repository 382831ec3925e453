/**
 * The open segment, and where it ends: CutPolicy, snapshots and the caller ask for cuts, which are made here by the rules of
 * docs/durability.md#where-a-segment-ends. Times in ps as two u32 halves, because they are compared once per frame.
 */
import type { StorageState } from '../../state/storage-state.js';
import type { CutPolicy } from './cut-policy.js';
import { SegmentBuffer } from './segment-buffer.js';
import { SnapshotCollector } from './snapshots.js';
import { type StreamPosition, timeOf } from './stream-position.js';
import type { WriterMemory } from './writer-memory.js';

export class SegmentCutter {
  /** The segment that takes frames. */
  open: SegmentBuffer;
  /** Wait for the next frame, whose segment they begin. */
  readonly snapshots = new SnapshotCollector();
  /** Wall clock time of the last cut, in ms. */
  cutAt = performance.now();

  private readonly freeBuffers: SegmentBuffer[] = [];
  /** The open segment was cut after the last frame; where the next one starts is known when its first frame comes. */
  private startOpen: boolean;
  private isOver = false;

  /**
   * @param memory where segments lie; null without WebAssembly
   * @param onCut takes over a segment that ends at `endPs` (exclusive), until `recycle` gives its buffer back
   * @throws UscopeError WRITER_OVERRUN, and what the memory's allowance throws
   */
  constructor(
    readonly policy: CutPolicy,
    private readonly state: StorageState,
    private readonly position: StreamPosition,
    private readonly memory: WriterMemory | null,
    private readonly onCut: (buffer: SegmentBuffer, endPs: bigint) => void,
  ) {
    this.open = new SegmentBuffer(memory);
    this.startOpen = position.hasLast;
  }

  /** Opens the first segment. @throws as the constructor */
  start(startPs: bigint): void {
    this.open.start(startPs, this.state);
    this.policy.restart(startPs);
  }

  /** The buffer of a segment that was cut may be used again. */
  recycle(buffer: SegmentBuffer): void {
    this.freeBuffers.push(buffer);
  }

  /** Whether a frame at this time would start a new segment on the checkpoint grid. */
  isDue(lo: number, hi: number): boolean {
    return this.position.isLater(lo, hi) && this.policy.gridReached(lo, hi);
  }

  /** Cuts before a frame at this time if the rules say so, and puts waiting snapshots into the new segment's checkpoint. */
  beforeFrame(lo: number, hi: number): void {
    if (this.startOpen) this.fixStart(lo, hi);
    const { policy, open } = this;
    const later = this.position.isLater(lo, hi);
    if (!this.snapshots.isEmpty) {
      this.cutAtSnapshot(lo, hi, later);
    } else if (later && (policy.gridReached(lo, hi) || open.length >= policy.softLimit)) {
      if (open.numFrames > 0) this.cut(timeOf(lo, hi), timeOf(lo, hi));
      else policy.restart(timeOf(lo, hi)); // nothing to commit: the segment continues, only the grid moves
    } else if (open.length >= policy.hardLimit && open.numFrames > 0) {
      this.cutBehindLast();
      this.fixStart(lo, hi);
    }
  }

  /** Ends the open segment right after its last frame, if it has any. */
  cutBehindLast(): void {
    if (this.open.numFrames === 0) return;
    const end = this.position.lastTimePs + 1n;
    this.cut(end, end);
    this.startOpen = true;
  }

  /** No segment follows: nothing is taken for one, so that a writer without memory can still save what it has. */
  cutForGood(): void {
    if (this.open.numFrames === 0 || this.isOver) return;
    this.isOver = true;
    this.onCut(this.open, this.position.lastTimePs + 1n);
  }

  private cutAtSnapshot(lo: number, hi: number, later: boolean): void {
    const now = timeOf(lo, hi);
    if (later && now > this.open.timeStartPs) {
      this.cut(now, now);
    } else if (this.open.numFrames > 0) {
      this.cutBehindLast();
      this.fixStart(lo, hi);
    }
    for (const storageId of this.snapshots.applyTo(this.state)) this.open.snapshots.add(storageId);
    this.open.replaceCheckpoint(this.state);
  }

  /** Ends the open segment at `endPs` (exclusive) and starts the next one. Without the memory for that one, nothing has changed. */
  private cut(endPs: bigint, nextStartPs: bigint): void {
    const next = this.freeBuffers.pop() ?? new SegmentBuffer(this.memory, this.open.bytes.length);
    try {
      next.start(nextStartPs, this.state);
    } catch (error) {
      this.freeBuffers.push(next);
      throw error;
    }
    this.onCut(this.open, endPs);
    this.open = next;
    this.policy.restart(nextStartPs);
    this.cutAt = performance.now();
  }

  /** After a cut after the last frame: the next segment starts there too if its first frame has the same time, else after it. */
  private fixStart(lo: number, hi: number): void {
    this.startOpen = false;
    const last = this.position.lastTimePs;
    this.open.moveStart(timeOf(lo, hi) > last ? last + 1n : last);
    this.policy.restart(this.open.timeStartPs);
  }
}
