/** Changes of wide fields (docs/reference/format.md#wide-fields): those of the pieces of a value, in one frame, as one change of the value. */
import type { StorageDef } from '../../format/types.js';
import { type LogicalField, logicalFields } from '../../format/wide-fields.js';
import type { StorageState } from '../../state/storage-state.js';
import { rangeBounds } from '../arguments.js';
import type { Trace } from '../trace.js';
import {
  type Change,
  type FieldChange,
  type HistoryOptions,
  history,
  type PropertyChange,
  type Watch,
} from './history.js';
import { stateBefore } from './state-before.js';

/** The value of a wide field, or of a wide property (`slot` null). */
export interface WideChange {
  readonly kind: 'wide';
  readonly timePs: bigint;
  readonly def: Change['def'];
  readonly storage: string;
  readonly slot: number | null;
  readonly field: LogicalField;
  /** Indexed by piece: those of `field.pieces`, then those of `field.unknown`. */
  readonly before: readonly bigint[];
  readonly after: readonly bigint[];
  /** The slot was free, and is taken by this. */
  readonly taken: boolean;
}

interface Followed {
  readonly field: LogicalField;
  /** Indices in the schema by piece. */
  readonly indices: readonly number[];
}

type PieceChange = FieldChange | PropertyChange;

/** `history`, with wide fields and properties as values. @throws UscopeError as `history` */
export async function* historyOfValues(
  trace: Trace,
  watches: readonly Watch[],
  options: HistoryOptions = {},
): AsyncGenerator<Change | WideChange> {
  const changes = history(trace, watches, options);
  const isWide = ({ fields, properties }: StorageDef): boolean =>
    [fields, properties].some((all) => logicalFields(all).length < all.length);
  if (!trace.schema.storages.some(isWide)) {
    yield* changes;
    return;
  }
  const { from } = rangeBounds(options);
  // What the pieces hold that are not written.
  const joiner = new Joiner(trace, await stateBefore(trace, from < 0n ? 0n : from));
  for await (const change of changes) {
    const followed = change.kind === 'clear' ? null : joiner.wideOf(change);
    if (change.kind === 'clear' || followed === null) {
      yield* joiner.flush();
      if (change.kind === 'clear') joiner.clear(change.def.storageId, change.slot);
      yield change;
      continue;
    }
    if (!joiner.belongs(change, followed)) yield* joiner.flush();
    joiner.add(change, followed);
  }
  yield* joiner.flush();
}

class Joiner {
  /** Indexed by storage: the wide field of each index of the schema's fields and properties. */
  private readonly fields: readonly (readonly (Followed | null)[])[];
  private readonly properties: readonly (readonly (Followed | null)[])[];
  /** Values of the pieces that have changed so far, by storage, slot and field. */
  private readonly values = new Map<string, bigint[]>();
  private open: { first: PieceChange; followed: Followed; before: bigint[]; seen: Set<number> } | null = null;

  constructor(
    trace: Trace,
    private readonly start: StorageState,
  ) {
    this.fields = trace.schema.storages.map(({ fields }) => wideByIndex(fields));
    this.properties = trace.schema.storages.map(({ properties }) => wideByIndex(properties));
  }

  wideOf(change: PieceChange): Followed | null {
    const { storageId } = change.def;
    if (change.kind === 'property') return this.properties[storageId][change.property];
    return this.fields[storageId][change.field];
  }

  /** Whether a change continues the value that is open: each piece is written once. */
  belongs(change: PieceChange, followed: Followed): boolean {
    const { open } = this;
    if (open === null || open.followed !== followed || open.first.timePs !== change.timePs) return false;
    return slotOf(open.first) === slotOf(change) && !open.seen.has(indexOf(change));
  }

  add(change: PieceChange, followed: Followed): void {
    const values = this.valuesOf(change, followed);
    this.open ??= { first: change, followed, before: [...values], seen: new Set() };
    const piece = followed.indices.indexOf(indexOf(change));
    this.open.before[piece] = change.before;
    this.open.seen.add(indexOf(change));
    values[piece] = change.after;
  }

  *flush(): Generator<WideChange> {
    const { open } = this;
    if (open === null) return;
    this.open = null;
    const { first, followed, before } = open;
    const { timePs, def, storage } = first;
    const taken = first.kind !== 'property' && first.taken;
    const after = [...this.valuesOf(first, followed)];
    yield {
      kind: 'wide',
      timePs,
      def,
      storage,
      slot: slotOf(first),
      field: followed.field,
      before,
      after,
      taken,
    };
  }

  clear(storage: number, slot: number): void {
    for (const followed of new Set(this.fields[storage])) {
      if (followed)
        this.values.set(
          keyOf(storage, slot, followed),
          followed.indices.map(() => 0n),
        );
    }
  }

  private valuesOf(change: PieceChange, followed: Followed): bigint[] {
    const { storageId } = change.def;
    const slot = slotOf(change);
    const key = keyOf(storageId, slot, followed);
    let values = this.values.get(key);
    if (!values) {
      values = followed.indices.map((index) =>
        slot === null ? this.start.property(storageId, index) : this.start.value(storageId, slot, index),
      );
      this.values.set(key, values);
    }
    return values;
  }
}

function wideByIndex(fields: Parameters<typeof logicalFields>[0]): (Followed | null)[] {
  return logicalFields(fields).flatMap((field) => {
    const indices = [...field.pieces, ...field.unknown];
    const followed = field.bits > 0 ? { field, indices } : null;
    return indices.map(() => followed);
  });
}

const indexOf = (change: PieceChange): number =>
  change.kind === 'property' ? change.property : change.field;
const slotOf = (change: PieceChange): number | null => (change.kind === 'property' ? null : change.slot);
const keyOf = (storage: number, slot: number | null, { indices }: Followed): string =>
  `${storage}/${slot ?? ''}/${indices[0]}`;
