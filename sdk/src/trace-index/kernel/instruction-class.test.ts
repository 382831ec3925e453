/** The compiled classes of instructions are those of the analysis: every 16-bit one, and every opcode with all that tells classes apart. */
import { expect, it } from 'vitest';
import { InstructionClassifier } from '../../semantics/cpu/analysis/instruction-class.js';
import { kernelModule } from './kernel-module.js';

interface Exports {
  instruction_class(bits: number, xlen: number): number;
}

const { instruction_class: compiled } = new WebAssembly.Instance(kernelModule()!, {})
  .exports as unknown as Exports;

it.each([32, 64] as const)('are those of the analysis: RV%i', (xlen) => {
  const classifier = new InstructionClassifier(xlen);
  const differing: number[] = [];
  const compare = (bits: number) => {
    if (compiled(bits, xlen) !== classifier.classOf(bits)) differing.push(bits);
  };
  for (let half = 0; half < 0x1_0000; half++) compare(half);
  for (let low = 0; low < 0x80; low++) {
    for (let funct3 = 0; funct3 < 8; funct3++) {
      for (const funct7 of [0, 1, 2, 0x20, 0x7f]) compare(((funct7 << 25) | (funct3 << 12) | low) >>> 0);
    }
  }
  expect(differing).toEqual([]);
});
