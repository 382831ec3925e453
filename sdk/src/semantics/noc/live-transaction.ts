/** A transaction while it is followed. */
import { TransactionEnd } from './transaction.js';

export interface LiveStage {
  readonly timePs: bigint;
  /** As the trace has it. */
  readonly value: number;
}

/** A beat or an arbitration. */
export interface LiveNumber {
  readonly timePs: bigint;
  /** Null: the event has no other field. */
  readonly number: bigint | null;
}

export interface LiveRetry {
  readonly timePs: bigint;
  readonly reason: number | null;
}

export interface LiveHandoff {
  readonly timePs: bigint;
  readonly direction: 'to' | 'from';
  readonly partner: LiveTransaction | null;
  readonly id: number;
}

/** Bounds the memory of one transaction that never ends. */
export const MAX_ENTRIES = 4096;

export class LiveTransaction {
  /** Fields of the catalog set so far, by index. */
  readonly values: (bigint | undefined)[] = [];
  /** Null: before what is looked at. */
  birthPs: bigint | null = null;
  stages: LiveStage[] = [];
  beats: LiveNumber[] = [];
  retries: LiveRetry[] = [];
  timeouts: { readonly timePs: bigint }[] = [];
  arbitrations: LiveNumber[] = [];
  annotations: { timePs: bigint; string: number }[] = [];
  handoffs: LiveHandoff[] = [];
  end: TransactionEnd = TransactionEnd.IN_FLIGHT;
  endPs: bigint | null = null;
  isAbridged = false;
  /** False until its id has been set: other fields may come first. */
  isBorn = false;
  /** It will be handed out. */
  isFollowed = false;

  constructor(
    /** Index of its network. */
    readonly network: number,
    readonly slot: number,
    public id: number,
  ) {}

  /** Adds to one of its lists, as long as there is room. */
  add<T>(list: T[], entry: T): void {
    if (list.length < MAX_ENTRIES) list.push(entry);
    else this.isAbridged = true;
  }
}
