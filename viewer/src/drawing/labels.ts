/** Disassembly of instructions, each once. */
import * as cpu from 'uscope/cpu';
import type { CoreInfo } from '../data/protocol.js';
import { NoteKind, type RowBlock, RowFlag } from '../model/blocks.js';
import { bitsOf, notesOf } from '../model/row.js';

const MAX_KEPT = 65_536;

export class Disassembly {
  private readonly texts = new Map<string, string>();

  constructor(private readonly core: Pick<CoreInfo, 'xlen'>) {}

  of(block: RowBlock, index: number): string {
    const bits = bitsOf(block, index);
    const hasPc = (block.flags[index]! & RowFlag.HAS_PC) !== 0;
    const at = block.code[index]! * 3;
    if (this.core.xlen === null || !bits) {
      return this.annotated(block, index, null);
    }
    const [low, high] = [block.statics[at]!, block.statics[at + 1]!];
    const key = `${bits},${hasPc ? low : ''},${high}`;
    let text = this.texts.get(key);
    if (text === undefined) {
      if (this.texts.size >= MAX_KEPT) this.texts.clear();
      const pc = hasPc ? (BigInt(high) << 32n) | BigInt(low) : null;
      text = cpu.instructionText(this.core, { pc, bits, annotations: [] });
      this.texts.set(key, text);
    }
    return cpu.isUnknown(text) ? this.annotated(block, index, bits) : text;
  }

  /** What the model or log calls an instruction without code, or with code that the disassembler does not know. */
  private annotated(block: RowBlock, index: number, bits: number | null): string {
    const annotations = [
      ...notesOf(block, index, NoteKind.NAME).map(({ text }) => ({ text, kind: 0 })),
      ...notesOf(block, index, NoteKind.ANNOTATION),
    ];
    return cpu.instructionText(this.core, { pc: null, bits, annotations });
  }
}
