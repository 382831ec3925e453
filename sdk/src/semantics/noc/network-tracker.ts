/** Who is in flight in one network: births, ends, and the transaction that an event is about. */
import type { FrameCursor } from '../../format/frame.js';
import { Action } from '../../format/types.js';
import type { CatalogState } from '../common/catalog-checkpoint.js';
import { LiveTransaction, MAX_ENTRIES } from './live-transaction.js';
import type { NocTransactions } from './networks.js';
import { TransactionEnd } from './transaction.js';

/** Receives births and ends, in order. */
export interface LifecycleObserver {
  onBirth(transaction: LiveTransaction): void;
  onEnd(transaction: LiveTransaction): void;
}

export class NetworkTracker {
  private readonly bySlot = new Map<number, LiveTransaction>();
  private readonly byId = new Map<number, LiveTransaction>();
  /** Ended in the present frame: v0.1 frames list ops before events. */
  private readonly closing = new Map<number, LiveTransaction>();
  /** Events of the present frame about ids that nobody has: some writers put them in front of the birth. */
  private early: { readonly id: number; apply(transaction: LiveTransaction): void }[] = [];

  constructor(
    private readonly network: number,
    private readonly catalog: NocTransactions,
    private readonly observer: LifecycleObserver,
  ) {}

  /** The transactions in flight at the start, whose history is not known. */
  begin(state: CatalogState): void {
    const { def, idField } = this.catalog;
    for (let slot = 0; slot < def.numSlots; slot++) {
      if (!state.isTaken(slot) || this.bySlot.has(slot)) continue;
      const id = idField >= 0 ? Number(state.value(slot, idField)) : slot;
      const transaction = new LiveTransaction(this.network, slot, id);
      for (const field of def.fields.keys()) {
        transaction.values[field] = state.value(slot, field);
      }
      this.bySlot.set(slot, transaction);
      this.enter(transaction);
    }
  }

  /**
   * A segment begins: those its checkpoint knows nothing of are lost (their scope was disabled), others may have come by a snapshot. In a trace
   * without snapshots this changes nothing.
   */
  continueFrom(state: CatalogState, timePs: bigint): void {
    const { idField } = this.catalog;
    for (const [slot, transaction] of this.bySlot) {
      if (state.isTaken(slot) && (idField < 0 || Number(state.value(slot, idField)) === transaction.id))
        continue;
      this.bySlot.delete(slot);
      if (!transaction.isBorn) continue;
      transaction.isAbridged = true;
      this.leave(transaction, TransactionEnd.LOST, timePs);
    }
    this.begin(state);
  }

  frame(): void {
    if (this.closing.size > 0) this.closing.clear();
    if (this.early.length > 0) this.early = [];
  }

  op(cursor: FrameCursor): void {
    if (cursor.action === Action.CLEAR) this.onClear(cursor);
    else if (cursor.action === Action.SET) this.onSet(cursor);
  }

  /** The one with that id: in flight, or ended in this very frame. */
  find(id: number): LiveTransaction | undefined {
    return this.byId.get(id) ?? this.closing.get(id);
  }

  /** Gives an event to its transaction, now or when it is born in this frame. */
  attach(id: number, apply: (transaction: LiveTransaction) => void): void {
    const transaction = this.find(id);
    if (transaction) apply(transaction);
    else if (this.early.length < MAX_ENTRIES) this.early.push({ id, apply });
  }

  private onSet(cursor: FrameCursor): void {
    const { slot, field, lo } = cursor;
    const { idField } = this.catalog;
    let transaction = this.bySlot.get(slot);
    if (transaction?.isBorn && field === idField && transaction.id !== lo) {
      this.leave(transaction, TransactionEnd.LOST, cursor.timePs);
      transaction = undefined;
    }
    if (!transaction) {
      transaction = new LiveTransaction(this.network, slot, slot);
      this.bySlot.set(slot, transaction);
    }
    transaction.values[field] = cursor.value;
    if (transaction.isBorn || (idField >= 0 && field !== idField)) return;
    transaction.id = idField >= 0 ? lo : slot;
    transaction.birthPs = cursor.timePs;
    this.enter(transaction);
  }

  private onClear(cursor: FrameCursor): void {
    const transaction = this.bySlot.get(cursor.slot);
    if (!transaction) return;
    this.bySlot.delete(cursor.slot);
    if (!transaction.isBorn) return;
    this.leave(transaction, TransactionEnd.COMPLETED, cursor.timePs);
    this.closing.set(transaction.id, transaction);
  }

  private enter(transaction: LiveTransaction): void {
    transaction.isBorn = true;
    this.byId.set(transaction.id, transaction);
    this.observer.onBirth(transaction);
    for (const { id, apply } of this.early) if (id === transaction.id) apply(transaction);
    this.early = this.early.filter(({ id }) => id !== transaction.id);
  }

  private leave(transaction: LiveTransaction, end: TransactionEnd, timePs: bigint): void {
    transaction.end = end;
    transaction.endPs = timePs;
    if (this.byId.get(transaction.id) === transaction) this.byId.delete(transaction.id);
    this.observer.onEnd(transaction);
  }
}
