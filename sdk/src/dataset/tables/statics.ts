/** The distinct instructions of a program, numbered: an open hash table of their addresses and machine codes, as a trace may have millions. */
import { type InstructionBlock, Known } from '../../semantics/cpu/index.js';

/** Of a row group; programs have fewer. */
const MAX_STATICS = 131_072;
/** A quarter of the table's entries stays free: with more, searches become long. */
const LOAD = 0.75;
const FIRST_ENTRIES = 1 << 12;
const WORDS = 4;

export class StaticNumbers {
  private size = 0;
  /** Of each number: both halves of its address, machine code, `Known`. */
  private words = new Uint32Array(FIRST_ENTRIES * WORDS);
  /** Hash to number plus 1; 0: free. */
  private table = new Uint32Array(FIRST_ENTRIES);

  get isFull(): boolean {
    return this.size >= MAX_STATICS;
  }

  restart(): void {
    this.size = 0;
    this.table.fill(0);
  }

  /** The numbers of a block's static instructions. */
  numbersOf({ staticTable }: InstructionBlock): Uint32Array {
    const { pcLo, pcHi, bits, known } = staticTable;
    const numbers = new Uint32Array(pcLo.length);
    for (let i = 0; i < pcLo.length; i++) numbers[i] = this.numberOf(pcLo[i], pcHi[i], bits[i], known[i]);
    return numbers;
  }

  /** Of one whose machine code is known. */
  bitsOf(number: number): number {
    return this.words[number * WORDS + 2];
  }

  pcOf(number: number): bigint | undefined {
    const at = number * WORDS;
    if (!(this.words[at + 3] & Known.PC)) return undefined;
    return (BigInt(this.words[at + 1]) << 32n) | BigInt(this.words[at]);
  }

  private numberOf(lo: number, hi: number, bits: number, known: number): number {
    const { words, table } = this;
    const mask = table.length - 1;
    for (let at = hashOf(lo, hi, bits) & mask; ; at = (at + 1) & mask) {
      const number = table[at] - 1;
      if (number < 0) return this.add(at, lo, hi, bits, known);
      const word = number * WORDS;
      if (
        words[word] === lo &&
        words[word + 1] === hi &&
        words[word + 2] === bits &&
        words[word + 3] === known
      )
        return number;
    }
  }

  private add(at: number, lo: number, hi: number, bits: number, known: number): number {
    const number = this.size++;
    const word = number * WORDS;
    this.words[word] = lo;
    this.words[word + 1] = hi;
    this.words[word + 2] = bits;
    this.words[word + 3] = known;
    this.table[at] = number + 1;
    if (this.size > this.table.length * LOAD) this.grow();
    return number;
  }

  private grow(): void {
    const { words, table, size } = this;
    this.words = new Uint32Array(words.length * 2);
    this.words.set(words);
    this.table = new Uint32Array(table.length * 2);
    const mask = this.table.length - 1;
    for (let number = 0; number < size; number++) {
      const word = number * WORDS;
      let at = hashOf(words[word], words[word + 1], words[word + 2]) & mask;
      while (this.table[at] !== 0) at = (at + 1) & mask;
      this.table[at] = number + 1;
    }
  }
}

function hashOf(lo: number, hi: number, bits: number): number {
  let hash = Math.imul(lo, 0x9e37_79b1) ^ Math.imul(hi + bits, 0x85eb_ca77);
  hash ^= hash >>> 15;
  return Math.imul(hash, 0xc2b2_ae3d) >>> 7;
}
