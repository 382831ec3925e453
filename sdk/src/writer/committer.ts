/**
 * Compresses cut segments and gives them to their store in groups. Reports their frames as durable when the store has made them durable.
 *
 * Group commit: while one group is being synced, the next segments are compressed and pile up; they become the next group. So the number
 * of syncs adapts to the disk, and no promise gets weaker.
 */
import { UscopeError } from '../base/errors.js';
import type { EncodedStrings } from '../format/encoded-strings.js';
import type { Compressor } from './compression/compressor.js';
import type { SegmentIndexer } from './contract/segment-indexer.js';
import { crcInTurns } from './file/crc-in-turns.js';
import type { FinishedSegment, SegmentStore } from './file/segment-store.js';
import type { SegmentBuffer } from './frames/segment-buffer.js';

/**
 * What may wait before the producer is held back, the newest segment not counted: bytes of cut segments, raw until they are compressed, and
 * of raw ones alone. Sooner or later the writer's memory has been used for both.
 */
const MAX_PENDING_BYTES = 8 * 1024 * 1024;
const MAX_RAW_BYTES = 3 * 1024 * 1024;
/** The same for the checkpoints of segments that wait: each holds the whole state, however few frames follow it. */
const MAX_CHECKPOINT_BYTES = 32 * 1024 * 1024;
const MAX_GROUP_BYTES = 16 * 1024 * 1024;
const DISK_FULL_RETRY_MS = 500;
/** Raw bytes up to which a segment is copied before it is compressed. */
const SMALL_BYTES = 32 * 1024;

/** A segment that is cut: nothing in it changes any more. */
export interface CutSegment {
  readonly buffer: SegmentBuffer;
  readonly timeEndPs: bigint;
  /** Ordinal of the next client frame, and index of the next string, after this segment. */
  readonly nextFrame: bigint;
  readonly nextString: bigint;
  /** Items of the trace, and the time of its last frame in ps, after this segment. */
  readonly items: number;
  readonly lastTimePs: bigint;
  /** Strings first seen since the previous segment. */
  readonly strings: EncodedStrings;
  /** What the store said at the cut. */
  readonly note: unknown;
}

export interface CommitterEvents {
  /** Everything up to the end of this segment is durable. */
  onDurable(last: CutSegment): void;
  /** The disk is full (an error) or has room again (null). */
  onStall(error: UscopeError | null): void;
  /** Nothing can be committed any more. */
  onFailure(error: Error): void;
  /** A segment's buffer may be used again: usually as soon as it is compressed. */
  onRecycle(buffer: SegmentBuffer): void;
  /** A segment is durable: nobody needs its checkpoint and strings any more. */
  onCommitted(checkpoint: Uint8Array, strings: EncodedStrings): void;
}

/** A segment while it waits, without what is in its buffer: that is another one's as soon as it is compressed. */
interface Queued {
  readonly cut: CutSegment;
  readonly timeStartPs: bigint;
  readonly rawSize: number;
  readonly numFrames: number;
  readonly numActiveFrames: number;
  readonly checkpoint: Uint8Array;
  readonly snapshots: readonly number[];
  readonly compressed: Promise<Uint8Array>;
  /** Its index container; null: none. */
  readonly index: Promise<Uint8Array | null> | null;
  settled: boolean;
  /** Bytes of it that wait. */
  pending: number;
  /** The buffer, while it is in use. */
  buffer: SegmentBuffer | null;
}

export class Committer {
  /** Bytes of segments that are cut and not yet durable: raw until they are compressed, then compressed. */
  pendingBytes = 0;
  /** Why nothing can be committed any more. */
  failure: Error | null = null;

  private rawBytes = 0;
  /** Of the segment that came last: large ones are compressed while the next one is made. */
  private newestBytes = 0;
  private checkpointBytes = 0;
  private newestCheckpointBytes = 0;
  private readonly queue: Queued[] = [];
  private running: Promise<void> | null = null;
  private readonly waiters: (() => void)[] = [];
  private stopped = false;
  /** Given to the store, which has not made them durable. */
  private added: CutSegment[] = [];
  /** Ends the wait for disk space. */
  private endWait: (() => void) | null = null;

