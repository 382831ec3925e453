/**
 * The delta blob of the open segment and what its header counts. Buffers are reused: a long trace allocates a handful. They lie in shared
 * memory, so that a thread can compress them where they are.
 */
import type { StorageState } from '../state/storage-state.js';

const INITIAL_BYTES = 2 * 1024 * 1024;

export class SegmentBuffer {
  bytes = new Uint8Array(new SharedArrayBuffer(INITIAL_BYTES));
  view = new DataView(this.bytes.buffer);
  /** Bytes used. */
  length = 0;
  numFrames = 0;
  numActiveFrames = 0;
  /** Segment start in ps, whole and as u32 halves. */
  timeStartPs = 0n;
  startLo = 0;
  startHi = 0;
  /** The state before the segment's first frame. */
  checkpoint: Uint8Array = new Uint8Array(0);
  /** Storages whose slots in the checkpoint are the client's snapshots. */
  readonly snapshots = new Set<number>();

  /** Makes the buffer an empty segment that starts at `timeStartPs` in `state`. */
  start(timeStartPs: bigint, state: StorageState): void {
    this.length = 0;
    this.numFrames = 0;
    this.numActiveFrames = 0;
    this.moveStart(timeStartPs);
    this.checkpoint = state.encodeCheckpoint();
    this.snapshots.clear();
  }

  moveStart(timeStartPs: bigint): void {
    this.timeStartPs = timeStartPs;
    this.startLo = Number(timeStartPs & 0xffff_ffffn);
    this.startHi = Number(timeStartPs >> 32n);
  }

  /** Appends the first `size` of these bytes. */
  append(bytes: Uint8Array, size: number): void {
    this.reserve(size);
    this.bytes.set(bytes.subarray(0, size), this.length);
    this.length += size;
  }

  /** Makes room for `size` more bytes; growth doubles, so it happens a few times in a trace's life. */
  reserve(size: number): void {
    const needed = this.length + size;
    if (needed <= this.bytes.length) return;
    const grown = new Uint8Array(new SharedArrayBuffer(Math.max(needed, this.bytes.length * 2)));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
    this.view = new DataView(grown.buffer);
  }
}
