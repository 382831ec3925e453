/** The columns of `instructions` that only depend on what is executed: address, machine code, text and class. */
import {
  INSTRUCTION_CLASSES,
  InstructionClassifier,
} from '../../semantics/cpu/analysis/instruction-class.js';
import { type CpuCore, disassemble, type InstructionBlock, Known } from '../../semantics/cpu/index.js';
import { CodeColumn, type FlatColumn, WordColumn } from '../parquet/columns.js';
import { LabelDictionary, NumberDictionary } from '../parquet/dictionary.js';
import { PhysicalType } from '../parquet/schema.js';
import { StaticNumbers } from './statics.js';

export class StaticColumns {
  private readonly numbers = new StaticNumbers();
  private readonly pc = new WordColumn('pc');
  /** Differences of machine codes are no smaller than they are. */
  private readonly bits = new CodeColumn(
    'bits',
    new NumberDictionary((number) => this.numbers.bitsOf(number)),
    PhysicalType.INT64,
  );
  private readonly text = new CodeColumn('text', new LabelDictionary((number) => this.textOf(number)));
  private readonly class = new CodeColumn('class', new LabelDictionary((code) => INSTRUCTION_CLASSES[code]));
  private readonly classifier: InstructionClassifier | null;
  /** Of each static instruction of the block, NaN where it is not known. */
  private bitCodes: Float64Array = new Float64Array(0);
  private textCodes: Float64Array = new Float64Array(0);
  private classCodes: Float64Array = new Float64Array(0);

  constructor(private readonly xlen: CpuCore['xlen']) {
    this.classifier = xlen === null ? null : new InstructionClassifier(xlen);
  }

  get columns(): FlatColumn[] {
    return [this.pc, this.bits, this.text, this.class];
  }

  /** There are enough for a row group. */
  get isFull(): boolean {
    return this.numbers.isFull;
  }

  begin(block: InstructionBlock): void {
    const { bits, known } = block.staticTable;
    const { classifier } = this;
    const numbers = this.numbers.numbersOf(block);
    const codes = (): Float64Array => new Float64Array(bits.length).fill(Number.NaN);
    [this.bitCodes, this.textCodes, this.classCodes] = [codes(), codes(), codes()];
    for (let i = 0; i < bits.length; i++) {
      if ((known[i] & Known.BITS) === 0) continue;
      this.bitCodes[i] = numbers[i];
      if (classifier === null) continue;
      this.textCodes[i] = numbers[i];
      this.classCodes[i] = classifier.classOf(bits[i]);
    }
  }

  /** After the rows of a block, and the row group that they may have filled. */
  end(): void {
    if (this.isFull) this.numbers.restart();
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

  private textOf(number: number): string {
    const { numbers, xlen } = this;
    return xlen === null ? '' : disassemble(numbers.bitsOf(number), { xlen, pc: numbers.pcOf(number) });
  }
}
