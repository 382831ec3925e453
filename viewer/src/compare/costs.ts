/**
 * What the instructions of a program cost in each run: how often each retired, and the cycles from the retirement before it to its own. The
 * cycles of all instructions add up to those of the run.
 */

export type Side = 'a' | 'b';

export interface SideCost {
  readonly count: number;
  readonly cycles: number;
}

interface Cost {
  /** Of `statics.ts`. */
  readonly instruction: number;
  readonly a: SideCost;
  readonly b: SideCost;
}

class SideCosts {
  private counts = new Float64Array(1024);
  private cycles = new Float64Array(1024);
  /** Cycle of the retirement before; null: none yet. */
  private last: number | null = null;

  add(instruction: number, cycle: number): void {
    if (instruction >= this.counts.length) this.grow(instruction + 1);
    this.counts[instruction]! += 1;
    this.cycles[instruction]! += this.last === null ? 0 : cycle - this.last;
    this.last = cycle;
  }

  of(instruction: number): SideCost {
    return { count: this.counts[instruction] ?? 0, cycles: this.cycles[instruction] ?? 0 };
  }

  private grow(needed: number): void {
    const wider = (from: Float64Array): Float64Array<ArrayBuffer> => {
      const to = new Float64Array(2 ** Math.ceil(Math.log2(needed * 2)));
      to.set(from);
      return to;
    };
    this.counts = wider(this.counts);
    this.cycles = wider(this.cycles);
  }
}

export class Costs {
  private readonly sides = { a: new SideCosts(), b: new SideCosts() };

  /** Instructions of each run in the order in which they retired. */
  add(side: Side, instruction: number, cycle: number): void {
    this.sides[side].add(instruction, cycle);
  }

  of(instruction: number): Cost {
    return { instruction, a: this.sides.a.of(instruction), b: this.sides.b.of(instruction) };
  }

  /** Those whose cycles differ most first. @param instructions how many there are */
  largest(instructions: number, limit: number): Cost[] {
    const change = ({ a, b }: Cost): number => Math.abs(b.cycles - a.cycles);
    return Array.from({ length: instructions }, (_, instruction) => this.of(instruction))
      .filter(({ a, b }) => a.count !== b.count || a.cycles !== b.cycles)
      .sort((x, y) => change(y) - change(x))
      .slice(0, limit);
  }
}
