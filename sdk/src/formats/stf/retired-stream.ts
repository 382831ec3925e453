/** STF of what a hart retired, made from addresses and bits alone: jumps and their targets are rebuilt from what came next. */
import { UscopeError } from '../../base/errors.js';
import { Flow, flowOf, lengthOf, targetOf } from './control-flow.js';
import { StfIem, type StfRecord, StfType } from './types.js';
import type { StfWriter } from './writer.js';

/** An instruction in the order in which it took effect. */
export interface StreamInstruction {
  readonly pc: bigint;
  /** Of a compressed instruction 16 bits. */
  readonly bits: number;
  /** Written after INST_PC_TARGET: memory accesses, events. An EVENT_PC_TARGET among them overrides the jump. */
  readonly records: readonly StfRecord[];
  /** Where it goes next according to the trap it took; the next instruction need not agree. */
  readonly trapTarget: bigint | null;
  /** The address of the next one had there been no interrupt after it; null: that of the one which follows. */
  readonly architecturalNext: bigint | null;
}

export interface RetiredCounts {
  targets: number;
  /** FORCE_PC records after the header: breaks that no jump and no known trap explains. */
  forced: number;
}

/** Writes each instruction when the next one is known. The header has been written, its FORCE_PC the address of the first. */
export class RetiredStream {
  readonly counts: RetiredCounts = { targets: 0, forced: 0 };
  private held: StreamInstruction | null = null;

  constructor(
    private readonly writer: StfWriter,
    /** StfIem */
    private readonly iem: number,
  ) {}

  /** The instruction whose successor is awaited. */
  get last(): StreamInstruction | null {
    return this.held;
  }

  push(instruction: StreamInstruction): void {
    if (this.held) this.write(this.held, instruction.pc);
    this.held = instruction;
  }

  /** Replaces the instruction that waits: more became known of it. */
  amend(instruction: StreamInstruction): void {
    this.held = instruction;
  }

  end(): void {
    if (this.held) this.write(this.held, null);
    this.held = null;
  }

  private write(instruction: StreamInstruction, following: bigint | null): void {
    const { writer } = this;
    const { pc, bits, records } = instruction;
    this.refuseExpanded(instruction, following);
    const [lo, hi] = halves(pc);
    if (writer.nextLo !== lo || writer.nextHi !== hi) {
      writer.address(StfType.FORCE_PC, lo, hi);
      this.counts.forced++;
    }
    const target = this.jumpTarget(instruction, following);
    if (target !== null) {
      writer.address(StfType.INST_PC_TARGET, ...halves(target));
      this.counts.targets++;
    }
    for (const record of records) writer.record(record);
    writer.opcode(bits);
  }

  /** Null: not taken, or not known because nothing follows. An instruction that trapped did not jump. */
  private jumpTarget(instruction: StreamInstruction, following: bigint | null): bigint | null {
    const { pc, bits, trapTarget, architecturalNext } = instruction;
    if (trapTarget !== null && architecturalNext === null) return null;
    const next = architecturalNext ?? following;
    const flow = flowOf(bits, this.iem);
    if (flow === Flow.NONE) return null;
    if (flow === Flow.INDIRECT) return next;
    const taken = targetOf(pc, bits, this.iem);
    if (flow === Flow.JUMP) return taken;
    const isFallThrough = next === this.wrapped(pc + BigInt(lengthOf(bits)));
    return next === taken && !isFallThrough ? taken : null;
  }

  /** A word that is followed at a distance of 2 was a compressed instruction, recorded as what it represents. */
  private refuseExpanded({ pc, bits, trapTarget }: StreamInstruction, following: bigint | null): void {
    if (lengthOf(bits) === 2 || trapTarget !== null || following !== pc + 2n) return;
    if (flowOf(bits, this.iem) !== Flow.NONE) return;
    throw new UscopeError(
      'CONVERT_SOURCE',
      `the instruction at 0x${pc.toString(16)} has 32 bits and the next one follows after 2 bytes: compressed instructions are recorded expanded; STF needs their own 16 bits`,
    );
  }

  private wrapped(pc: bigint): bigint {
    return BigInt.asUintN(this.iem === StfIem.RV32 ? 32 : 64, pc);
  }
}

function halves(value: bigint): [lo: number, hi: number] {
  return [Number(value & 0xffff_ffffn), Number((value >> 32n) & 0xffff_ffffn)];
}
