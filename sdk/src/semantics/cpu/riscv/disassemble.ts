/** RISC-V machine code as text: RV32 and RV64 with I, M, A, F, D, C, Zicsr, Zifencei and the privileged instructions. */
import { COMPRESSED, COMPRESSED_OPERANDS, type CompressedEncoding } from './compressed.js';
import { ENCODINGS, type Encoding, PSEUDO, type Xlen } from './encodings.js';
import { instructionLength } from './isa.js';
import {
  compileOperands,
  field,
  isReservedRounding,
  OPERANDS,
  type Operand,
  type OperandContext,
} from './operands.js';

export interface DisassembleOptions {
  readonly xlen: Xlen;
  /** Address of the instruction: branch and jump targets are shown as addresses; without it as distances (`.+8`). */
  readonly pc?: bigint | undefined;
  /**
   * Pseudo-instructions (`li`, `ret`, `beqz`, …) where they apply, and compressed instructions as what they represent. False: every
   * instruction under its own name (`addi`, `c.jr`). Default true.
   */
  readonly pseudo?: boolean | undefined;
}

interface Row extends Encoding {
  readonly text: Operand;
  readonly hasRounding: boolean;
}

interface CompressedRow extends CompressedEncoding {
  readonly text: Operand;
}

const OPCODES = 128;
const rows = byOpcode(ENCODINGS);
const pseudoRows = byOpcode(PSEUDO);
const compressedRows: readonly CompressedRow[] = COMPRESSED.map((encoding) => ({
  ...encoding,
  text: compileOperands(encoding.operands, COMPRESSED_OPERANDS),
}));

/**
 * One instruction: mnemonic, a space, operands separated by commas, as GNU objdump writes them. Of a 16-bit instruction the upper half of
 * `bits` is ignored. What is not an instruction is `.word 0x…` (`.half 0x…` for 16 bits).
 * @param bits u32
 */
export function disassemble(bits: number, { xlen, pc, pseudo = true }: DisassembleOptions): string {
  const context: OperandContext = { xlen, pc };
  if (instructionLength(bits) === 2) return compressed(bits & 0xffff, context, pseudo);
  return word(bits >>> 0, context, pseudo) ?? `.word 0x${hexDigits(bits >>> 0, 8)}`;
}

/** Whether `disassemble` knew no instruction. */
export const isUnknown = (text: string): boolean => text.startsWith('.word ') || text.startsWith('.half ');

function word(bits: number, context: OperandContext, pseudo: boolean): string | null {
  const row = (pseudo && find(pseudoRows, bits, context.xlen)) || find(rows, bits, context.xlen);
  if (!row) return null;
  const operands = row.text(bits, context);
  return operands ? `${row.name} ${operands}` : row.name;
}

function compressed(bits: number, context: OperandContext, pseudo: boolean): string {
  const row = compressedRows.find(
    ({ match, mask, xlen, accepts }) =>
      (bits & mask) === match && (xlen === 0 || xlen === context.xlen) && accepts(bits),
  );
  if (!row) return `.half 0x${hexDigits(bits, 4)}`;
  const expanded = pseudo ? word(row.expand(bits), context, true) : null;
  if (expanded !== null) return expanded;
  const operands = row.text(bits, context);
  return operands ? `${row.name} ${operands}` : row.name;
}

function find(table: readonly (readonly Row[])[], bits: number, xlen: Xlen): Row | undefined {
  return table[bits & (OPCODES - 1)]?.find(
    (row) =>
      (bits & row.mask) >>> 0 === row.match &&
      (row.xlen === 0 || row.xlen === xlen) &&
      !(row.hasRounding && isReservedRounding(bits)) &&
      !(row.sameSources && field(bits, 19, 15) !== field(bits, 24, 20)),
  );
}

/** All tables agree in the lowest seven bits: they are the index. */
function byOpcode(encodings: readonly Encoding[]): readonly (readonly Row[])[] {
  const table: Row[][] = Array.from({ length: OPCODES }, () => []);
  for (const encoding of encodings) {
    const text = compileOperands(encoding.operands, OPERANDS);
    const hasRounding = /[~^]/.test(encoding.operands);
    table[encoding.match & (OPCODES - 1)]?.push({ ...encoding, text, hasRounding });
  }
  return table;
}

/** Two digits at a time: six times as fast as `toString(16)`, which a program of unknown instructions calls for each. */
const BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** @param digits an even number */
function hexDigits(value: number, digits: number): string {
  let text = '';
  for (let shift = digits * 4 - 8; shift >= 0; shift -= 8) text += BYTES[(value >>> shift) & 0xff];
  return text;
}
