/**
 * Follows a traced run of several harts with as many reference machines on one RAM. As with one (replay.ts), the traces say
 * only when things happened; the trace of the interconnect says in which order memory performed stores and atomic operations.
 * Values follow from that, and are compared: a load sees what memory held in its cycle, or what its hart's own stores that
 * have not been performed yet will put there; an atomic operation happens when memory performs it.
 */
import type { Instruction } from './audit.mjs';
import { isAtomic } from './instruction.js';
import type { Performed } from './noc-audit.mjs';
import { Ram } from './ram.js';
import { type Mismatch, Replay } from './replay.js';
import { RAM_BASE } from './rv32im.js';

const WRITEBACK = 4;

export interface MultiMismatch extends Mismatch {
  readonly hart: number;
}

/** Replays a whole run. */
export class MultiReplay {
  readonly replays: readonly Replay[];
  /** The first disagreement; nothing is followed beyond it. */
  mismatch: MultiMismatch | null = null;
  private readonly ram: Ram;
  /** Of each hart, the atomic operations that memory has performed for it, next one first. */
  private readonly atomics: Performed[][];

  constructor(
    image: readonly number[],
    harts: number,
    private readonly periodPs: number,
  ) {
    this.ram = new Ram(RAM_BASE, image);
    const hart = (index: number) => ({ index, harts, ram: this.ram });
    this.replays = Array.from({ length: harts }, (_, index) => new Replay(image, periodPs, hart(index)));
    this.atomics = this.replays.map(() => []);
  }

  /** @param traced what each hart's trace holds, in the order of their ends; @param performed in memory's order */
  follow(traced: readonly (readonly Instruction[])[], performed: readonly Performed[]): void {
    const queues = traced.map((all) => all.filter(({ isRetired, trap }) => isRetired || trap));
    const next = queues.map(() => 0);
    const stores = performed.filter(({ opcode }) => opcode === 'write');
    for (const one of performed)
      if (['lr', 'sc', 'amo'].includes(one.opcode)) this.atomics[one.port]?.push(one);
    let store = 0;
    while (!this.mismatch) {
      let first = -1;
      let when = store < stores.length ? atEnd(stores[store]!.cycle) : Number.POSITIVE_INFINITY;
      queues.forEach((queue, hart) => {
        const instruction = queue[next[hart]!];
        const time = instruction ? this.timeOf(instruction) : Number.POSITIVE_INFINITY;
        if (time < when) {
          first = hart;
          when = time;
        }
      });
      if (first >= 0) this.step(first, queues[first]![next[first]!++]!);
      else if (store < stores.length) this.perform(stores[store++]!);
      else break;
    }
    if (!this.mismatch) this.checkRest();
  }

  /** When an instruction meets memory, in half cycles: reads in the course of one, writes and atomic operations at its end. */
  private timeOf(instruction: Instruction): number {
    const left = (instruction.enteredAt[WRITEBACK] ?? instruction.endedAt) / this.periodPs - 1;
    // The answer comes in the cycle after memory has performed it.
    return performsAtomic(instruction) ? atEnd(left - 1) : 2 * left;
  }

  private step(hart: number, instruction: Instruction): void {
    const replay = this.replays[hart]!;
    if (performsAtomic(instruction)) {
      const done = this.atomics[hart]!.shift();
      const cycle = (this.timeOf(instruction) - 1) / 2;
      this.compare(hart, instruction.serial, 'cycle of the atomic operation', done?.cycle, cycle);
      const address = replay.machine.registers[(instruction.inst_bits >>> 15) & 31];
      this.compare(hart, instruction.serial, 'address of the atomic operation', done?.addr, address);
      this.compare(hart, instruction.serial, 'stores before it', 0, replay.machine.pending.length);
    }
    if (!this.mismatch) replay.follow(instruction);
    if (replay.mismatch && !this.mismatch) this.mismatch = { hart, ...replay.mismatch };
  }

  private perform({ port, addr }: Performed): void {
    const store = this.replays[port]!.machine.performStore();
    this.compare(port, -1, 'store performed', addr, store?.addr);
  }

  /** Memory has performed all that the harts did, and no more. */
  private checkRest(): void {
    this.replays.forEach(({ machine }, hart) => {
      this.compare(hart, -1, 'stores never performed', 0, machine.pending.length);
      this.compare(hart, -1, 'atomic operations of no instruction', this.atomics[hart]!.length, 0);
    });
  }

  private compare(hart: number, serial: number, what: string, trace: unknown, machine: unknown): void {
    if (trace !== machine && !this.mismatch) this.mismatch = { hart, serial, what, trace, machine };
  }
}

function performsAtomic({ inst_bits, trap }: Instruction): boolean {
  return isAtomic(inst_bits) && !trap;
}

function atEnd(cycle: number): number {
  return 2 * cycle + 1;
}
