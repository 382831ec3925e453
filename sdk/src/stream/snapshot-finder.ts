/**
 * Where a client replaced the content of storages by snapshots (a scope switched off, a model's own checkpoint), no op says so: only the
 * checkpoint there differs from what the frames before it lead to. What copies frames has to hand such content on, or what was replaced would
 * are in the copy for good.
 */
import type { FrameCursor } from '../format/frame.js';
import type { LoadedSegment, Trace } from '../reader/index.js';
import { stateBefore } from '../reader/queries/state-before.js';
import type { StorageState } from '../state/storage-state.js';

const BLOCK_HEADER_BYTES = 8;

/** Content of one storage: a checkpoint block (docs/reference/format.md#checkpoints) without its properties. */
export interface FoundSnapshot {
  readonly storageId: number;
  readonly content: Uint8Array;
}

export class SnapshotFinder {
  private readonly replaced = new Set<number>();

  /**
   * @param state in front of the first frame; it is changed
   * @param from time of the first frame looked at, in ps: the checkpoint of a segment that begins before says nothing
   */
  constructor(
    private readonly state: StorageState,
    private readonly from: bigint,
  ) {}

  /** An op of the frames. */
  op({ action, storageId, slot, field, lo, hi }: FrameCursor): void {
    if (this.state.inRange(action, storageId, slot, field)) {
      this.state.apply(action, storageId, slot, field, lo, hi);
    }
  }

  /** A segment begins: the state of its checkpoint when that differs from what came before it, else null. */
  begin({ header, checkpoint, checkpointOffset }: LoadedSegment): StorageState | null {
    const { state } = this;
    if (header.timeStartPs < this.from) return null;
    const expected = state.encodeCheckpoint();
    if (isEqual(expected, checkpoint)) return this.replaced.size > 0 ? state.clone() : null;
    state.loadCheckpoint(checkpoint, checkpointOffset);
    const before = contentsOf(expected, state);
    for (const [id, content] of contentsOf(state.encodeCheckpoint(), state)) {
      if (!isEqual(content, before.get(id)!)) this.replaced.add(id);
    }
    return this.replaced.size > 0 ? state.clone() : null;
  }

  /** What is to be put in front of the next frame. @param state that which `begin` returned, string references translated */
  snapshots(state: StorageState): FoundSnapshot[] {
    const contents = contentsOf(state.encodeCheckpoint(), state);
    return [...this.replaced].map((storageId) => ({ storageId, content: contents.get(storageId)! }));
  }

  /** They have been put there. */
  taken(): void {
    this.replaced.clear();
  }
}

/** By storage id. */
function contentsOf(checkpoint: Uint8Array, { layout }: StorageState): Map<number, Uint8Array> {
  const view = new DataView(checkpoint.buffer, checkpoint.byteOffset, checkpoint.byteLength);
  const contents = new Map<number, Uint8Array>();
  let at = 0;
  for (let id = 0; id < layout.numStorages; id++) {
    const start = at + BLOCK_HEADER_BYTES;
    at = start + view.getUint32(at + 4, true);
    contents.set(id, checkpoint.subarray(start, at - layout.propertyBytes[id]));
  }
  return contents;
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/** For frames copied from `fromPs` on. null: checkpoints of other writers' files mean nothing beyond their frames. */
export async function snapshotFinder(trace: Trace, fromPs: bigint): Promise<SnapshotFinder | null> {
  return trace.session === null ? null : new SnapshotFinder(await stateBefore(trace, fromPs), fromPs);
}
