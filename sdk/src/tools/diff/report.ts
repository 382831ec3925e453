/** What a comparison found. Times in ps; cycles of the clock of what is concerned, null where its period is not known. */
import type { SchemaDifference, ScopePair } from './match.js';

export type DiffMode = 'time' | 'state' | 'retired';

/** An item or a piece of state for people and programs: values as the trace means them (labels, texts, signed numbers). */
export interface ItemView {
  readonly timePs: bigint;
  readonly cycle: bigint | null;
  readonly path: string;
  readonly what: 'set' | 'add' | 'clear' | 'prop' | 'event';
  readonly slot: number | null;
  /** Fields by name; of an op at most one. */
  readonly fields: Readonly<Record<string, string>>;
}

/** Where both were last the same. */
export interface LastCommon {
  readonly timePs: bigint;
  readonly cycle: bigint | null;
}

export interface TimeDivergence {
  readonly timePs: bigint;
  readonly cycle: bigint | null;
  /** Storage or event of the first item that differs, by its path in the first trace. */
  readonly path: string;
  /**
   * `value`: one item with different values; `item`: different items; `only_a`, `only_b`: the other one has nothing here; `order`: the same
   * items in another order.
   */
  readonly kind: 'value' | 'item' | 'only_a' | 'only_b' | 'order';
  /** The item of each; where one has nothing at this time its next later one, null at its end. */
  readonly a: ItemView | null;
  readonly b: ItemView | null;
  readonly last: LastCommon | null;
  /** Items in front, the same in both, and those that follow in each, `a` and `b` first. */
  readonly before: readonly ItemView[];
  readonly nextA: readonly ItemView[];
  readonly nextB: readonly ItemView[];
}

export interface PathDifference {
  readonly path: string;
  /** Items compared of each. */
  readonly itemsA: number;
  readonly itemsB: number;
  /** Instants at which it differs. */
  readonly instants: number;
  readonly firstPs: bigint | null;
}

export interface TimeReport {
  readonly by: 'time';
  readonly first: TimeDivergence | null;
  readonly itemsA: number;
  readonly itemsB: number;
  /** Instants of time at which either has an item, and how they compare. */
  readonly instants: {
    readonly same: number;
    readonly different: number;
    readonly reordered: number;
    readonly onlyA: number;
    readonly onlyB: number;
  };
  /** Paths that differ, and those whose number of items does. */
  readonly paths: readonly PathDifference[];
  /** The order of items of different paths within an instant was not looked at. */
  readonly orderIgnored: boolean;
}

/** A value of the state: a field of a slot, a property, or (field null) whether the slot is valid. */
export interface CellView {
  readonly path: string;
  readonly slot: number | null;
  readonly field: string | null;
  /** null: the slot is not valid. */
  readonly a: string | null;
  readonly b: string | null;
}

export interface StateDivergence {
  readonly timePs: bigint;
  readonly cycle: bigint | null;
  /** The values that differ then, the first ones of them. */
  readonly cells: readonly CellView[];
  readonly cellCount: number;
  readonly last: LastCommon | null;
}

export interface StorageDifference {
  readonly path: string;
  readonly firstPs: bigint | null;
  /** Instants after which it differs. */
  readonly instants: number;
  /** Values that differ at the end. */
  readonly atEnd: number;
}

export interface StateReport {
  readonly by: 'state';
  readonly first: StateDivergence | null;
  /** Where the comparison began. */
  readonly fromPs: bigint;
  /** Instants at which an op changed one of them, and after how many of these they differ. */
  readonly instants: { readonly same: number; readonly different: number };
  /** Values compared, and how many differ at the end. */
  readonly values: number;
  readonly atEnd: number;
  readonly storages: readonly StorageDifference[];
}

/** What is known of a retired instruction next to when it passed. */
export interface RetiredInstruction {
  /** Time of its retirement. */
  readonly timePs: bigint;
  readonly cycle: bigint | null;
  readonly pc: bigint | null;
  readonly bits: number | null;
  /** What else is recorded, by name; null: not recorded. */
  readonly values: Readonly<Record<string, string | null>>;
}

export interface RetiredDivergence {
  readonly core: string;
  /** How many instructions retired before, in both. */
  readonly index: number;
  /** What differs: `pc`, `bits`, names of `values`; empty where one has no more instructions. */
  readonly fields: readonly string[];
  readonly a: RetiredInstruction | null;
  readonly b: RetiredInstruction | null;
  /** Instructions in front, as the first trace has them; and what follows in each, `a` and `b` first. */
  readonly before: readonly RetiredInstruction[];
  readonly nextA: readonly RetiredInstruction[];
  readonly nextB: readonly RetiredInstruction[];
}

export interface RetiredCoreReport {
  readonly core: string;
  readonly first: RetiredDivergence | null;
  readonly retiredA: number;
  readonly retiredB: number;
  /** Instructions that agree: those before the first difference and, where the two meet again, after it. */
  readonly same: number;
  /** Stretches that differ; `onlyA`, `onlyB`: instructions of one without counterpart, `changed`: with one that differs. */
  readonly stretches: number;
  readonly changed: number;
  readonly onlyA: number;
  readonly onlyB: number;
  /** False when the two did not meet again: what follows was only counted. */
  readonly aligned: boolean;
}

export interface RetiredReport {
  readonly by: 'retired';
  readonly cores: readonly RetiredCoreReport[];
  readonly onlyA: readonly string[];
  readonly onlyB: readonly string[];
}

export interface DiffReport {
  readonly same: boolean;
  readonly a: string;
  readonly b: string;
  /** Scopes compared with each other where that was not by name. */
  readonly scopes: readonly ScopePair[];
  /** Not looked at by retired instruction. */
  readonly schema: SchemaDifference;
  readonly notes: readonly string[];
  readonly result: TimeReport | StateReport | RetiredReport;
}
