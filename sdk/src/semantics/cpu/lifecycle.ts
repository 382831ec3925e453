/** What is known of one instruction. Times are picoseconds; `cycleOf` gives the cycle. */

/** How an instruction left, or that it has not. */
export const InstructionEnd = {
  /** Its slot was cleared without a flush. */
  RETIRED: 'retired',
  /** A flush, then the CLEAR. */
  SQUASHED: 'squashed',
  /** Not ended by the end of the trace. */
  IN_FLIGHT: 'in_flight',
  /** Not ended as far as was looked: see `InstructionOptions.lookahead`. A segment that follows may say how it ended. */
  UNKNOWN: 'unknown',
  /** Its slot was given to another one without having been cleared, or the trace was paused (`isAbridged`): it does not say how this one ended. */
  LOST: 'lost',
} as const;
export type InstructionEnd = (typeof InstructionEnd)[keyof typeof InstructionEnd];

/** Entry into a stage. It is left at the next entry, at the flush, or at the end, whichever comes first. */
export interface StageEntry {
  /** Index into the core's `stages`; `NO_STAGE`: it is in none from here on; -1 when the trace's value is none of them. */
  readonly stage: number;
  /** Name of the stage; the number the trace holds where it has no name. */
  readonly name: string;
  readonly timePs: bigint;
}

export interface Annotation {
  readonly timePs: bigint;
  /** `#N` where the trace has no string N. */
  readonly text: string;
  /** Field `kind` of the event: 0 for what the instruction is, others for remarks; null: the event has none. */
  readonly kind: number | null;
}

/** "This instruction waited for that one." */
export interface Dependency {
  readonly timePs: bigint;
  /** Entity id of the producer. */
  readonly on: number;
  /** The producer's number, as `Instruction.seq`; null when it is not known. */
  readonly seq: bigint | null;
  readonly pc: bigint | null;
  /** `raw`, `war`, …; the number where it has no label; null where the trace does not say. */
  readonly type: string | null;
}

/** A stall that names the instruction it is about. Most designs' stalls are the core's: see `stalls`. */
export interface InstructionStall {
  readonly timePs: bigint;
  readonly reason: string;
}

export interface Trap {
  readonly timePs: bigint;
  readonly cause: bigint | null;
  readonly tval: bigint | null;
  readonly target: bigint | null;
}

export interface Instruction {
  /** Entity id, reused after the end. */
  readonly id: number;
  /** How many instructions of this core were born before it in the whole trace; null when that is not known. */
  readonly seq: bigint | null;
  readonly pc: bigint | null;
  /** Machine code, u32; null where the trace has none. */
  readonly bits: number | null;
  readonly isCompressed: boolean | null;
  readonly thread: number | null;
  /** Null: born before what was looked at (`InstructionOptions.lookback`); `stages` and the rest then lack their beginning. */
  readonly birthPs: bigint | null;
  readonly stages: readonly StageEntry[];
  readonly stalls: readonly InstructionStall[];
  readonly annotations: readonly Annotation[];
  readonly dependencies: readonly Dependency[];
  readonly flush: { readonly timePs: bigint; readonly reason: string | null } | null;
  readonly trap: Trap | null;
  readonly end: InstructionEnd;
  /** Time of the end; null while in flight, and where it is unknown. */
  readonly endPs: bigint | null;
  /** More happened to it than is listed: only the first `MAX_ENTRIES` of each kind are kept. */
  readonly isAbridged: boolean;
}

/** Bounds the memory of one instruction that never ends. */
export const MAX_ENTRIES = 4096;
