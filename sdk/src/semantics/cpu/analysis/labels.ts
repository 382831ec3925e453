/** Numbers things by the value of an enum, in bounded memory whatever values a file holds. */
import type { EnumDef } from '../../../format/types.js';

/** Different values distinguished; all others share the last index. */
const MAX_VALUES = 512;
const OTHER = 'other';

export class LabelIndex {
  /** Label by index; the number where a value has none. */
  readonly names: string[] = [];
  private readonly indexOfValue = new Map<number, number>();
  private readonly indexOfName = new Map<string, number>();
  private readonly labels: ReadonlyMap<number, string>;

  constructor(labels: EnumDef | null) {
    // Where a value has two labels the first one counts.
    const entries = [...(labels?.values ?? [])].reverse();
    this.labels = new Map(entries.map(({ value, name }) => [value, name] as const));
  }

  /** Index of a value; a new one when it is met for the first time. */
  of(value: number): number {
    return this.indexOfValue.get(value) ?? this.learn(value);
  }

  /** Index of a value with this label. */
  ofName(name: string): number {
    let index = this.indexOfName.get(name);
    if (index === undefined) {
      index = this.names.push(name) - 1;
      this.indexOfName.set(name, index);
    }
    return index;
  }

  private learn(value: number): number {
    const isFull = this.names.length >= MAX_VALUES;
    const name = isFull ? OTHER : (this.labels.get(value) ?? String(value));
    const index = this.ofName(name);
    if (!isFull) this.indexOfValue.set(value, index);
    return index;
  }
}

/** Orders reasons that are equally frequent, so that their order does not depend on which occurred first. */
export function byName(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
