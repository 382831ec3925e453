/** The values that two traces have in common, of both side by side, and which of them differ. */
import { UscopeError } from '../../base/errors.js';
import { Action, type FieldDef, SF_SPARSE } from '../../format/types.js';
import { type LogicalField, logicalFields } from '../../format/wide-fields.js';
import { DEFAULT_MAX_STATE_BYTES } from '../../state/layout.js';
import type { StorageState } from '../../state/storage-state.js';
import type { FieldPair, SchemaMatch, StoragePair } from './match.js';
import type { Side } from './side.js';

/** Where the cells of a storage lie: per slot its validity and its common fields, then the common properties. */
interface Place {
  readonly base: number;
  readonly slots: number;
  readonly stride: number;
  readonly propertyBase: number;
  readonly end: number;
}

const BYTES_PER_CELL = 2 * 8 + 1 + 4 + 2 * 2;

export class CommonState {
  /** Cells that differ, together and per storage. */
  differing = 0;
  readonly differingIn: Uint32Array;
  /** Number of values compared, validities not counted. */
  readonly values: number;
  /** Rises with every cell touched. */
  touched = 0;
  private readonly places: readonly Place[];
  /** Two u32 words per cell. */
  private readonly a: Uint32Array;
  private readonly b: Uint32Array;
  private readonly differs: Uint8Array;
  /** Of the first cell of each value, how many of its cells differ: a wide value is several cells and differs once. */
  private readonly differingPieces: Uint16Array;
  /** By cell: how far before it the first cell of its value is; null: no value is wide. */
  private readonly back: Uint16Array | null;
  /** Number of the comparison a cell is already noted for. */
  private readonly stamp: Uint32Array;
  private round = 1;
  /** Cells of either start that hold reference 0: perhaps never set, so no text to compare. */
  private readonly perhapsUnset: { readonly cell: number; readonly isA: boolean }[] = [];
  private pending: number[] = [];
  private pendingStorage: number[] = [];

  /** @throws UscopeError SCHEMA_LIMIT when the storages are too large to be held twice */
  constructor(private readonly match: SchemaMatch) {
    let cells = 0;
    let values = 0;
    this.places = match.storages.map(({ a, b, fields, properties }): Place => {
      // Slots that only one has are empty in the other; where slots are always valid there is nothing to compare them with.
      const both = isSparse(a) && isSparse(b);
      const slots = (both ? Math.max : Math.min)(a.numSlots, b.numSlots);
      const stride = fields.length + 1;
      const base = cells;
      const propertyBase = base + slots * stride;
      cells = propertyBase + properties.length;
      values += slots * logicalPairs(fields, a.fields).length + logicalPairs(properties, a.properties).length;
      return { base, slots, stride, propertyBase, end: cells };
    });
    if (cells * BYTES_PER_CELL > DEFAULT_MAX_STATE_BYTES) {
      const detail = `comparing ${cells} values of state takes more than ${DEFAULT_MAX_STATE_BYTES} bytes; compare single cores`;
      throw new UscopeError('SCHEMA_LIMIT', detail);
    }
    this.values = values;
    this.a = new Uint32Array(cells * 2);
    this.b = new Uint32Array(cells * 2);
    this.differs = new Uint8Array(cells);
    this.stamp = new Uint32Array(cells);
    this.differingPieces = new Uint16Array(cells);
    this.back = this.piecesOfWide(cells);
    this.differingIn = new Uint32Array(match.storages.length);
  }

  /** Takes over a whole state, of the first or the second trace. */
  load(side: Side, state: StorageState): void {
    const cells = side.name === 'a' ? this.a : this.b;
    this.match.storages.forEach((pair, storage) => {
      const { base, slots, stride, propertyBase } = this.places[storage];
      const def = pair[side.name];
      const id = def.storageId;
      for (let slot = 0; slot < Math.min(slots, state.layout.numSlots[id]); slot++) {
        const first = base + slot * stride;
        if (isSparse(def) && !state.slotOccupied(id, slot)) continue;
        cells[first * 2] = 1;
        pair.fields.forEach((field, i) => {
          this.put(first + 1 + i, side, id, field, state.value(id, slot, field[side.name]), false);
        });
      }
      pair.properties.forEach((field, i) => {
        this.put(propertyBase + i, side, id, field, state.property(id, field[side.name]), true);
      });
    });
  }

  private put(
    cell: number,
    side: Side,
    id: number,
    field: FieldPair,
    raw: bigint,
    isProperty: boolean,
  ): void {
    const isA = side.name === 'a';
    const cells = isA ? this.a : this.b;
    side.readState(id, field[side.name], isProperty, Number(raw & 0xffff_ffffn), Number(raw >> 32n));
    cells[cell * 2] = side.value.lo;
    cells[cell * 2 + 1] = side.value.hi;
    if (field.as === 'text' && raw === 0n) this.perhapsUnset.push({ cell, isA });
  }

