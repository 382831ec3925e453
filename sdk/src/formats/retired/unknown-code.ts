/** Machine code that this project's disassembler does not know: of such the log's text is kept. */
import { disassemble, isUnknown } from '../../semantics/cpu/riscv/index.js';

const MOST_KNOWN = 1 << 16;

export class UnknownCode {
  private readonly known = new Map<number, boolean>();

  has(bits: number, xlen: 32 | 64): boolean {
    let answer = this.known.get(bits);
    if (answer === undefined) {
      if (this.known.size >= MOST_KNOWN) this.known.clear();
      answer = isUnknown(disassemble(bits, { xlen }));
      this.known.set(bits, answer);
    }
    return answer;
  }
}
