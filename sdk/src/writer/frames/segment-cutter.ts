/**
 * The open segment, and where it ends: CutPolicy, snapshots and the caller ask for cuts, which are made here by the rules of
 * docs/explanation/durability.md#where-a-segment-ends. Times in ps as two u32 halves, because they are compared once per frame.
 */
import { finish, StepSequence, type Steps } from '../../state/steps.js';
import type { StorageState } from '../../state/storage-state.js';
import type { CutPolicy } from './cut-policy.js';
import { SegmentBuffer } from './segment-buffer.js';
import { SnapshotCollector } from './snapshots.js';
import { type StreamPosition, timeOf } from './stream-position.js';
import { STEP_CELLS } from './turns.js';
import type { WriterMemory } from './writer-memory.js';

export class SegmentCutter {
  /** The segment that takes frames. */
  open: SegmentBuffer;
  /** Wait for the next frame, whose segment they begin. */
  readonly snapshots = new SnapshotCollector();
  /** Wall clock time of the last cut, in ms. */
  cutAt = performance.now();

  /** The caller that pushes waits while a large state is changed or saved; else that is done at once. */
  mayPause = false;
  /** While the state is being changed or saved. */
  working: Promise<void> | null = null;

  /** What changes the state before the next frame: snapshots, or the frames before one that was taken back. */
  private changes: Steps | null = null;
  /** The open segment begins with the changed state. */
  private isNewStart = false;
  private failure: unknown = null;

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
    this.workInTurns();
    this.policy.restart(startPs);
  }

  /** No frame can be taken yet: the state is being changed or saved. */
  get isBusy(): boolean {
    return this.changes !== null || this.open.isSaving;
  }

  /** As `isBusy`, after what can be done now. @throws what went wrong in the turns before */
  mustWait(): boolean {
    if (this.failure !== null) throw this.failure;
    if (!this.mayPause) this.workAll();
    return this.isBusy;
  }

  /** No frame will follow. */
  async stopWork(): Promise<void> {
    this.changes = null;
    this.open.stopSaving();
    await this.working;
  }

  /** Before the next frame the state is changed by these steps. */
  change(steps: Steps): void {
    this.changes = steps;
    if (this.mayPause) this.changeSome(steps);
    else this.workAll();
    this.workInTurns();
  }

  /** Changes and saves the state, as far as that was left to be done, in the turns that others leave. */
  private workInTurns(): void {
    if (this.isBusy) this.working ??= this.workOn();
  }

  private async workOn(): Promise<void> {
    try {
      while (this.isBusy) {
        await new Promise((resolve) => setImmediate(resolve));
        if (this.changes) this.changeSome(this.changes);
        else this.open.saveSome();
      }
    } catch (error) {
      this.failure = error; // the next push meets it
      this.changes = null;
    }
    this.working = null;
  }

  private changeSome(changes: Steps): void {
    changes.step(STEP_CELLS);
    if (changes.isDone) this.changed();
  }

  private changed(): void {
    this.changes = null;
    if (!this.isNewStart) return;
    this.isNewStart = false;
    this.open.replaceCheckpoint(this.state);
  }

  private workAll(): void {
    if (this.changes) {
      finish(this.changes);
      this.changed();
    }
    if (this.open.isSaving) this.open.saveAll();
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
    const loads = this.snapshots.loads(this.state);
    for (const storageId of loads.keys()) this.open.snapshots.add(storageId);
    this.open.stopSaving(); // of the state before them
    this.isNewStart = true;
    this.change(new StepSequence([...loads.values()].map((load) => () => load)));
  }

  /** Ends the open segment at `endPs` (exclusive) and starts the next one. Without the memory for that one, nothing has changed. */
  private cut(endPs: bigint, nextStartPs: bigint): void {
    if (this.changes) this.workAll(); // a cut by the clock, in the middle of it
    const next = this.freeBuffers.pop() ?? new SegmentBuffer(this.memory, this.open.bytes.length);
    try {
      next.start(nextStartPs, this.state);
    } catch (error) {
      this.freeBuffers.push(next);
      throw error;
    }
    this.onCut(this.open, endPs);
    this.open = next;
    this.workInTurns();
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