  /** Applies the present op of a side. */
  apply(side: Side, isA: boolean): void {
    const { target, action, slot, field, value } = side;
    const { base, slots, stride, propertyBase } = this.places[target];
    const cells = isA ? this.a : this.b;
    if (action === Action.PROP_SET) {
      this.set(cells, propertyBase + field, target, value.lo, value.hi);
      return;
    }
    if (slot >= slots) return;
    const first = base + slot * stride;
    if (action === Action.CLEAR) {
      const valid = isSparse(this.match.storages[target][side.name]) ? 0 : 1;
      this.set(cells, first, target, valid, 0);
      for (let i = 1; i < stride; i++) this.set(cells, first + i, target, 0, 0);
      return;
    }
    this.set(cells, first, target, 1, 0);
    const cell = first + 1 + field;
    if (action === Action.SET) {
      this.set(cells, cell, target, value.lo, value.hi);
      return;
    }
    side.addTo(cells[cell * 2], cells[cell * 2 + 1]);
    this.set(cells, cell, target, value.lo, value.hi);
  }

  private set(cells: Uint32Array, cell: number, storage: number, lo: number, hi: number): void {
    cells[cell * 2] = lo;
    cells[cell * 2 + 1] = hi;
    if (this.stamp[cell] === this.round) return;
    this.stamp[cell] = this.round;
    this.pending.push(cell);
    this.pendingStorage.push(storage);
    this.touched++;
  }

  /** Compares everything; both states have been loaded. */
  compareAll(): void {
    for (const { cell, isA } of this.perhapsUnset) {
      const [from, to] = isA ? [this.b, this.a] : [this.a, this.b];
      to[cell * 2] = from[cell * 2];
      to[cell * 2 + 1] = from[cell * 2 + 1];
    }
    this.places.forEach(({ base, end }, storage) => {
      for (let cell = base; cell < end; cell++) this.compare(cell, storage);
    });
  }

  /** Compares what has been touched since the last time. */
  compareTouched(): void {
    for (let i = 0; i < this.pending.length; i++) this.compare(this.pending[i], this.pendingStorage[i]);
    this.pending.length = this.pendingStorage.length = 0;
    this.round = (this.round + 1) >>> 0;
  }

  private compare(cell: number, storage: number): void {
    const { a, b } = this;
    const differs = a[cell * 2] !== b[cell * 2] || a[cell * 2 + 1] !== b[cell * 2 + 1] ? 1 : 0;
    const change = differs - this.differs[cell];
    if (change === 0) return;
    this.differs[cell] = differs;
    const first = this.back === null ? cell : cell - this.back[cell];
    const before = this.differingPieces[first];
    this.differingPieces[first] = before + change;
    // Other pieces differ as well, or did: the value as a whole has not changed.
    if (before > 0 && before + change > 0) return;
    this.differing += change;
    this.differingIn[storage] += change;
  }

  private piecesOfWide(cells: number): Uint16Array | null {
    let back: Uint16Array | null = null;
    this.match.storages.forEach(({ a, fields, properties }, storage) => {
      const { base, slots, stride, propertyBase } = this.places[storage];
      const rows = Array.from({ length: slots }, (_, slot) => base + slot * stride + 1);
      for (const [pairs, defs, starts] of [
        [fields, a.fields, rows],
        [properties, a.properties, [propertyBase]],
      ] as const) {
        for (const { bits, pieces, unknown } of logicalPairs(pairs, defs)) {
          if (bits === 0) continue;
          back ??= new Uint16Array(cells);
          for (const start of starts)
            for (const piece of [...pieces, ...unknown]) back[start + piece] = piece - pieces[0];
        }
      }
    });
    return back;
  }

  /** The first cells of the first values that differ, in the order of the first schema. */
  differingCells(limit: number): number[] {
    const cells: number[] = [];
    for (let cell = 0; cell < this.differingPieces.length && cells.length < limit; cell++) {
      if (this.differingPieces[cell] > 0) cells.push(cell);
    }
    return cells;
  }

  /** What a cell is: slot null for a property, field null for the validity of a slot. */
  place(cell: number): { storage: number; slot: number | null; field: FieldPair | null } {
    const storage = this.places.findIndex(({ end }) => cell < end);
    const { base, stride, propertyBase } = this.places[storage];
    const pair: StoragePair = this.match.storages[storage];
    if (cell >= propertyBase) return { storage, slot: null, field: pair.properties[cell - propertyBase] };
    const index = (cell - base) % stride;
    const slot = Math.floor((cell - base) / stride);
    return { storage, slot, field: index === 0 ? null : pair.fields[index - 1] };
  }
}

/** Values that both traces have, wide ones as one. Indices are those of `pairs`. */
export function logicalPairs(pairs: readonly FieldPair[], fields: readonly FieldDef[]): LogicalField[] {
  return logicalFields(pairs.map(({ a }) => fields[a]));
}

function isSparse({ flags }: { readonly flags: number }): boolean {
  return (flags & SF_SPARSE) !== 0;
}
