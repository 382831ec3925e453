/** mtime and mtimecmp (rtl/devices.sv). mtime is the number of cycles since reset. */

const NEVER = (1n << 64n) - 1n;

export class Timer {
  /** Values of mtimecmp and the cycle from which each is seen, oldest first. */
  private readonly compares: { from: number; value: bigint }[] = [{ from: 0, value: NEVER }];

  /** Is the interrupt raised in this cycle? Cycles may be asked in any order. */
  interruptsAt(cycle: number): boolean {
    return BigInt(cycle) >= this.compareAt(cycle);
  }

  /** Writes half of mtimecmp at the end of a cycle. */
  writeHalf(isHigh: boolean, half: number, cycle: number): void {
    const old = this.compares.at(-1)!.value;
    const word = BigInt(half >>> 0);
    const value = isHigh ? (word << 32n) | (old & 0xffff_ffffn) : (old & ~0xffff_ffffn) | word;
    this.compares.push({ from: cycle + 1, value });
  }

  /** Half of mtimecmp. */
  readHalf(isHigh: boolean): number {
    const { value } = this.compares.at(-1)!;
    return Number(isHigh ? value >> 32n : value & 0xffff_ffffn);
  }

  private compareAt(cycle: number): bigint {
    for (let i = this.compares.length - 1; i > 0; i--) {
      if (this.compares[i]!.from <= cycle) return this.compares[i]!.value;
    }
    return NEVER;
  }
}
