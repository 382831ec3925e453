/** The values of the variables of a dump, and which of them a frame has changed: typed arrays, since millions of changes are not worth an object each. */
import { joinPieces } from '../../format/wide-fields.js';
import type { FieldPlace, VcdPlan } from './plan.js';

export class VariableValues {
  /** By variable: 1 once it has a value. Fields of events have none before the first one. */
  readonly known: Uint8Array;
  /** In the order of their first change since `forgetChanges`. */
  readonly changed: number[] = [];
  private readonly isChanged: Uint8Array;
  /** Low and high half of each piece; those of a variable are a row. */
  private readonly words: Uint32Array;
  /** By variable, its first word; one more at the end. */
  private readonly firstWord: Uint32Array;

  constructor(private readonly plan: Pick<VcdPlan, 'variables' | 'pieces' | 'unknownPieces'>) {
    const { variables, pieces, unknownPieces } = plan;
    this.known = new Uint8Array(variables);
    this.isChanged = new Uint8Array(variables);
    this.firstWord = new Uint32Array(variables + 1);
    for (let variable = 0; variable < variables; variable++)
      this.firstWord[variable + 1] =
        this.firstWord[variable] + 2 * (pieces[variable] + unknownPieces[variable]);
    this.words = new Uint32Array(this.firstWord[variables]);
  }

  /** Whether it is one field of at most 64 bits: then `lo` and `hi` are its value. */
  isSingle(variable: number): boolean {
    return this.firstWord[variable + 1] - this.firstWord[variable] === 2;
  }

  lo(variable: number): number {
    return this.words[this.firstWord[variable]];
  }

  hi(variable: number): number {
    return this.words[this.firstWord[variable] + 1];
  }

  /** Of a wide one. */
  value(variable: number): bigint {
    return joinPieces(this.row(variable, 0, this.plan.pieces[variable]));
  }

  /** Bits of a wide one of four states that are x or z; null: it has two. */
  unknown(variable: number): bigint | null {
    const count = this.plan.unknownPieces[variable];
    return count === 0 ? null : joinPieces(this.row(variable, this.plan.pieces[variable], count));
  }

  /** A field gets a value, of which it takes the bits that it has. @param first variable of the row of fields */
  set(first: number, place: FieldPlace, lo: number, hi: number): void {
    const index = first + place.variable;
    const at = this.firstWord[index] + 2 * place.piece;
    const low = (lo & place.lowMask) >>> 0;
    const high = (hi & place.highMask) >>> 0;
    const { words } = this;
    if (words[at] === low && words[at + 1] === high && this.known[index] === 1) return;
    words[at] = low;
    words[at + 1] = high;
    this.change(index);
  }

  /** A field becomes what it is plus a value. */
  add(first: number, place: FieldPlace, lo: number, hi: number): void {
    const at = this.firstWord[first + place.variable] + 2 * place.piece;
    const low = this.words[at] + lo;
    const carry = low > 0xffff_ffff ? 1 : 0;
    this.set(first, place, low >>> 0, (this.words[at + 1] + hi + carry) >>> 0);
  }

  /** A variable of one bit. */
  setBit(variable: number, bit: number): void {
    const at = this.firstWord[variable];
    if (this.words[at] === bit && this.known[variable] === 1) return;
    this.words[at] = bit;
    this.change(variable);
  }

  forgetChanges(): void {
    for (const variable of this.changed) this.isChanged[variable] = 0;
    this.changed.length = 0;
  }

  private change(variable: number): void {
    this.known[variable] = 1;
    if (this.isChanged[variable] === 1) return;
    this.isChanged[variable] = 1;
    this.changed.push(variable);
  }

  private row(variable: number, from: number, count: number): bigint[] {
    const first = this.firstWord[variable] + 2 * from;
    return Array.from({ length: count }, (_, piece) => {
      const at = first + 2 * piece;
      return (BigInt(this.words[at + 1]) << 32n) | BigInt(this.words[at]);
    });
  }
}
