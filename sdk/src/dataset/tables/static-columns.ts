/** The columns of `instructions` that only depend on what is executed: address, machine code, text and class. */

import { type InstructionBlock, Known } from '../../semantics/blocks/block.js';
import {
  INSTRUCTION_CLASSES,
  InstructionClassifier,
} from '../../semantics/cpu/analysis/instruction-class.js';
import type { CpuCore } from '../../semantics/cpu/index.js';
import { CodeColumn, type FlatColumn, TextColumn, WordColumn } from '../parquet/columns.js';
import { LabelDictionary, NumberDictionary } from '../parquet/dictionary.js';
import { PhysicalType } from '../parquet/schema.js';
import { InstructionTexts } from './instruction-texts.js';

export class StaticColumns {
  private readonly pc = new WordColumn('pc', true);
  /** Differences of machine codes are not smaller than they are. */
  private readonly bitValues = new NumberDictionary();
  private readonly bits = new CodeColumn('bits', this.bitValues, PhysicalType.INT64);
  private readonly texts: InstructionTexts | null;
  private readonly text: CodeColumn;
  private readonly class = new CodeColumn('class', new LabelDictionary((code) => INSTRUCTION_CLASSES[code]));
  private readonly classifier: InstructionClassifier | null;
  /** Of each static instruction of the block, NaN where it is not known. */
  private bitCodes: Float64Array = new Float64Array(0);
  private textCodes: Float64Array = new Float64Array(0);
  private classCodes: Float64Array = new Float64Array(0);

  /** @param xlen null: the machine code is not RISC-V */
  constructor(xlen: CpuCore['xlen']) {
    this.classifier = xlen === null ? null : new InstructionClassifier(xlen);
    this.texts = xlen === null ? null : new InstructionTexts(xlen);
    this.text = this.texts ? new CodeColumn('text', this.texts.dictionary) : new TextColumn('text');
  }

  get columns(): FlatColumn[] {
    return [this.pc, this.bits, this.text, this.class];
  }

  begin({ staticTable }: InstructionBlock): void {
    const { bits, known, pcLo, pcHi } = staticTable;
    const { classifier, texts } = this;
    this.bitCodes = unknownCodes(this.bitCodes, bits.length);
    this.textCodes = unknownCodes(this.textCodes, bits.length);
    this.classCodes = unknownCodes(this.classCodes, bits.length);
    texts?.begin();
    for (let i = 0; i < bits.length; i++) {
      if ((known[i] & Known.BITS) === 0) continue;
      this.bitCodes[i] = this.bitValues.intern(bits[i]);
      if (classifier === null || texts === null) continue;
      this.textCodes[i] = texts.indexOf(bits[i], (known[i] & Known.PC) !== 0, pcLo[i], pcHi[i]);
      this.classCodes[i] = classifier.classOf(bits[i]);
    }
  }

  add({ statics, staticTable }: InstructionBlock, first: number, count: number, to: number): void {
    const { pc, bits, text, bitCodes, textCodes, classCodes } = this;
    const { pcLo, pcHi, known } = staticTable;
    for (let i = 0; i < count; i++) {
      const which = statics[first + i];
      bits.values[to + i] = bitCodes[which];
      text.values[to + i] = textCodes[which];
      this.class.values[to + i] = classCodes[which];
      if (known[which] & Known.PC) pc.setWords(to + i, pcLo[which], pcHi[which]);
      else pc.setNull(to + i);
    }
  }
}

/** That many codes, none of them known: in the array of an earlier block where it is large enough. */
function unknownCodes(earlier: Float64Array, count: number): Float64Array {
  return earlier.length < count
    ? new Float64Array(count + (count >> 1)).fill(Number.NaN)
    : earlier.fill(Number.NaN, 0, count);
}
