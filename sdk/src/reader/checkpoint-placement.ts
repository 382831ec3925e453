/**
 * Whether checkpoints hold the state before their segment, as they should, or after it: one existing writer stores them so, and its deltas would
 * count twice. A segment that changes the state decides it: replayed from the state before it, it gives its own checkpoint or it does not.
 * Until one is found, both readings give the same states.
 */
import type { StateLayout } from '../state/layout.js';
import { StorageState } from '../state/storage-state.js';
import type { SegmentList } from './segment-list.js';
import type { LoadedSegment, SegmentLoader } from './segment-loader.js';
import type { Warnings } from './warnings.js';

/** What is looked through for a segment that changes the state; a trace that idles for longer is taken to be as it should be. */
const MAX_SEGMENTS = 4096;
const MAX_RAW_BYTES = 256 * 1024 * 1024;

export class CheckpointPlacement {
  /** null: not known yet. */
  private after: boolean | null;
  /** Segments that changed nothing, from the first on: the state before the next one is that of an empty trace. */
  private examined = 0;
  private examinedBytes = 0;
  private asking: Promise<boolean> = Promise.resolve(false);

  /** @param ours the file has our session chunk: nothing is looked at */
  constructor(
    private readonly layout: StateLayout,
    private readonly list: SegmentList,
    private readonly loader: SegmentLoader,
    private readonly warnings: Warnings,
    private readonly replay: (state: StorageState, segment: LoadedSegment) => void,
    ours: boolean,
  ) {
    this.after = ours ? false : null;
  }

  /** Answers as far as the known segments show; queries wait for each other. @throws UscopeError FORMAT_* for damage */
  isAfter(): Promise<boolean> {
    if (this.after !== null) return Promise.resolve(this.after);
    const next = this.asking.then(
      () => this.decide(),
      () => this.decide(),
    );
    this.asking = next;
    return next;
  }

  private async decide(): Promise<boolean> {
    while (this.after === null && this.examined < this.list.count) {
      if (this.examined >= MAX_SEGMENTS || this.examinedBytes >= MAX_RAW_BYTES) this.after = false;
      else this.examine(await this.loader.loadCached(this.examined));
    }
    return this.after ?? false;
  }

  private examine(segment: LoadedSegment): void {
    const empty = new StorageState(this.layout).encodeCheckpoint();
    const stored = new StorageState(this.layout);
    stored.loadCheckpoint(segment.checkpoint, segment.checkpointOffset);
    const kept = stored.encodeCheckpoint();
    const state = new StorageState(this.layout);
    this.replay(state, segment);
    const replayed = state.encodeCheckpoint();
    this.examined++;
    this.examinedBytes += segment.deltas.byteLength;
    if (isEqual(replayed, empty) && isEqual(kept, empty)) return;
    this.after = isEqual(kept, replayed) && !isEqual(kept, empty);
    if (!this.after) return;
    this.warnings.add(
      'checkpoints-after-segment',
      'the writer stored each checkpoint after its segment instead of before it; states are read accordingly',
    );
  }
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
