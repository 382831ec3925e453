/** What `recover` reports. */
import type { Account } from '../../writer/contract/account.js';
import type { Finding } from '../verify/index.js';

/** A stretch of time in ps of which frames were lost: after `fromPs`, before `toPs`; null: from the beginning, or to an end nobody knows. */
export interface LostTime {
  readonly fromPs: bigint | null;
  readonly toPs: bigint | null;
}

export interface Losses {
  /** Segments that were in the file and are not in the output, whole or in part. */
  readonly segments: number;
  /** Frames known to be missing; `isExact` false: there may be more. */
  readonly frames: number;
  readonly isExact: boolean;
  /** Strings whose text is lost; "<lost>" is in their places. */
  readonly strings: number;
  /** The first 1000. */
  readonly times: readonly LostTime[];
}

export interface RecoverReport {
  readonly output: string;
  /** As counted by the verification of the output. */
  readonly saved: {
    readonly segments: number;
    readonly frames: number;
    readonly items: number;
    readonly strings: number;
    readonly firstTimePs: bigint | null;
    readonly lastTimePs: bigint | null;
  };
  /** Frames of these that came from the memory of the dead client. */
  readonly framesFromMemory: number;
  /** Why the client's memory was not used; null: it was, or there is none. */
  readonly memoryProblem: string | null;
  readonly lost: Losses;
  /** What became of the frames that the client completed; null: of another writer's file nobody knows. */
  readonly account: Account | null;
  /** What the output holds and may be wrong; null: nothing. */
  readonly untrusted: string | null;
  /** Nothing that was in the file was lost, and nothing is untrusted. */
  readonly complete: boolean;
  /** What was wrong with the input. */
  readonly findings: readonly Finding[];
}

export const PREAMBLE_UNTRUSTED =
  'the preamble: its checksum does not hold; names, types, clocks, DUT properties and session may not be those recorded with';

const MAX_TIMES = 1000;

/** Gathers losses while segments pass. */
export class LossCount {
  segments = 0;
  frames = 0;
  isExact = true;
  strings = 0;
  readonly times: LostTime[] = [];
  private open: { fromPs: bigint | null } | null = null;

  /** Segments are missing after the frame at `afterPs`; null frames: nobody knows how many. */
  lose(segments: number, frames: number | null, afterPs: bigint | null): void {
    this.segments += segments;
    if (frames === null) this.isExact = false;
    else this.frames += frames;
    this.open ??= { fromPs: afterPs };
  }

  /** The next frame that there is. */
  resumeAt(timePs: bigint | null): void {
    if (this.open && this.times.length < MAX_TIMES)
      this.times.push({ fromPs: this.open.fromPs, toPs: timePs });
    this.open = null;
  }

  /** The number of missing frames, whatever was found. */
  set(frames: number): void {
    this.frames = frames;
    this.isExact = true;
  }

  /** What is lost at the end has been found elsewhere. */
  takeBack(segments: number, frames: number | null): void {
    this.segments -= segments;
    if (frames !== null) this.frames -= frames;
  }

  get isNothing(): boolean {
    return this.segments === 0 && this.frames === 0 && this.isExact && this.strings === 0;
  }

  result(): Losses {
    const { segments, frames, isExact, strings, times } = this;
    return { segments, frames, isExact, strings, times };
  }
}
