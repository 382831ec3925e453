/** Programs with labels, of the words that `assemble.ts` makes. */
import { ECALL, encode, NOP } from '../lib/assemble.js';
import { RAM_BASE } from '../lib/rv32im.js';

/** Where the data of a program begins, from the start of the memory. */
export const DATA = 0x4000;

export interface Program {
  readonly words: readonly number[];
  /** Addresses of the loop that the program is about. */
  readonly loop: { readonly from: number; readonly to: number };
}

/** Operands of branches: `beq` is 0, `bne` 1, `blt` 4, `bge` 5, `bltu` 6, `bgeu` 7. */
export const Branch = { EQ: 0, NE: 1, LT: 4, GE: 5, LTU: 6, GEU: 7 } as const;

export class Assembly {
  private readonly words: number[] = [];
  private readonly labels = new Map<string, number>();
  private readonly fixes: { readonly at: number; readonly label: string; word(offset: number): number }[] =
    [];

  add(...words: (number | readonly number[])[]): this {
    this.words.push(...words.flat());
    return this;
  }

  label(name: string): this {
    this.labels.set(name, this.words.length);
    return this;
  }

  branch(funct3: number, rs1: number, rs2: number, label: string): this {
    return this.later(label, (offset) => encode.b(funct3, rs1, rs2, offset));
  }

  jump(rd: number, label: string): this {
    return this.later(label, (offset) => encode.jal(rd, offset));
  }

  /** Ends the program, and puts data behind it. The loop is between the labels `loop` and `end`. */
  finish(data: readonly number[]): Program {
    this.add(ECALL, NOP, NOP, NOP, NOP);
    for (const { at, label, word } of this.fixes) this.words[at] = word(4 * (this.placeOf(label) - at));
    const gap = DATA / 4 - this.words.length;
    if (gap < 0) throw new Error(`the program has ${this.words.length} words, more than ${DATA / 4}`);
    return {
      words: [...this.words, ...Array.from({ length: gap }, () => 0), ...data],
      loop: { from: RAM_BASE + 4 * this.placeOf('loop'), to: RAM_BASE + 4 * this.placeOf('end') },
    };
  }

  private later(label: string, word: (offset: number) => number): this {
    this.fixes.push({ at: this.words.length, label, word });
    this.words.push(NOP);
    return this;
  }

  private placeOf(label: string): number {
    const place = this.labels.get(label);
    if (place === undefined) throw new Error(`there is no label ${label}`);
    return place;
  }
}
