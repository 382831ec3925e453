/**
 * The delta blob of the open segment and what its header counts. Buffers are reused: a long trace allocates a handful. They lie in shared
 * memory, so that a thread can compress them where they are.
 */
import { CheckpointSteps, checkpointSize, encodeBlankCheckpoint } from '../../state/checkpoint-state.js';
import type { StorageState } from '../../state/storage-state.js';
import { STEP_CELLS } from './turns.js';
import type { WriterMemory } from './writer-memory.js';

const INITIAL_BYTES = 2 * 1024 * 1024;
/** Larger checkpoints are encoded in steps of some milliseconds: others of this thread are not to wait for all of it. */
export const LARGE_CHECKPOINT_BYTES = 4 * 1024 * 1024;

export class SegmentBuffer {
  bytes: Uint8Array;
  view: DataView;
  /** Bytes used. */
  length = 0;
  numFrames = 0;
  numActiveFrames = 0;
  /** Segment start in ps, whole and as u32 halves. */
  timeStartPs = 0n;
  startLo = 0;
  startHi = 0;
  /** The state before the segment's first frame. In the writer's memory, as the bytes are: it outlives this buffer's reuse. */
  checkpoint: Uint8Array = new Uint8Array(0);
  /** Storages whose slots in the checkpoint are the client's snapshots. */
  readonly snapshots = new Set<number>();
  /** What the checkpoint still lacks. */
  private steps: CheckpointSteps | null = null;

  /**
   * @param memory where the bytes are to lie, if compiled code is to work on them
   * @param size as large as segments have been so far: a block that is outgrown has been touched for nothing
   */
  constructor(
    private readonly memory: WriterMemory | null = null,
    size = INITIAL_BYTES,
  ) {
    this.bytes = this.allocate(size);
    this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length);
  }

  /** Makes the buffer an empty segment that starts at `timeStartPs` in `state`. */
  start(timeStartPs: bigint, state: StorageState): void {
    this.length = 0;
    this.numFrames = 0;
    this.numActiveFrames = 0;
    this.moveStart(timeStartPs);
    this.takeCheckpoint(state);
    this.snapshots.clear();
  }

  /** The checkpoint is not complete: the state must not change. */
  get isSaving(): boolean {
    return this.steps !== null;
  }

  /** Goes on with the checkpoint for some milliseconds. */
  saveSome(): void {
    this.save(STEP_CELLS);
  }

  /** Completes the checkpoint now. */
  saveAll(): void {
    this.save(Number.POSITIVE_INFINITY);
  }

  /** No frame will follow: the checkpoint is of no use. */
  stopSaving(): void {
    this.steps = null;
  }

  private save(cells: number): void {
    this.steps?.step(cells);
    if (this.steps?.isDone) this.steps = null;
  }

  /** The state before the first frame is another one than was thought at the start. */
  replaceCheckpoint(state: StorageState): void {
    this.memory?.giveBack(this.checkpoint);
    this.takeCheckpoint(state);
  }

  private takeCheckpoint(state: StorageState): void {
    const { memory } = this;
    this.steps = null;
    const size = checkpointSize(state);
    if (size <= LARGE_CHECKPOINT_BYTES || memory === null) {
      this.checkpoint = memory
        ? state.encodeCheckpoint((bytes) => memory.take(bytes))
        : state.encodeCheckpoint();
      return;
    }
    const zeros = state.isBlank ? memory.takeFresh(size) : null;
    this.checkpoint = (zeros ?? memory.take(size)).subarray(0, size);
    if (zeros) encodeBlankCheckpoint(state, this.checkpoint);
    else this.steps = new CheckpointSteps(state, this.checkpoint);
  }

  moveStart(timeStartPs: bigint): void {
    this.timeStartPs = timeStartPs;
    this.startLo = Number(timeStartPs & 0xffff_ffffn);
    this.startHi = Number(timeStartPs >> 32n);
  }

  /** Makes room for `size` more bytes; growth doubles, so it happens a few times in a trace's life. */
  reserve(size: number): void {
    const needed = this.length + size;
    if (needed <= this.bytes.length) return;
    const grown = this.allocate(Math.max(needed, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.length));
    this.memory?.giveBack(this.bytes);
    this.bytes = grown;
    this.view = new DataView(grown.buffer, grown.byteOffset, grown.length);
  }

  private allocate(size: number): Uint8Array {
    return this.memory ? this.memory.take(size) : new Uint8Array(new SharedArrayBuffer(size));
  }
}
