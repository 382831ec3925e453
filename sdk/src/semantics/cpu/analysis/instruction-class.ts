/** What kind of work a RISC-V instruction is, from its machine code. */
import { expandHalf } from '../riscv/compressed.js';
import type { Xlen } from '../riscv/encodings.js';
import { instructionLength } from '../riscv/isa.js';

/** In the order in which equally frequent ones are listed. */
export const INSTRUCTION_CLASSES = [
  'integer',
  'load',
  'store',
  'branch',
  'jump',
  'multiply',
  'divide',
  'float',
  'float load',
  'float store',
  'atomic',
  'vector',
  'csr',
  'fence',
  'system',
  'other',
] as const;
export type InstructionClass = (typeof INSTRUCTION_CLASSES)[number];

const classIndex = (name: InstructionClass): number => INSTRUCTION_CLASSES.indexOf(name);
const OTHER = classIndex('other');
const HALF_WORDS = 0x1_0000;
const NOT_KNOWN = 0xff;

/** Opcode (lowest seven bits) -> index of the class, where that says all. */
const BY_OPCODE = new Map<number, number>(
  (
    [
      [0x03, 'load'],
      [0x0f, 'fence'],
      [0x13, 'integer'],
      [0x17, 'integer'],
      [0x1b, 'integer'],
      [0x23, 'store'],
      [0x2f, 'atomic'],
      [0x37, 'integer'],
      [0x43, 'float'],
      [0x47, 'float'],
      [0x4b, 'float'],
      [0x4f, 'float'],
      [0x53, 'float'],
      [0x57, 'vector'],
      [0x63, 'branch'],
      [0x67, 'jump'],
      [0x6f, 'jump'],
    ] as const
  ).map(([opcode, name]) => [opcode, classIndex(name)]),
);
const [INTEGER, MULTIPLY, DIVIDE, CSR, SYSTEM, VECTOR] = (
  ['integer', 'multiply', 'divide', 'csr', 'system', 'vector'] as const
).map(classIndex);

/** Index into `INSTRUCTION_CLASSES` of an instruction of 32 bits. */
function classOfWord(bits: number): number {
  const opcode = bits & 0x7f;
  const funct3 = (bits >>> 12) & 7;
  switch (opcode) {
    case 0x33:
    case 0x3b:
      if (bits >>> 25 !== 1) return INTEGER;
      return funct3 < 4 ? MULTIPLY : DIVIDE;
    case 0x07:
    case 0x27:
      // Widths 1 to 4 are of scalars, the others of vectors.
      if (funct3 === 0 || funct3 > 4) return VECTOR;
      return classIndex(opcode === 0x07 ? 'float load' : 'float store');
    case 0x73:
      return funct3 === 0 || funct3 === 4 ? SYSTEM : CSR;
    default:
      return BY_OPCODE.get(opcode) ?? OTHER;
  }
}

/** Classifies the instructions of one word size; compressed ones as what they represent. */
export class InstructionClassifier {
  private readonly halves = new Uint8Array(HALF_WORDS).fill(NOT_KNOWN);

  constructor(private readonly xlen: Xlen) {}

  /** Index into `INSTRUCTION_CLASSES`. @param bits u32; of a 16-bit instruction the upper half is ignored */
  classOf(bits: number): number {
    if (instructionLength(bits) !== 2) return instructionLength(bits) === 4 ? classOfWord(bits) : OTHER;
    const half = bits & 0xffff;
    if (this.halves[half] === NOT_KNOWN) this.halves[half] = this.classOfHalf(half);
    return this.halves[half];
  }

  private classOfHalf(half: number): number {
    const word = expandHalf(half, this.xlen);
    return word === null ? OTHER : classOfWord(word);
  }
}
