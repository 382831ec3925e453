/** What happened to slots, fields and properties over a range: every change with the value before and after it. */
import { UscopeError } from '../../base/errors.js';
import type { FrameCursor } from '../../format/frame.js';
import { Action, type StorageDef } from '../../format/types.js';
import type { StorageState } from '../../state/storage-state.js';
import { rangeBounds } from '../arguments.js';
import { interpret } from '../payload.js';
import type { Trace } from '../trace.js';
import type { TimeRange } from '../walker.js';
import { scanBatches } from './batches.js';
import { stateBefore } from './state-before.js';

/** What to follow in one storage; several may name the same storage. */
export interface Watch {
  /** Path, own name or id. */
  readonly storage: string | number;
  /** Slots `first` to `last`, both inclusive; by default all of them. */
  readonly slots?: readonly [first: number, last: number] | undefined;
  /** Fields by name or index; by default all. */
  readonly fields?: readonly (string | number)[] | undefined;
  /** Properties by name or index; by default all where neither slots nor fields are chosen, else none. */
  readonly properties?: readonly (string | number)[] | undefined;
}

export interface HistoryOptions extends TimeRange {
  /** Also writes that leave the value as it was. */
  readonly writes?: boolean | undefined;
  /** Called with how much of the range has been read, 0 to 1. */
  readonly progress?: ((fraction: number) => void) | undefined;
}

interface ChangeBase {
  /** Time of the frame in ps. */
  readonly timePs: bigint;
  readonly def: StorageDef;
  /** Scope path and name of the storage. */
  readonly storage: string;
}

/** A field got a value, by SET or ADD. Values of signed types are signed. */
export interface FieldChange extends ChangeBase {
  readonly kind: 'set' | 'add';
  readonly slot: number;
  /** Index in `def.fields`. */
  readonly field: number;
  readonly before: bigint;
  readonly after: bigint;
  /** The slot was free, and is taken by this. Never so in storages whose slots are always valid. */
  readonly taken: boolean;
}

/** A slot was cleared: all its fields are zero. */
export interface SlotCleared extends ChangeBase {
  readonly kind: 'clear';
  readonly slot: number;
  /** The values it had, of the fields followed, by index in `def.fields`. */
  readonly before: ReadonlyMap<number, bigint>;
}

export interface PropertyChange extends ChangeBase {
  readonly kind: 'property';
  /** Index in `def.properties`. */
  readonly property: number;
  readonly before: bigint;
  readonly after: bigint;
}

export type Change = FieldChange | SlotCleared | PropertyChange;

/**
 * The changes of what is watched, in file order. A CLEAR of a free slot is not a change; a SET that takes a slot is one, whatever its value.
 * @throws UscopeError READER_NAME (no such storage, field, property), READER_RANGE (no such slot), FORMAT_* for damage, after the changes before it
 */
export async function* history(
  trace: Trace,
  watches: readonly Watch[],
  options: HistoryOptions = {},
): AsyncGenerator<Change> {
  const watched = new WatchedSlots(trace, watches);
  const { from, to } = rangeBounds(options);
  const start = from < 0n ? 0n : from;
  const end = to ?? trace.totalTimePs + 1n;
  const follower = new Follower(trace, watched, await stateBefore(trace, start), options.writes === true);
  const batches = scanBatches<Change>(trace, options, (keep) => ({
    segment: ({ header }) => options.progress?.(Number(header.timeStartPs - start) / Number(end - start)),
    op: (cursor) => {
      const change = follower.op(cursor);
      if (change) keep(change);
    },
  }));
  for await (const batch of batches) yield* batch;
}

/** @throws UscopeError READER_NAME, READER_RANGE when the trace does not have what is to be watched */
export function requireWatchable(trace: Trace, watches: readonly Watch[]): void {
  new WatchedSlots(trace, watches);
}

/** Which slots, fields and properties are followed, as tables for the loop over ops. */
class WatchedSlots {
  /** Per storage id: null where nothing of it is followed. */
  readonly storages: readonly (WatchedStorage | null)[];

  /** @throws UscopeError READER_NAME, READER_RANGE */
  constructor(trace: Trace, watches: readonly Watch[]) {
    const storages: (WatchedStorage | null)[] = trace.schema.storages.map(() => null);
    for (const watch of watches) {
      const def = trace.names.storage(watch.storage);
      const known = storages[def.storageId] ?? new WatchedStorage(trace, def);
      known.add(watch);
      storages[def.storageId] = known;
    }
    this.storages = storages;
  }
}

class WatchedStorage {
  readonly name: string;
  /** Followed fields by slot, as indices; absent: the slot is not followed. */
  private readonly ranges: { readonly first: number; readonly last: number; readonly fields: Set<number> }[] =
    [];
  private readonly properties = new Set<number>();

