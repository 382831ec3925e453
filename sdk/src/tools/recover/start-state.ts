/**
 * The state that each segment of the output begins with. Most writers store it as the segment's checkpoint. One existing writer stores the state
 * after the segment: there it is that after the segment before.
 */
import { StorageState } from '../../state/storage-state.js';
import { checkpointOf, copyState, sameState } from '../verify/checkpoints.js';
import type { Replayer } from '../verify/replay.js';
import type { FoundSegment } from '../verify/segment-walk.js';
import type { Salvager } from './salvage.js';

export class StartStates {
  /** Each checkpoint holds the state after its segment; null: not known yet. */
  private storedAfter: boolean | null;

  /** @param ours the file is of this project's writer */
  constructor(
    private readonly salvager: Salvager,
    private readonly replayer: Replayer,
    ours: boolean,
  ) {
    this.storedAfter = ours ? false : null;
  }

  /**
   * The checkpoint the segment shall have; the salvager's state then is that state. null: it is not known.
   * @param isFirst nothing was found before it @param inStep the replayer's state is that after the segment before
   */
  async checkpoint(segment: FoundSegment, isFirst: boolean, inStep: boolean): Promise<Uint8Array | null> {
    this.storedAfter ??= isFirst && inStep && (await this.isStoredAfter(segment));
    if (!this.storedAfter) return checkpointOf(segment);
    if (!inStep) return null;
    copyState(this.replayer.state, this.salvager.state);
    return this.replayer.state.encodeCheckpoint();
  }

  /** The segment's frames are replayed: where it holds the state after them, that is the state. */
  adopt(segment: FoundSegment): void {
    if (!this.storedAfter) return;
    const stored = new StorageState(this.replayer.state.layout);
    stored.loadCheckpoint(checkpointOf(segment));
    copyState(stored, this.replayer.state);
  }

  private async isStoredAfter(segment: FoundSegment): Promise<boolean> {
    const stored = this.salvager.state.clone();
    const { state } = this.salvager;
    state.reset();
    if (sameState(stored, state)) return false;
    const salvaged = await this.salvager.take(segment);
    // Of a first segment that was cut off it cannot be known; but a trace begins with nothing in it.
    const isCut = salvaged !== null && salvaged.lostFrames > 0;
    const isAfter = isCut ? segment.header.timeStartPs === 0n : salvaged !== null && sameState(stored, state);
    copyState(stored, state);
    return isAfter;
  }
}
