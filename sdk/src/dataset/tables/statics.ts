/** The distinct instructions of a program: address, machine code, text and class. Rows of `instructions` name one by number. */
import {
  INSTRUCTION_CLASSES,
  InstructionClassifier,
} from '../../semantics/cpu/analysis/instruction-class.js';
import { type CpuCore, disassemble, type InstructionBlock, Known } from '../../semantics/cpu/index.js';
import { type Connection, type Engine, quoted } from '../engine/duckdb.js';

interface Static {
  readonly pc: bigint | null;
  readonly bits: number | null;
}

/** Of one file: programs have fewer, and a file of another trace has fewer rows. */
const MAX_STATICS = 131_072;

export class Statics {
  private readonly numbers = new Map<string, number>();
  private all: Static[] = [];

  constructor(readonly table: string) {}

  get isFull(): boolean {
    return this.all.length >= MAX_STATICS;
  }

  /** Of the next file. */
  restart(): void {
    this.numbers.clear();
    this.all = [];
  }

  /** The numbers of a block's static instructions. */
  numbersOf({ staticTable }: InstructionBlock): Uint32Array {
    const { pcLo, pcHi, bits, known } = staticTable;
    const numbers = new Uint32Array(pcLo.length);
    for (let i = 0; i < pcLo.length; i++) {
      const key = `${known[i]} ${pcHi[i]} ${pcLo[i]} ${bits[i]}`;
      let number = this.numbers.get(key);
      if (number === undefined) {
        number = this.all.length;
        this.numbers.set(key, number);
        const pc = (BigInt(pcHi[i]) << 32n) | BigInt(pcLo[i]);
        this.all.push({
          pc: known[i] & Known.PC ? BigInt.asIntN(64, pc) : null,
          bits: known[i] & Known.BITS ? bits[i] : null,
        });
      }
      numbers[i] = number;
    }
    return numbers;
  }

  /** Makes the table, of all that has been seen. */
  async write({ api }: Engine, connection: Connection, core: CpuCore): Promise<void> {
    const classes = INSTRUCTION_CLASSES.map(quoted).join(', ');
    await connection.run(
      `CREATE OR REPLACE TABLE ${this.table} (static BIGINT, pc BIGINT, bits BIGINT, "text" VARCHAR, class ENUM (${classes}))`,
    );
    const appender = await connection.createAppender(this.table);
    const classifier = core.xlen === null ? null : new InstructionClassifier(core.xlen);
    const classType = api.ENUM([...INSTRUCTION_CLASSES]);
    this.all.forEach(({ pc, bits }, number) => {
      appender.appendBigInt(BigInt(number));
      if (pc === null) appender.appendNull();
      else appender.appendBigInt(pc);
      if (bits === null) appender.appendNull();
      else appender.appendBigInt(BigInt(bits));
      if (bits === null || classifier === null || core.xlen === null) {
        appender.appendNull();
        appender.appendNull();
      } else {
        appender.appendVarchar(
          disassemble(bits, { xlen: core.xlen, pc: pc === null ? undefined : BigInt.asUintN(64, pc) }),
        );
        appender.appendEnum(INSTRUCTION_CLASSES[classifier.classOf(bits)], classType);
      }
      appender.endRow();
    });
    appender.closeSync();
  }
}
