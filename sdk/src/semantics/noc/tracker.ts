/** Follows the transactions of all networks of a trace at once, in file order: handoffs lead from one to another. */
import type { FrameCursor } from '../../format/frame.js';
import { FieldType } from '../../format/types.js';
import type { StorageState } from '../../state/storage-state.js';
import { type CatalogState, catalogIn } from '../common/catalog-checkpoint.js';
import type { LifecycleTracker } from '../lifecycle/lifecycle-walk.js';
import { matchHandoff } from './handoff-match.js';
import type { LiveTransaction } from './live-transaction.js';
import { type LifecycleObserver, NetworkTracker } from './network-tracker.js';
import type { NocEventName, NocNetwork } from './networks.js';
import { type NocEvent, nocEvent, pairEvent, readField, readNumber } from './payload.js';

type Handler = (cursor: FrameCursor) => void;
type Apply = (transaction: LiveTransaction) => void;

export class NocTracker implements LifecycleTracker, LifecycleObserver {
  inFlight = 0;
  ended = 0;

  /** Born (or found at the start) and not yet handed out, in order of birth. */
  private queue: LiveTransaction[] = [];
  private readonly trackers: readonly (NetworkTracker | null)[];
  private readonly byStorage: (NetworkTracker | undefined)[] = [];
  private readonly handlers: (Handler[] | undefined)[] = [];
  private acceptsBirths = true;

  /** @param wanted per network: whether its transactions are to be handed out */
  constructor(
    private readonly networks: readonly NocNetwork[],
    private readonly wanted: readonly boolean[],
  ) {
    this.trackers = networks.map(({ transactions }, index) =>
      transactions ? new NetworkTracker(index, transactions, this) : null,
    );
    for (const [index, network] of networks.entries()) {
      const tracker = this.trackers[index];
      if (!tracker || !network.transactions) continue;
      this.byStorage[network.transactions.def.storageId] = tracker;
      this.handleEvents(network, tracker);
    }
    this.handleHandoffs();
  }

  begin(state: StorageState): void {
    this.trackers.forEach((tracker, index) => {
      const catalog = this.networks[index]!.transactions;
      if (tracker && catalog) tracker.begin(catalogIn(state, catalog.def.storageId));
    });
  }

  /** A segment begins, with what its checkpoint says of each network. */
  continueFrom(states: readonly (CatalogState | null)[], timePs: bigint): void {
    states.forEach((state, index) => {
      if (state) this.trackers[index]?.continueFrom(state, timePs);
    });
  }

  stopBirths(): void {
    this.acceptsBirths = false;
  }

  frame(): void {
    for (const tracker of this.trackers) tracker?.frame();
  }

  op(cursor: FrameCursor): void {
    this.byStorage[cursor.storageId]?.op(cursor);
  }

  event(cursor: FrameCursor): void {
    for (const handler of this.handlers[cursor.eventType] ?? []) handler(cursor);
  }

  onBirth(transaction: LiveTransaction): void {
    // Born after the range, or in another network, it is not handed out, but handoffs may lead to it.
    if (!this.acceptsBirths || !this.wanted[transaction.network]) return;
    transaction.isFollowed = true;
    this.queue.push(transaction);
    this.inFlight++;
  }

  onEnd(transaction: LiveTransaction): void {
    if (!transaction.isFollowed) return;
    this.inFlight--;
    this.ended++;
  }

  /** Takes those that may be handed out in order of birth; with `all`, everything that is left. */
  take(all: boolean, maxHeld: number): LiveTransaction[] {
    const hasEnded = ({ endPs }: LiveTransaction): boolean => endPs !== null;
    let count = all ? this.queue.length : this.queue.findIndex((transaction) => !hasEnded(transaction));
    if (count < 0) count = this.queue.length;
    const taken = this.queue.splice(0, count);
    if (this.queue.length <= maxHeld) return taken;
    // One that never ends must not make the rest wait without bound.
    const rest = this.queue;
    this.queue = rest.filter((transaction) => !hasEnded(transaction));
    return [...taken, ...rest.filter(hasEnded)];
  }

