/** Terms about an instruction by itself: its text, its address, its numbers. */
import { UscopeError } from '../../base/errors.js';
import type { Trace } from '../../reader/index.js';
import { BlockEnd, endOf, type InstructionBlock, Known, rowNumber } from '../blocks/block.js';
import type { CpuCore } from '../cpu/cores.js';
import { disassemble } from '../cpu/riscv/disassemble.js';
import type { NumberTerm, TextTerm } from './pattern.js';

/** A term, as it is asked of blocks of instructions. */
export interface RowCondition {
  /** Clears the entries of the rows for which it does not hold. Blocks come in order of birth. */
  keep(block: InstructionBlock, rows: Uint8Array): void | Promise<void>;
}

/** What is remembered of distinct instructions, at most. */
const MAX_KNOWN = 1_000_000;

/** Null where the machine code is not known or not RISC-V's. */
export function disassemblyOf(
  { xlen }: CpuCore,
  { pcLo, pcHi, bits, known }: InstructionBlock['staticTable'],
  index: number,
): string | null {
  if (xlen === null || (known[index] & Known.BITS) === 0 || bits[index] === 0) return null;
  const pc = (known[index] & Known.PC) === 0 ? undefined : pcOf(pcLo[index], pcHi[index]);
  return disassemble(bits[index], { xlen, pc });
}

export const pcOf = (low: number, high: number): bigint => (BigInt(high) << 32n) | BigInt(low);

/** The expression matches the disassembly or an annotation. What an instruction is called is looked at once for each distinct one. */
export class TextCondition implements RowCondition {
  /** By row of the block looked at last, its first annotation that matches. */
  annotated: ReadonlyMap<number, string> = new Map();
  /** By address and machine code. */
  private readonly known = new Map<string, boolean>();

  constructor(
    private readonly trace: Trace,
    private readonly core: CpuCore,
    private readonly term: TextTerm,
  ) {}

  async keep(block: InstructionBlock, rows: Uint8Array): Promise<void> {
    const matching = this.matchingStatics(block);
    this.annotated = await this.matchingAnnotations(block);
    for (let row = 0; row < rows.length; row++) {
      if (matching[block.statics[row]] === 0 && !this.annotated.has(row)) rows[row] = 0;
    }
  }

  private matchingStatics({ staticTable }: InstructionBlock): Uint8Array {
    const { pcLo, pcHi, bits, known } = staticTable;
    return Uint8Array.from(pcLo, (low, index) => {
      if (this.core.xlen === null || (known[index] & Known.BITS) === 0) return 0;
      const key = `${(known[index] & Known.PC) === 0 ? '' : `${pcHi[index]} ${low}`} ${bits[index]}`;
      let matches = this.known.get(key);
      if (matches === undefined) {
        if (this.known.size >= MAX_KNOWN) this.known.clear();
        matches = this.term.text.test(disassemblyOf(this.core, staticTable, index) ?? '');
        this.known.set(key, matches);
      }
      return matches ? 1 : 0;
    });
  }

  private async matchingAnnotations({ annotations }: InstructionBlock): Promise<Map<number, string>> {
    const found = new Map<number, string>();
    const { term, trace } = this;
    if (annotations.row.length === 0) return found;
    await trace.strings.load(new Set(annotations.string));
    const matches = new Map<number, string | null>();
    annotations.string.forEach((string, index) => {
      let text = matches.get(string);
      if (text === undefined) {
        const whole = trace.strings.peek(string);
        text = whole !== undefined && term.text.test(whole) ? whole : null;
        matches.set(string, text);
      }
      const row = annotations.row[index];
      if (text !== null && !found.has(row)) found.set(row, text);
    });
    return found;
  }
}

export class AddressCondition implements RowCondition {
  constructor(private readonly term: NumberTerm) {}

  keep({ staticTable, statics }: InstructionBlock, rows: Uint8Array): void {
    const { pcLo, pcHi, known } = staticTable;
    const ranges = [this.term, ...(this.term.more ?? [])];
    const matching = Uint8Array.from(pcLo, (low, index) => {
      if ((known[index] & Known.PC) === 0) return 0;
      const pc = pcOf(low, pcHi[index]);
      return ranges.some(({ first, last }) => pc >= first && pc <= last) ? 1 : 0;
    });
    for (let row = 0; row < rows.length; row++) rows[row] &= matching[statics[row]];
  }
}

/** The number of the instruction in the trace. */
export class SequenceCondition implements RowCondition {
  private readonly first: number;
  private readonly last: number;

  constructor(
    term: NumberTerm,
    private readonly core: CpuCore,
  ) {
    [this.first, this.last] = [Number(term.first), Number(term.last)];
  }

  /** @throws UscopeError READER_RANGE: the trace does not say */
  keep(block: InstructionBlock, rows: Uint8Array): void {
    if (block.firstRow < 0) throw unnumbered(this.core);
    for (let row = 0; row < rows.length; row++) {
      const number = rowNumber(block, row);
      if (number < this.first || number > this.last) rows[row] = 0;
    }
  }
}

/** The number among the retired ones, in program order, from 0 on. Blocks are to come from the first on. */
export class RetiredCondition implements RowCondition {
  private readonly first: number;
  private readonly last: number;
  private retired = 0;

  constructor(
    term: NumberTerm,
    private readonly core: CpuCore,
  ) {
    [this.first, this.last] = [Number(term.first), Number(term.last)];
  }

  /** None of the blocks to come has one. */
  get isOver(): boolean {
    return this.retired > this.last;
  }

  /** @throws UscopeError READER_RANGE: the trace does not say */
  keep(block: InstructionBlock, rows: Uint8Array): void {
    if (block.firstRow < 0) throw unnumbered(this.core);
    for (let row = 0; row < rows.length; row++) {
      const isRetired = endOf(block, row) === BlockEnd.RETIRED;
      if (!isRetired || this.retired < this.first || this.retired > this.last) rows[row] = 0;
      if (isRetired) this.retired++;
    }
  }
}

function unnumbered({ name }: CpuCore): UscopeError {
  return new UscopeError(
    'READER_RANGE',
    `the instructions of ${name} have no numbers: the trace begins with some in flight, search by pc: or by text`,
  );
}
