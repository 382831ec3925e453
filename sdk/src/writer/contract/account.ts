/**
 * What became of the frames of a trace (one for each cycle, more for one that is split): the one place from which summaries, `--json` and
 * `recover` have their numbers.
 *
 *   completed = committed + expired + lost
 */
import { type CompletedFrames, SessionStatus } from '../../format/session-chunk.js';
import type { TraceStats } from './options.js';

export interface Account {
  /** Frames that the client completed; null: unknown, but not below `atLeast`. */
  readonly completed: bigint | null;
  readonly atLeast: bigint;
  /** Taken by the writer. */
  readonly accepted: bigint;
  /** In the file, durable; those salvaged are among them. */
  readonly committed: bigint;
  /** Taken from the memory of a client that has ended. */
  readonly salvaged: bigint;
  /** Let go by a flight recorder. */
  readonly expired: bigint;
  /** Completed and not in the file; null: nobody knows. */
  readonly lost: bigint | null;
  /** Of those lost: known to be in the client's memory, from which they can still be taken. */
  readonly recoverable: bigint;
}

export interface Counted {
  readonly stats: Pick<TraceStats, 'frames' | 'firstFrame' | 'accepted'>;
  readonly completed: CompletedFrames;
  readonly salvaged?: bigint;
  /** Frames below this ordinal are in the client's memory, or durable. */
  readonly kept?: bigint;
}

export function accountOf({ stats, completed, salvaged = 0n, kept = 0n }: Counted): Account {
  const { frames, firstFrame: expired = 0n, accepted } = stats;
  const atLeast = largest(completed.frames, accepted.frames, frames, kept);
  return {
    completed: completed.isExact ? atLeast : null,
    atLeast,
    accepted: accepted.frames,
    committed: frames - expired,
    salvaged,
    expired,
    lost: completed.isExact ? atLeast - frames : null,
    recoverable: kept > frames ? kept - frames : 0n,
  };
}

/** Of a finalized file alone: what it says, or, of an older writer's, that a client that closed its trace lost nothing. */
export function completedIn({ completed, status, lost, frames }: TraceStats): CompletedFrames {
  const isClosed = status === SessionStatus.CLOSED || status === SessionStatus.RING;
  return completed ?? { frames, isExact: isClosed && lost === 0n };
}

function largest(...values: readonly bigint[]): bigint {
  let most = 0n;
  for (const value of values) if (value > most) most = value;
  return most;
}
