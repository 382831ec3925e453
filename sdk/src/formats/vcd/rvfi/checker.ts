/** Rules of RVFI that a core may break (docs/tutorials/trace-a-core-you-did-not-write.md#rules-of-the-interface). */
import type { Wide } from '../sampling/probe.js';
import type { RvfiInstruction } from './instruction.js';

/** Numbers of the enum `rvfi_violation`. */
const Code = {
  ORDER_GAP: 0,
  ORDER_REPEATED: 1,
  ORDER_TIE: 2,
  PC_MISMATCH: 3,
  REGISTER_MISMATCH: 4,
  X0_NOT_ZERO: 5,
  AFTER_HALT: 6,
  UNKNOWN_VALUE: 7,
} as const;

export interface Violation {
  readonly code: number;
  readonly channel: number;
  readonly order: number;
  readonly expected: Wide;
  readonly found: Wide;
  /** The first few of a kind are. */
  readonly isReported: boolean;
}

/** How far the order may run ahead of an index that has not come yet. */
const REORDER = 64;
/** Violations of each kind that are reported; all are counted. */
const REPORTS = 16;

export class RvfiChecker {
  private readonly reports = new Uint32Array(Object.keys(Code).length);
  /** What registers hold, as far as they were written since reset. */
  private readonly known = new Map<number, Wide>();
  /** The lowest index that is due; null: none has come since reset. */
  private due: number | null = null;
  /** Indices above it that have come. */
  private readonly ahead = new Set<number>();
  private haltOrder: number | null = null;

  constructor(
    private readonly onViolation: (violation: Violation) => void,
    private readonly onMissing: (count: number) => void,
  ) {}

  /** Indices begin anew. */
  reset(): void {
    if (this.due !== null && this.ahead.size > 0) {
      const last = [...this.ahead].reduce((a, b) => Math.max(a, b));
      this.giveUp(0, last, last - this.due + 1);
    }
    this.due = null;
    this.ahead.clear();
    this.known.clear();
    this.haltOrder = null;
  }

  unknownValid(channel: number): void {
    this.violation(Code.UNKNOWN_VALUE, channel, this.due ?? 0, 0, 0);
  }

  tie(channel: number, order: number, other: number): void {
    this.violation(Code.ORDER_TIE, channel, order, channel, other);
  }

  wrote(register: number, value: Wide): void {
    this.known.set(register, value);
  }

  check(
    channel: number,
    one: RvfiInstruction,
    previous: RvfiInstruction | null,
    hasUnknown: boolean,
    hasNext: boolean,
  ): void {
    const { order } = one;
    const follows = previous !== null && order === previous.order + 1;
    if (hasUnknown) this.violation(Code.UNKNOWN_VALUE, channel, order, 0, 0);
    if (this.haltOrder !== null) this.violation(Code.AFTER_HALT, channel, order, this.haltOrder, order);
    if (one.isHalt) this.haltOrder = order;
    if (hasNext && follows && !one.isInterrupt && !previous.isTrap && one.pc !== previous.next)
      this.violation(Code.PC_MISMATCH, channel, order, previous.next, one.pc);
    // Out of order: the last one to write in time may not be the last in the program.
    if (!follows) this.known.clear();
    this.source(channel, order, one.rs1);
    this.source(channel, order, one.rs2);
    if (one.rd.register === 0 && one.rd.value !== 0)
      this.violation(Code.X0_NOT_ZERO, channel, order, 0, one.rd.value);
    this.order(channel, order);
  }

  private source(
    channel: number,
    order: number,
    { register, value }: { readonly register: number; readonly value: Wide },
  ): void {
    if (register === 0 && value !== 0) this.violation(Code.X0_NOT_ZERO, channel, order, 0, value);
    const known = this.known.get(register);
    if (register !== 0 && known !== undefined && known !== value)
      this.violation(Code.REGISTER_MISMATCH, channel, order, known, value);
  }

  /** The first index after reset may be any. Gaps are such once REORDER later ones have come, or at the end. */
  private order(channel: number, order: number): void {
    this.due ??= order;
    if (order < this.due || this.ahead.has(order)) {
      this.violation(Code.ORDER_REPEATED, channel, order, this.due, order);
      return;
    }
    if (order - this.due >= REORDER) this.giveUp(channel, order, order - this.due - REORDER + 1);
    this.ahead.add(order);
    while (this.ahead.delete(this.due)) this.due++;
  }

  /** No longer waits for the lowest `count` indices, and for others missing up to the next one that has come. */
  private giveUp(channel: number, order: number, count: number): void {
    const first = this.due ?? 0;
    let due = first + count;
    let missing = count;
    for (const one of this.ahead) {
      if (one >= due) continue;
      missing--;
      this.ahead.delete(one);
    }
    if (this.ahead.size === 0 && due < order) {
      missing += order - due;
      due = order;
    }
    while (due < order && !this.ahead.has(due)) {
      missing++;
      due++;
    }
    this.due = due;
    this.violation(Code.ORDER_GAP, channel, order, first, order);
    this.onMissing(missing);
  }

  private violation(code: number, channel: number, order: number, expected: Wide, found: Wide): void {
    const isReported = this.reports[code]++ < REPORTS;
    this.onViolation({ code, channel, order, expected, found, isReported });
  }
}
