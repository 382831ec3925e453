/** The texts of a program's instructions as indices of a dictionary. Most depend on the machine code alone; those with a target depend on the address too. */
import { type CpuCore, disassemble } from '../../semantics/cpu/index.js';
import { TextDictionary } from '../parquet/dictionary.js';

/** The text of a machine code depends on its address. */
const RELATIVE = -1;

interface Placed {
  readonly hi: number;
  readonly bits: number;
  readonly index: number;
}

export class InstructionTexts {
  readonly dictionary = new TextDictionary();
  private readonly byBits = new Map<number, number>();
  /** By the low half of the address: the last one there. */
  private readonly placed = new Map<number, Placed>();

  constructor(private readonly xlen: NonNullable<CpuCore['xlen']>) {}

  /** Before indices are asked for: those of an earlier row group are no more. */
  begin(): void {
    if (this.dictionary.size > 0) return;
    this.byBits.clear();
    this.placed.clear();
  }

  /** @param hasPc the address is known */
  indexOf(bits: number, hasPc: boolean, lo: number, hi: number): number {
    const index = this.byBits.get(bits) ?? this.addBits(bits);
    if (index !== RELATIVE) return index;
    if (!hasPc) return this.intern(bits, undefined);
    const known = this.placed.get(lo);
    return known?.bits === bits && known.hi === hi ? known.index : this.place(bits, lo, hi);
  }

  private addBits(bits: number): number {
    const { xlen } = this;
    const text = disassemble(bits, { xlen });
    const isRelative = [0n, 0x1000n].some((pc) => disassemble(bits, { xlen, pc }) !== text);
    const index = isRelative ? RELATIVE : this.dictionary.intern(text);
    this.byBits.set(bits, index);
    return index;
  }

  private place(bits: number, lo: number, hi: number): number {
    const index = this.intern(bits, (BigInt(hi) << 32n) | BigInt(lo));
    this.placed.set(lo, { hi, bits, index });
    return index;
  }

  private intern(bits: number, pc: bigint | undefined): number {
    return this.dictionary.intern(disassemble(bits, { xlen: this.xlen, pc }));
  }
}