  constructor(
    private readonly trace: Trace,
    readonly def: StorageDef,
  ) {
    this.name = trace.names.storageNames[def.storageId];
  }

  add({ slots, fields, properties }: Watch): void {
    const { def, trace } = this;
    const isWhole = !slots && !fields;
    const named = properties ?? (isWhole ? def.properties.map((_, index) => index) : []);
    for (const name of named) this.properties.add(trace.names.property(def, name));
    // Properties alone: no slots.
    if (properties && isWhole) return;
    const [first, last] = slots ?? [0, def.numSlots - 1];
    if (first > last || last >= def.numSlots) {
      throw new UscopeError(
        'READER_RANGE',
        `"${this.name}" has slots 0 to ${def.numSlots - 1}, not ${first === last ? first : `${first} to ${last}`}`,
      );
    }
    const indices = fields?.map((name) => trace.names.field(def, name)) ?? def.fields.keys();
    this.ranges.push({ first, last, fields: new Set(indices) });
  }

  /** Whether a slot is followed, or (with a field) that field of it. */
  has(slot: number, field?: number): boolean {
    return this.ranges.some(
      (range) =>
        slot >= range.first && slot <= range.last && (field === undefined || range.fields.has(field)),
    );
  }

  hasProperty(property: number): boolean {
    return this.properties.has(property);
  }
}

/** Applies the ops of followed storages to a state and says what they change. */
class Follower {
  constructor(
    trace: Trace,
    private readonly watched: WatchedSlots,
    private readonly state: StorageState,
    private readonly writes: boolean,
  ) {
    this.numSlots = state.layout.numSlots;
    this.hasFree = trace.schema.storages.map(
      ({ storageId }) => (state.layout.sparse[storageId] | state.layout.buffer[storageId]) !== 0,
    );
  }

  private readonly numSlots: Uint32Array;
  private readonly hasFree: readonly boolean[];

  op(cursor: FrameCursor): Change | null {
    const watched = this.watched.storages[cursor.storageId];
    if (!watched) return null;
    if (cursor.action === Action.PROP_SET) return this.property(watched, cursor);
    // Slots beyond the storage change no state.
    if (cursor.slot >= this.numSlots[cursor.storageId]) return null;
    return cursor.action === Action.CLEAR ? this.clear(watched, cursor) : this.field(watched, cursor);
  }

  private field(watched: WatchedStorage, cursor: FrameCursor): FieldChange | null {
    const { state } = this;
    const { def } = watched;
    const { storageId, slot, field, action } = cursor;
    if (!watched.has(slot, field)) {
      // Whether the slot is taken matters to its other fields.
      this.apply(cursor);
      return null;
    }
    const { type } = def.fields[field];
    const taken = this.hasFree[storageId] && !state.slotOccupied(storageId, slot);
    const before = state.value(storageId, slot, field);
    this.apply(cursor);
    const after = state.value(storageId, slot, field);
    if (before === after && !taken && !this.writes) return null;
    return {
      kind: action === Action.ADD ? 'add' : 'set',
      timePs: cursor.timePs,
      def,
      storage: watched.name,
      slot,
      field,
      before: interpret(type, before),
      after: interpret(type, after),
      taken,
    };
  }

  private clear(watched: WatchedStorage, cursor: FrameCursor): SlotCleared | null {
    const { state } = this;
    const { def } = watched;
    const { storageId, slot } = cursor;
    const wasTaken = state.slotOccupied(storageId, slot);
    const before = new Map<number, bigint>();
    if (watched.has(slot)) {
      def.fields.forEach(({ type }, field) => {
        if (watched.has(slot, field)) before.set(field, interpret(type, state.value(storageId, slot, field)));
      });
    }
    this.apply(cursor);
    if (!watched.has(slot)) return null;
    const isChange = this.hasFree[storageId] ? wasTaken : [...before.values()].some((value) => value !== 0n);
    if (!isChange && !this.writes) return null;
    return { kind: 'clear', timePs: cursor.timePs, def, storage: watched.name, slot, before };
  }

  private property(watched: WatchedStorage, cursor: FrameCursor): PropertyChange | null {
    const { storageId, field: property } = cursor;
    if (!watched.hasProperty(property)) return null;
    const { type } = watched.def.properties[property];
    const before = this.state.property(storageId, property);
    this.apply(cursor);
    const after = this.state.property(storageId, property);
    if (before === after && !this.writes) return null;
    return {
      kind: 'property',
      timePs: cursor.timePs,
      def: watched.def,
      storage: watched.name,
      property,
      before: interpret(type, before),
      after: interpret(type, after),
    };
  }

  private apply({ action, storageId, slot, field, lo, hi }: FrameCursor): void {
    this.state.apply(action, storageId, slot, field, lo, hi);
  }
}
