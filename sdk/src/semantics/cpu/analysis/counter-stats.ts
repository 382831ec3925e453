/** What a counter did in a range. Values are kept as u32 halves: this is the hot loop. */

import { addTo } from '../../../base/arrays.js';
import type { FrameCursor } from '../../../format/frame.js';
import { Action, type StorageDef } from '../../../format/types.js';
import type { StorageState } from '../../../state/storage-state.js';
import type { CycleWindow } from './window.js';

const TWO_32 = 2 ** 32;

export class CounterStats {
  readonly name: string;
  readonly start: bigint;
  /** What was added, per interval; exact below 2^53. */
  readonly deltas: Float64Array;
  private lo: number;
  private hi: number;

  /** @param state before the first frame of the range */
  constructor(
    def: StorageDef,
    private readonly window: CycleWindow,
    state: StorageState,
  ) {
    this.name = def.name;
    this.start = state.value(def.storageId, 0, 0);
    this.lo = Number(this.start & 0xffff_ffffn);
    this.hi = Number(this.start >> 32n);
    this.deltas = window.series();
  }

  get end(): bigint {
    return (BigInt(this.hi) << 32n) | BigInt(this.lo);
  }

  /** Adds what an index has counted. */
  addCounted(end: bigint, deltas: Float64Array): void {
    this.lo = Number(end & 0xffff_ffffn);
    this.hi = Number(end >> 32n);
    addTo(this.deltas, deltas);
  }

  op(cursor: FrameCursor): void {
    const { window } = this;
    const { action, lo, hi } = cursor;
    if (!window.inRange || action === Action.PROP_SET || cursor.slot !== 0) return;
    const interval = window.intervalOf(window.cycle);
    if (action === Action.ADD) {
      const sum = this.lo + lo;
      this.lo = sum >>> 0;
      this.hi = (this.hi + hi + (sum >= TWO_32 ? 1 : 0)) >>> 0;
      // Some designs count down: what is added may be negative.
      this.deltas[interval] += (hi | 0) * TWO_32 + lo;
      return;
    }
    const isSet = action === Action.SET;
    const [newLo, newHi] = isSet ? [lo, hi] : [0, 0];
    this.deltas[interval] += (newHi - this.hi) * TWO_32 + (newLo - this.lo);
    this.lo = newLo;
    this.hi = newHi;
  }
}
