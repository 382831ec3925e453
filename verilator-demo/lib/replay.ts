/**
 * Follows a traced run with the reference machine. Of the trace it takes only when things happened: in which cycle an
 * instruction left a stage, and where an interrupt was taken. What must follow from that, it checks: every pc, instruction
 * word, register write and store, every trap, and that an interrupt was taken as soon as one was due and never before.
 */
import type { Instruction } from './audit.mjs';
import { WFI } from './instruction.js';
import { type O3Instruction, Stage } from './o3-audit.mjs';
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

/** What the replay takes from an instruction of either core. */
export type Followed = Pick<
  Instruction,
  'serial' | 'pc' | 'inst_bits' | 'isRetired' | 'trap' | 'write' | 'store' | 'endedAt'
>;

/**
 * Follows instructions of a core; `timingOf` says when each did what time has to do with.
 */
export class Replay<T extends Followed = Instruction> {
  readonly machine: Machine;
  /** Instructions and traps that agreed. */
  steps = 0;
  /** The first disagreement; nothing is followed beyond it. */
  mismatch: Mismatch | null = null;

  constructor(
    image: readonly number[],
    private readonly periodPs: number,
    hart: Hart | null = null,
    private readonly timingOf: (instruction: T, periodPs: number) => Timing = inOrderTiming as never,
  ) {
    this.machine = new Machine(image, hart);
  }

  /** The next instruction in the order of their ends; those squashed without a trap had no effect. */
  follow(instruction: T): void {
    if (this.mismatch || (!instruction.isRetired && !instruction.trap)) return;
    const { machine } = this;
    const timing = this.timingOf(instruction, this.periodPs);
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

  private compareStep(instruction: T, step: Step): void {
    this.compare(instruction, 'trap', instruction.trap, null);
    this.compare(instruction, 'instruction word', instruction.inst_bits, step.inst);
    const write = step.rd ? { rd: step.rd, value: step.value } : null;
    this.compare(instruction, 'register written', instruction.write?.rd, write?.rd);
    this.compare(instruction, 'value written', instruction.write?.value, write?.value);
    this.compare(instruction, 'store address', instruction.store?.addr, step.store?.addr);
    this.compare(instruction, 'stored bytes', instruction.store?.strobe, step.store?.strobe);
    this.compare(instruction, 'stored data', instruction.store?.data, step.store?.data);
  }

  private compareTrap(instruction: T, trap: Trap): void {
    this.compare(instruction, 'trap cause', Number(instruction.trap?.cause), trap.cause);
    this.compare(instruction, 'trap value', Number(instruction.trap?.tval), trap.tval);
    this.compare(instruction, 'trap target', Number(instruction.trap?.target), trap.target);
    this.compare(instruction, 'store of a trapping instruction', instruction.store, null);
  }

  private compare({ serial }: T, what: string, trace: unknown, machine: unknown): void {
    if (trace !== machine && !this.mismatch) this.mismatch = { serial, what, trace, machine };
  }
}

/** A stage is left in the cycle before the next one is entered. Squashed instructions may have gone less far. */
function inOrderTiming({ enteredAt, endedAt }: Instruction, periodPs: number): Timing {
  const lastCycle = (next: number): number => (enteredAt[next] ?? endedAt) / periodPs - 1;
  return { decode: lastCycle(EXECUTE), execute: lastCycle(MEMORY), memory: lastCycle(WRITEBACK) };
}

/**
 * The out-of-order core takes interrupts, accesses CSRs and stores to devices in the cycle in which an instruction commits. A load
 * reads in its last cycle in memory.
 */
export function outOfOrderTiming({ enteredAt, endedAt }: O3Instruction, periodPs: number): Timing {
  const commit = endedAt / periodPs - 1;
  const isLoad = enteredAt[Stage.MEMORY] != null;
  const memory = isLoad ? (enteredAt[Stage.COMPLETE] ?? endedAt) / periodPs - 1 : commit;
  return { decode: commit, execute: commit, memory };
}
