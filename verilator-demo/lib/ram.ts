/** The RAM of one machine or of several, with the operations of the A extension and what harts have reserved (rtl/atomic_unit.sv). */

const RAM_WORDS = 16_384;

/** Bytes of a word. Those not in the strobe are 0 or not the store's. */
export interface Store {
  readonly addr: number;
  readonly strobe: number;
  readonly data: number;
}

/** funct5 of the instructions. */
const LR = 2;
const SC = 3;

const OPERATIONS: Readonly<Record<number, (old: number, operand: number) => number>> = {
  0: (old, operand) => old + operand,
  1: (_old, operand) => operand,
  4: (old, operand) => old ^ operand,
  8: (old, operand) => old | operand,
  12: (old, operand) => old & operand,
  16: (old, operand) => Math.min(old | 0, operand | 0),
  20: (old, operand) => Math.max(old | 0, operand | 0),
  24: (old, operand) => Math.min(old >>> 0, operand >>> 0),
  28: (old, operand) => Math.max(old >>> 0, operand >>> 0),
};

export class Ram {
  private readonly words = new Uint32Array(RAM_WORDS);
  /** Address of the word that a hart has reserved. */
  private readonly reserved = new Map<number, number>();

  constructor(
    private readonly base: number,
    image: readonly number[],
  ) {
    this.words.set(image);
  }

  /** Does the instruction set have this instruction, an AMO on words as far as its opcode and funct3 say? */
  static hasOperation(inst: number): boolean {
    const funct5 = inst >>> 27;
    if (funct5 === LR) return ((inst >>> 20) & 31) === 0;
    return funct5 === SC || funct5 in OPERATIONS;
  }

  /** A word with the bytes of a store in it. */
  static merge(word: number, { strobe, data }: Store): number {
    let mask = 0;
    for (let lane = 0; lane < 4; lane++) if ((strobe >> lane) & 1) mask |= 0xff << (8 * lane);
    return ((word & ~mask) | (data & mask)) >>> 0;
  }

  /** The word that holds this address; undefined outside the RAM. */
  read(address: number): number | undefined {
    const offset = (address - this.base) >>> 0;
    return offset < 4 * RAM_WORDS ? this.words[offset >>> 2] : undefined;
  }

  /** A store to an address inside. Reservations of the word end. */
  write(store: Store): void {
    const index = ((store.addr - this.base) >>> 0) >>> 2;
    this.words[index] = Ram.merge(this.words[index]!, store);
    for (const [hart, address] of this.reserved) if (address === store.addr) this.reserved.delete(hart);
  }

  /** Executes LR, SC or an AMO at an address inside; returns what the instruction's register gets. */
  atomic(hart: number, funct5: number, addr: number, operand: number): number {
    const old = this.read(addr)!;
    const put = (data: number): void => this.write({ addr, strobe: 15, data: data >>> 0 });
    if (funct5 === LR) {
      this.reserved.set(hart, addr);
    } else if (funct5 === SC) {
      const holds = this.reserved.get(hart) === addr;
      this.reserved.delete(hart);
      if (holds) put(operand);
      return holds ? 0 : 1;
    } else {
      put(OPERATIONS[funct5]!(old, operand));
    }
    return old;
  }
}
