/** The account of a session while it lasts: the frames that its client has completed, from its close, memory and messages. */
import type { CompletedFrames } from '../../format/session-chunk.js';
import { type Account, accountOf, type TraceStats } from '../../writer/index.js';
import type { ClientMemory } from './client-memory.js';

export class SessionAccount {
  /** Of the memory that holds what is not durable; null: there is none. */
  memoryPath: string | null = null;
  private atLeast = 0n;
  private isExact = false;
  /** What was durable before the memory of a dead client was read. */
  private durableBefore: bigint | null = null;
  /** Frames below this ordinal are in the memory, which is kept, or durable. */
  private kept = 0n;

  /** A lower bound. */
  seen(frames: bigint): void {
    if (frames > this.atLeast) this.atLeast = frames;
  }

  /** The exact number: its client has reported it, or has ended. */
  told(frames: bigint): void {
    this.seen(frames);
    this.isExact = true;
  }

  /** The memory of a client that has ended is about to be read. */
  salvages(nextFrame: bigint): void {
    this.durableBefore = nextFrame;
  }

  /** @param isKept nobody removes it before it has been read */
  inspect(memory: ClientMemory | null, isKept: boolean): void {
    if (memory === null) return;
    const { recorded, completed, isExact } = memory.recorded();
    if (isExact) this.told(completed);
    else this.seen(completed);
    this.kept = isKept ? recorded : 0n;
    this.memoryPath = isKept ? memory.path : null;
  }

  /**
   * For the file: those counted, or one for each frame that will not be in it.
   * @param nextFrame the frame after those that will be @param counted items that were received and not recorded
   */
  lostItems(nextFrame: bigint, counted: bigint): bigint {
    const frames = this.isExact ? this.atLeast - nextFrame : 0n;
    return frames > counted ? frames : counted;
  }

  get completed(): CompletedFrames {
    return { frames: this.atLeast, isExact: this.isExact };
  }

  of(stats: TraceStats): Account {
    const { completed, kept, durableBefore } = this;
    const salvaged =
      durableBefore === null || stats.frames < durableBefore ? 0n : stats.frames - durableBefore;
    return accountOf({ stats, completed, kept, salvaged });
  }
}