  private handle(type: number, handler: Handler): void {
    const handlers = this.handlers[type] ?? [];
    handlers.push(handler);
    this.handlers[type] = handlers;
  }

  /** An event about one transaction: what `read` makes of it is done to that one. */
  private handleAbout(
    tracker: NetworkTracker,
    event: NocEvent | null,
    read: (cursor: FrameCursor, event: NocEvent) => Apply | null,
  ): void {
    const id = event?.id;
    if (!event || !id) return;
    this.handle(event.type, (cursor) => {
      const apply = read(cursor, event);
      if (apply) tracker.attach(readNumber(cursor, id), apply);
    });
  }

  private handleEvents(network: NocNetwork, tracker: NetworkTracker): void {
    const about = (
      name: NocEventName,
      read: (cursor: FrameCursor, event: NocEvent) => Apply | null,
      field?: string,
    ): void => {
      const event = network.events.get(name);
      this.handleAbout(tracker, event ? nocEvent(event, field) : null, read);
    };
    about('stage_transition', stageEntry, 'stage');
    about('annotate', annotation, 'text');
    about('beat', (cursor, event) => {
      const entry = { timePs: cursor.timePs, number: payloadValue(cursor, event) };
      return (one) => one.add(one.beats, entry);
    });
    about('retry', (cursor, event) => {
      const entry = { timePs: cursor.timePs, reason: reasonOf(cursor, event) };
      return (one) => one.add(one.retries, entry);
    });
    about(
      'timeout',
      ({ timePs }) =>
        (one) =>
          one.add(one.timeouts, { timePs }),
    );
    about('arb_decision', (cursor, event) => {
      const entry = { timePs: cursor.timePs, number: payloadValue(cursor, event) };
      return (one) => one.add(one.arbitrations, entry);
    });
  }

  /** Several networks share a handoff event: its giver is one of them, its taker one of those or one that has another above it. */
  private handleHandoffs(): void {
    const events = new Map<number, NocEvent>();
    for (const { handoff } of this.networks) {
      if (handoff) events.set(handoff.def.eventTypeId, pairEvent(handoff));
    }
    for (const [type, { id, value }] of events) {
      if (!id || !value) continue;
      this.handle(type, (cursor) =>
        this.onHandoff(cursor, readNumber(cursor, id), readNumber(cursor, value)),
      );
    }
  }

  private onHandoff(cursor: FrameCursor, fromId: number, toId: number): void {
    const { timePs, eventType } = cursor;
    const sources = this.all(fromId, ({ handoff }) => handoff?.def.eventTypeId === eventType);
    const targets = this.all(toId, () => true);
    const { from, to } = matchHandoff(sources, targets, timePs, (one) => this.addrOf(one));
    if (from) from.add(from.handoffs, { timePs, direction: 'to', partner: to, id: toId });
    if (to) to.add(to.handoffs, { timePs, direction: 'from', partner: from, id: fromId });
  }

  private all(id: number, takesPart: (network: NocNetwork) => boolean): LiveTransaction[] {
    return this.trackers.flatMap((tracker, index) => {
      const found = takesPart(this.networks[index]!) ? tracker?.find(id) : undefined;
      return found ? [found] : [];
    });
  }

  private addrOf({ network, values }: LiveTransaction): bigint | undefined {
    const field = this.networks[network]?.transactions?.addrField ?? -1;
    return field >= 0 ? values[field] : undefined;
  }
}

function stageEntry(cursor: FrameCursor, { value }: NocEvent): Apply | null {
  if (!value) return null;
  const entry = { value: readNumber(cursor, value), timePs: cursor.timePs };
  return (one) => one.add(one.stages, entry);
}

function annotation(cursor: FrameCursor, { value }: NocEvent): Apply | null {
  if (value?.type !== FieldType.STRING_REF) return null;
  const entry = { timePs: cursor.timePs, string: readNumber(cursor, value) };
  return (one) => one.add(one.annotations, entry);
}

function payloadValue(cursor: FrameCursor, { value }: NocEvent): bigint | null {
  return value ? readField(cursor, value) : null;
}

function reasonOf(cursor: FrameCursor, { value }: NocEvent): number | null {
  return value ? readNumber(cursor, value) : null;
}
