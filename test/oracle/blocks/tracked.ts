/** What is kept of an instruction while it is followed. */
import { InstructionEnd } from '../../../sdk/src/semantics/cpu/lifecycle.js';

/**
 * Entry into a stage, as the event has it; its time in halves, as millions are entered before a range begins. Halves and machine words are kept as
 * signed integers: numbers above 2^31 would make V8 store all of them in another way, and compile again what had to do with the first ones.
 */
export interface LiveStage {
  value: number;
  timeLo: number;
  timeHi: number;
}

/** An instruction while it is followed. */
export class Tracked {
  pcLo = 0;
  pcHi = 0;
  hasPc = false;
  bits = 0;
  hasBits = false;
  isCompressed: boolean | null = null;
  thread: number | null = null;
  /** Null: before what is looked at. */
  birthPs: bigint | null = null;
  /** Births before it since tracking began; -1 when it was there already. */
  ordinal = -1;
  stages: LiveStage[] = [];
  /** Reasons and types are values of the events' fields; null where an event has no such field. */
  stalls: { timePs: bigint; reason: number }[] = [];
  annotations: { timePs: bigint; string: number; kind: number }[] = [];
  dependencies: { timePs: bigint; on: number; producer: Tracked | null; type: number | null }[] = [];
  flush: { timePs: bigint; reason: number | null } | null = null;
  trap: { timePs: bigint; cause: bigint | null; tval: bigint | null; target: bigint | null } | null = null;
  end: InstructionEnd = InstructionEnd.IN_FLIGHT;
  endPs: bigint | null = null;
  isAbridged = false;
  /** False until its id has been set: other fields may come first. */
  isBorn = false;
  /** It will be handed out. */
  isFollowed = false;

  constructor(
    readonly slot: number,
    public id: number,
  ) {}
}
