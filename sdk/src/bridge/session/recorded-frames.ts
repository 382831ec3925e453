/** How many frames a client has completed, as its memory shows (docs/reference/bridge-protocol.md#memory-of-a-local-client). */
import { RECORD_WORDS, RecordKind, recordLength } from '../../format/record.js';

/** Field of the control page: the client continues, and does not count. */
const UNKNOWN = 2n ** 64n - 1n;
const WORD = 2n ** 32n;
const KINDS: ReadonlySet<number> = new Set(Object.values(RecordKind));

/** What the control page and the table of chunks say. */
export interface MemoryNumbers {
  /** Frames below this are durable, as far as the client knows. */
  readonly durable: bigint;
  /** Frames completed after the trace had failed, which nobody has recorded. */
  readonly unrecorded: bigint;
  /** The frame that the newest chunk begins with, or comes before. */
  readonly newestBase: bigint;
}

export interface RecordedFrames {
  /** In the memory, or durable. */
  readonly recorded: bigint;
  /** These, and those that came after the trace had failed. */
  readonly completed: bigint;
  /** False: there may have been more. */
  readonly isExact: boolean;
}

/** Of a client that runs: it continues recording. */
export function recordedSoFar({ durable, unrecorded, newestBase }: MemoryNumbers): RecordedFrames {
  const recorded = durable > newestBase ? durable : newestBase;
  return { recorded, completed: unrecorded === UNKNOWN ? recorded : recorded + unrecorded, isExact: false };
}

/**
 * Of a client that has ended.
 * @param chunks its records in the order of the stream
 */
export function recordedAtEnd(numbers: MemoryNumbers, chunks: Iterable<Uint32Array>): RecordedFrames {
  const walked = new FrameWalk();
  for (const words of chunks) walked.chunk(words);
  const { durable, newestBase, unrecorded } = numbers;
  const bound = recordedSoFar({ durable, newestBase, unrecorded: 0n }).recorded;
  const recorded = walked.next !== null && walked.next > bound ? walked.next : bound;
  const isCounted = unrecorded !== UNKNOWN;
  return {
    recorded,
    completed: isCounted ? recorded + unrecorded : recorded,
    isExact: walked.isWhole && isCounted,
  };
}

/** Follows the ordinals of the frames that end. */
class FrameWalk {
  /** Ordinal after the last frame; null: none has ended. */
  next: bigint | null = null;
  isWhole = true;

  chunk(words: Uint32Array): void {
    for (let at = 0; this.isWhole && at < words.length; at += recordLength(words, at)) {
      const kind = words[at] & 0xff;
      if (!KINDS.has(kind) || at + RECORD_WORDS > words.length) this.isWhole = false;
      else if (kind === RecordKind.END) this.end(BigInt(words[at + 2]) + BigInt(words[at + 3]) * WORD);
    }
  }

  private end(ordinal: bigint): void {
    if (this.next !== null && ordinal !== this.next) this.isWhole = false;
    else this.next = ordinal + 1n;
  }
}
