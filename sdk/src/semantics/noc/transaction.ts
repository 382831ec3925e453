/** What is known of one transaction in one network or router. Times are picoseconds. */

/** How a transaction left, or that it has not. */
export const TransactionEnd = {
  /** Its slot was cleared. */
  COMPLETED: 'completed',
  /** Not ended by the end of the trace. */
  IN_FLIGHT: 'in_flight',
  /** Not ended as far as was looked: see `TransactionOptions.lookahead`. A segment that follows may say how it ended. */
  UNKNOWN: 'unknown',
  /** Its slot was given to another one without having been cleared: the trace does not say how it ended. */
  LOST: 'lost',
} as const;
export type TransactionEnd = (typeof TransactionEnd)[keyof typeof TransactionEnd];

/** Entry into a stage. It is left at the next entry or at the end. */
export interface TransactionStage {
  /** Index into the network's `stages`; -1 when the trace's value is none of them. */
  readonly stage: number;
  /** Name of the stage; the number the trace holds where it has no name. */
  readonly name: string;
  readonly timePs: bigint;
}

/** One beat of the transaction's data. */
export interface Beat {
  readonly timePs: bigint;
  /** What the event says besides the transaction: the number of the beat; null where it says nothing. */
  readonly beat: bigint | null;
}

export interface Retry {
  readonly timePs: bigint;
  /** Label of the reason, the number where it has none; null where the event has no reason. */
  readonly reason: string | null;
}

/** The transaction won an arbitration. */
export interface Arbitration {
  readonly timePs: bigint;
  readonly port: bigint | null;
}

export interface TransactionNote {
  readonly timePs: bigint;
  /** `#N` where the trace has no string N. */
  readonly text: string;
}

/**
 * The transaction continues as another one of another scope (`to`), or came from there (`from`). Network, id and birth together say which one
 * it is.
 */
export interface Handoff {
  readonly timePs: bigint;
  readonly direction: 'to' | 'from';
  /** Name of the other network; null where the trace leaves open which: the event holds ids alone, which several networks use. */
  readonly network: string | null;
  /** The other one's id. */
  readonly id: number;
  /** The other one's birth; null where that is not known. */
  readonly birthPs: bigint | null;
}

export interface Transaction {
  /** Name of the network. */
  readonly network: string;
  /** The slot in the catalog, used again after the end. */
  readonly id: number;
  /** Label of the opcode, the number where it has none; null where the trace does not say. The same for the fields that follow. */
  readonly opcode: string | null;
  readonly addr: bigint | null;
  readonly len: number | null;
  readonly size: number | null;
  readonly srcPort: number | null;
  readonly dstPort: number | null;
  /** Null: born before what was looked at (`TransactionOptions.lookback`); `stages` and the rest then lack their beginning. */
  readonly birthPs: bigint | null;
  readonly stages: readonly TransactionStage[];
  readonly beats: readonly Beat[];
  readonly retries: readonly Retry[];
  /** Times of the timeouts; the transaction continues after one. */
  readonly timeouts: readonly bigint[];
  readonly arbitrations: readonly Arbitration[];
  readonly annotations: readonly TransactionNote[];
  readonly handoffs: readonly Handoff[];
  readonly end: TransactionEnd;
  /** Time of the end; null while in flight, and where it is unknown. */
  readonly endPs: bigint | null;
  /** More happened to it than is listed: only the first `MAX_ENTRIES` of each kind are kept. */
  readonly isAbridged: boolean;
}
