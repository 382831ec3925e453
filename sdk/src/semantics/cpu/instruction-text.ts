/** What an instruction is called in listings and pictures. */
import type { CpuCore } from './cores.js';
import type { Instruction } from './lifecycle.js';
import { disassemble } from './riscv/disassemble.js';

/** Disassembly; of other instruction sets, or without machine code, what the model annotated. */
export function instructionText(
  core: Pick<CpuCore, 'xlen'>,
  { pc, bits, annotations }: Pick<Instruction, 'pc' | 'bits'> & { annotations: readonly { text: string }[] },
): string {
  if (core.xlen !== null && bits !== null && bits !== 0) {
    return disassemble(bits, { xlen: core.xlen, pc: pc ?? undefined });
  }
  for (const { text } of annotations) {
    const match = /^(?:0x)?[0-9a-fA-F]{4,16}:?\s+(\S.*)$/.exec(text.trim());
    if (match?.[1]) return oneLine(match[1]);
  }
  return oneLine(annotations[0]?.text ?? '');
}

// Text of a model may hold anything: control characters would break the columns, or drive the terminal.
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, ' ').trim();
}