  constructor(
    private readonly store: SegmentStore,
    private readonly compressor: Compressor,
    private readonly events: CommitterEvents,
    private readonly onFull: 'wait' | 'stop',
    private readonly indexer: SegmentIndexer | null = null,
  ) {}

  /** Takes over the segment; it is durable when `onDurable` says so. */
  enqueue(cut: CutSegment): void {
    const { buffer } = cut;
    // A segment after one that is not in the file would be a hole, which the client has let go of.
    if (this.failure) {
      this.events.onRecycle(buffer);
      return;
    }
    // A small segment gives its buffer back at once: thousands of them may wait, and each would keep a large one.
    const isSmall = buffer.length <= SMALL_BYTES;
    const raw = isSmall ? buffer.bytes.slice(0, buffer.length) : buffer.bytes.subarray(0, buffer.length);
    const compressed = this.compressor.compress(raw);
    const index = this.indexOf(buffer, raw, isSmall);
    const entry: Queued = {
      cut,
      timeStartPs: buffer.timeStartPs,
      rawSize: buffer.length,
      numFrames: buffer.numFrames,
      numActiveFrames: buffer.numActiveFrames,
      checkpoint: buffer.checkpoint,
      snapshots: [...buffer.snapshots],
      compressed,
      index,
      settled: false,
      pending: buffer.length,
      buffer: isSmall ? null : buffer,
    };
    this.pendingBytes += entry.pending;
    this.rawBytes += entry.pending;
    this.newestBytes = entry.pending;
    this.checkpointBytes += entry.checkpoint.length;
    this.newestCheckpointBytes = entry.checkpoint.length;
    this.queue.push(entry);
    // The buffer is in use until both are made.
    Promise.all([compressed, index]).then(
      ([blob]) => this.settle(entry, raw, blob),
      () => this.settle(entry, raw, null), // `run` meets the rejection in its turn
    );
    if (isSmall) this.events.onRecycle(buffer);
    this.running ??= this.run();
  }

  private indexOf(
    { checkpoint, timeStartPs }: SegmentBuffer,
    frames: Uint8Array,
    isTransient: boolean,
  ): Queued['index'] {
    return this.indexer?.add({ frames, checkpoint, timeStartPs, isTransient }) ?? null;
  }

  private settle(entry: Queued, raw: Uint8Array, blob: Uint8Array | null): void {
    entry.settled = true;
    this.rawBytes -= entry.rawSize;
    if (blob === null || blob === raw) return; // not compressed: its bytes go to the disk from where they are
    if (entry.buffer) this.events.onRecycle(entry.buffer);
    entry.buffer = null;
    this.pendingBytes += blob.length - entry.pending;
    entry.pending = blob.length;
    this.wake();
  }

  /** So much waits that the producer should. */
  get isBehind(): boolean {
    const { pendingBytes, rawBytes, newestBytes } = this;
    if (this.checkpointBytes - this.newestCheckpointBytes > MAX_CHECKPOINT_BYTES) return true;
    return pendingBytes - newestBytes > MAX_PENDING_BYTES || rawBytes - newestBytes > MAX_RAW_BYTES;
  }

  /** Resolves when it has caught up, or when the writer has failed. */
  async caughtUp(): Promise<void> {
    while (this.isBehind && this.failure === null) {
      await new Promise<void>((resolve) => this.waiters.push(resolve));
    }
  }

  /** Resolves when everything enqueued is durable. @throws the failure that prevented it. */
  async drain(): Promise<void> {
    while (this.running) await this.running;
    if (this.failure) throw this.failure;
  }

  /** After a failure: the last segment that readers find all the same, of those whose commit failed; null: none of them. */
  async lastFound(): Promise<CutSegment | null> {
    const found = this.added.length > 0 ? await this.store.found() : 0;
    return found > 0 ? this.added[found - 1] : null;
  }

