/** What the inspector shows of a storage: texts only. */

export interface ValueOf {
  readonly text: string;
  /** What it was before the cycle; null: the cycle did not change it. */
  readonly before: string | null;
}

export interface StorageSlot {
  readonly slot: number;
  /** By field. */
  readonly values: readonly ValueOf[];
  readonly isTaken: boolean;
  /** Taken in this cycle. */
  readonly isNew: boolean;
  /** Given away in this cycle. */
  readonly isCleared: boolean;
  /** Id of the instruction in it. */
  readonly entity: number | null;
}

export interface StorageState {
  readonly id: number;
  readonly name: string;
  readonly kind: 'buffer' | 'registers' | 'table' | 'counter';
  /** It belongs to the core shown. */
  readonly isOfCore: boolean;
  readonly slotCount: number;
  readonly occupied: number;
  readonly fields: readonly string[];
  readonly properties: readonly (ValueOf & { readonly name: string })[];
  readonly slots: readonly StorageSlot[];
  /** Taken slots that are not listed. */
  readonly hidden: number;
  /** `rate`: per cycle, over the last 256. */
  readonly counter: { readonly value: string; readonly delta: string; readonly rate: number } | null;
  /** Properties that name a slot. */
  readonly markers: readonly { readonly name: string; readonly slot: number }[];
}

/** Something in it was changed by the cycle. */
export function isChanged({ slots, properties, counter }: StorageState): boolean {
  return (
    (counter !== null && counter.delta !== '0') ||
    properties.some(({ before }) => before !== null) ||
    slots.some((slot) => slot.isNew || slot.isCleared || slot.values.some(({ before }) => before !== null))
  );
}

const NAMES: Readonly<Record<number, readonly string[]>> = {
  32: [
    ...['zero', 'ra', 'sp', 'gp', 'tp', 't0', 't1', 't2', 's0', 's1'],
    ...['a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7'],
    ...['s2', 's3', 's4', 's5', 's6', 's7', 's8', 's9', 's10', 's11', 't3', 't4', 't5', 't6'],
  ],
};

/** Name of a slot: that of the register in an integer register file of RISC-V, else its number. */
export function slotName({ name, kind, slotCount }: StorageState, slot: number, isRiscV: boolean): string {
  const isIntegers = /(^|[/_])(x?regs?|xrf|int_?regs?|regfile|gprs?|rf)([/_]|$)/i.test(name);
  const known = isRiscV && kind !== 'buffer' && isIntegers ? NAMES[slotCount]?.[slot] : undefined;
  return known === undefined ? String(slot) : `x${slot} ${known}`;
}
