/** The instructions of a program, numbered once for both runs: address and machine code, as far as a trace has them. */
import { Known, type StaticTable } from 'uscope/cpu';

interface StaticInstruction {
  readonly pc: bigint | null;
  readonly bits: number | null;
}

export class StaticInstructions {
  /** What models annotate: names of instructions whose machine code says nothing. */
  private readonly names = new Map<number, string>();
  private readonly numbers = new Map<string, number>();
  private readonly list: StaticInstruction[] = [];

  get count(): number {
    return this.list.length;
  }

  /** The number of each entry of a block's table. */
  numbersOf({ pcLo, pcHi, bits, known }: StaticTable): Int32Array {
    return Int32Array.from(known, (what, index) => {
      const pc = (what & Known.PC) === 0 ? null : (BigInt(pcHi[index]!) << 32n) | BigInt(pcLo[index]!);
      return this.numberOf({ pc, bits: (what & Known.BITS) === 0 ? null : bits[index]! });
    });
  }

  at(number: number): StaticInstruction {
    return this.list[number] ?? { pc: null, bits: null };
  }

  hasName(number: number): boolean {
    return this.names.has(number);
  }

  nameAs(number: number, name: string): void {
    this.names.set(number, name);
  }

  /** '': none is known. */
  nameOf(number: number): string {
    return this.names.get(number) ?? '';
  }

  /** What a trace does not say is not compared. */
  readonly same = (x: number, y: number): boolean => {
    if (x === y) return true;
    const [a, b] = [this.list[x]!, this.list[y]!];
    if (a.pc !== null && b.pc !== null && a.pc !== b.pc) return false;
    return a.bits === null || b.bits === null || a.bits === b.bits;
  };

  private numberOf(one: StaticInstruction): number {
    const key = `${one.pc ?? ''}:${one.bits ?? ''}`;
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    this.numbers.set(key, this.list.length);
    return this.list.push(one) - 1;
  }
}
