/** A transaction while it is followed. */
import {
  type Arbitration,
  type Beat,
  type Retry,
  TransactionEnd,
  type TransactionStage,
} from './transaction.js';

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
  stages: TransactionStage[] = [];
  beats: Beat[] = [];
  retries: Retry[] = [];
  timeouts: bigint[] = [];
  arbitrations: Arbitration[] = [];
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