  /** Stops waiting for disk space. */
  stop(): void {
    this.stopped = true;
    this.endWait?.();
  }

  /** The file is not to be kept: what waits is not written. What is being written is waited for by `drain`, which fails with `why`. */
  discard(why: Error): void {
    this.failure ??= why;
    this.queue.length = 0;
    this.stop();
    this.wake();
  }

  private async run(): Promise<void> {
    try {
      while (this.queue.length > 0) await this.commitGroup();
    } catch (error) {
      if (this.failure === null) {
        this.failure =
          error instanceof UscopeError
            ? error
            : new UscopeError('WRITER_IO', String(error), { file: this.store.path }, { cause: error });
        this.events.onFailure(this.failure);
      }
      this.queue.length = 0;
      this.wake();
    } finally {
      // Here and not when the promise settles: what is enqueued in between would wait for the segment after it.
      this.running = null;
    }
  }

  private async commitGroup(): Promise<void> {
    const group: Queued[] = [];
    const blobs: Uint8Array[] = [];
    let bytes = 0;
    while (this.queue.length > 0 && bytes < MAX_GROUP_BYTES) {
      if (group.length > 0 && !this.queue[0].settled) break;
      const entry = this.queue.shift()!;
      group.push(entry);
      const blob = await entry.compressed;
      blobs.push(blob);
      const made = await entry.index;
      const index = this.indexer?.toStore(made, entry.checkpoint.length + blob.length) ?? null;
      const checkpointCrc = await crcInTurns(entry.checkpoint);
      const deltasCrc = this.compressor.checksum?.(blob) ?? (await crcInTurns(blob));
      bytes += this.store.add(finished(entry, blob, { checkpointCrc, deltasCrc }, index));
      this.added.push(entry.cut);
    }
    if (this.failure) return;
    const last = group[group.length - 1];
    await this.retryWhileFull(() => this.store.commit());
    this.added = [];
    for (const blob of blobs) this.compressor.release(blob);
    for (const { buffer, checkpoint, cut, pending } of group) {
      this.pendingBytes -= pending;
      this.checkpointBytes -= checkpoint.length;
      this.events.onCommitted(checkpoint, cut.strings);
      if (buffer) this.events.onRecycle(buffer);
    }
    this.events.onDurable(last.cut);
    this.wake();
  }

  /** A full disk is not a reason to lose anything: the same bytes are written again until there is room (or the policy is to stop). */
  async retryWhileFull(write: () => Promise<void>): Promise<void> {
    let stalled = false;
    for (;;) {
      try {
        await write();
        if (stalled) this.events.onStall(null);
        return;
      } catch (error) {
        const full = error instanceof UscopeError && error.code === 'WRITER_DISK_FULL';
        if (!full || this.onFull === 'stop' || this.stopped) throw error;
        if (!stalled) this.events.onStall(error);
        stalled = true;
        await this.waitForRoom();
      }
    }
  }

  private async waitForRoom(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, DISK_FULL_RETRY_MS);
      this.endWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.endWait = null;
  }

  private wake(): void {
    for (const waiter of this.waiters.splice(0)) waiter();
  }
}

function finished(
  entry: Queued,
  deltas: Uint8Array,
  crcs: Pick<FinishedSegment, 'checkpointCrc' | 'deltasCrc'>,
  index: Uint8Array | null,
): FinishedSegment {
  const { cut, checkpoint } = entry;
  return {
    header: {
      flags: 0,
      timeStartPs: entry.timeStartPs,
      timeEndPs: cut.timeEndPs,
      checkpointSize: checkpoint.length,
      deltasCompressedSize: deltas.length,
      deltasRawSize: entry.rawSize,
      numFrames: entry.numFrames,
      numFramesActive: entry.numActiveFrames,
    },
    checkpoint,
    deltas,
    ...crcs,
    snapshots: entry.snapshots,
    nextFrame: cut.nextFrame,
    nextString: cut.nextString,
    strings: cut.strings,
    note: cut.note,
    index,
  };
}
