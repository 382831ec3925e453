/**
 * Follows a traced run with the reference machine. Of the trace it takes only when things happened: in which cycle an
 * instruction left a stage, and where an interrupt was taken. What must follow from that, it checks: every pc, instruction
 * word, register write and store, every trap, and that an interrupt was taken as soon as one was due and never before.
 */
import type { Instruction } from './audit.mjs';
import { WFI } from './instruction.js';
import { type Hart, Machine, type Step, type Timing, type Trap } from './rv32im.js';
import { Cause } from './trap.js';

export interface Mismatch {
  /** Order of birth. */
  readonly serial: number;
  readonly what: string;
  readonly trace: unknown;
  readonly machine: unknown;
}

const [EXECUTE, MEMORY, WRITEBACK] = [2, 3, 4];

export class Replay {
  readonly machine: Machine;
  /** Instructions and traps that agreed. */
  steps = 0;
  /** The first disagreement; nothing is followed beyond it. */
  mismatch: Mismatch | null = null;

  constructor(
    image: readonly number[],
    private readonly periodPs: number,
    hart: Hart | null = null,
  ) {
    this.machine = new Machine(image, hart);
  }

  /** The next instruction in the order of their ends; those squashed without a trap had no effect. */
  follow(instruction: Instruction): void {
    if (this.mismatch || (!instruction.isRetired && !instruction.trap)) return;
    const { machine } = this;
    const timing = this.timingOf(instruction);
    this.compare(instruction, 'pc', instruction.pc, machine.pc);
    const isInterrupted = instruction.trap?.cause === BigInt(Cause.TIMER);
    // A wfi ends before an interrupt is taken.
    const due = instruction.inst_bits !== WFI && machine.isInterruptDue(timing.decode);
    this.compare(instruction, 'interrupted', isInterrupted, due);
    if (isInterrupted) this.compareTrap(instruction, machine.interrupt());
    else {
      if (instruction.inst_bits === WFI)
        this.compare(instruction, 'wakes', true, machine.mayWake(timing.decode));
      const done = machine.step(timing);
      if ('cause' in done) this.compareTrap(instruction, done);
      else this.compareStep(instruction, done);
    }
    if (!this.mismatch) this.steps++;
  }

  /** A stage is left in the cycle before the next one is entered. Squashed instructions may have gone less far. */
  private timingOf({ enteredAt, endedAt }: Instruction): Timing {
    const lastCycle = (next: number): number => (enteredAt[next] ?? endedAt) / this.periodPs - 1;
    return { decode: lastCycle(EXECUTE), execute: lastCycle(MEMORY), memory: lastCycle(WRITEBACK) };
  }

  private compareStep(instruction: Instruction, step: Step): void {
    this.compare(instruction, 'trap', instruction.trap, null);
    this.compare(instruction, 'instruction word', instruction.inst_bits, step.inst);
    const write = step.rd ? { rd: step.rd, value: step.value } : null;
    this.compare(instruction, 'register written', instruction.write?.rd, write?.rd);
    this.compare(instruction, 'value written', instruction.write?.value, write?.value);
    this.compare(instruction, 'store address', instruction.store?.addr, step.store?.addr);
    this.compare(instruction, 'stored bytes', instruction.store?.strobe, step.store?.strobe);
    this.compare(instruction, 'stored data', instruction.store?.data, step.store?.data);
  }

  private compareTrap(instruction: Instruction, trap: Trap): void {
    this.compare(instruction, 'trap cause', Number(instruction.trap?.cause), trap.cause);
    this.compare(instruction, 'trap value', Number(instruction.trap?.tval), trap.tval);
    this.compare(instruction, 'trap target', Number(instruction.trap?.target), trap.target);
    this.compare(instruction, 'store of a trapping instruction', instruction.store, null);
  }

  private compare({ serial }: Instruction, what: string, trace: unknown, machine: unknown): void {
    if (trace !== machine && !this.mismatch) this.mismatch = { serial, what, trace, machine };
  }
}
