/** The instructions in flight in a cycle, by id: for links from what names an id. */
import * as cpu from 'uscope/cpu';
import { birthsOf, type Question } from './question.js';

interface InFlightArgs {
  readonly cycle: number;
}

export interface InFlightAnswer {
  readonly cycle: number;
  /** Empty where the trace has no core. `row` is -1 where its number is not known. */
  readonly instructions: readonly {
    readonly id: number;
    readonly row: number;
    readonly pc: string | null;
    readonly text: string;
  }[];
}

export const inFlight: Question<InFlightArgs, InFlightAnswer> = async ({ cycle }, context, signal) => {
  const { trace, core, periodPs } = context;
  if (!core?.entities) return { cycle, instructions: [] };
  const from = BigInt(Math.max(0, cycle)) * periodPs;
  const instructions: InFlightAnswer['instructions'][number][] = [];
  const range = { from, to: from + periodPs };
  const options = { signal, lookahead: 0, stages: 'range', ...birthsOf(context) } as const;
  for await (const block of cpu.instructionBlocks(trace, core, range, options)) {
    await trace.strings.load(block.annotations.string);
    for (let row = 0; row < block.count; row++) {
      const { pcLo, pcHi, bits, known } = block.staticTable;
      const index = block.statics[row]!;
      const hasPc = (known[index]! & cpu.Known.PC) !== 0;
      const pc = hasPc ? (BigInt(pcHi[index]!) << 32n) | BigInt(pcLo[index]!) : null;
      const text = cpu.instructionText(core, {
        pc,
        bits: known[index]! & cpu.Known.BITS ? bits[index]! : null,
        annotations: annotationsOf(block, row, (string) => trace.strings.peek(string) ?? ''),
      });
      instructions.push({
        id: block.id[row]!,
        row: cpu.rowNumber(block, row),
        pc: pc === null ? null : `0x${pc.toString(16).padStart(8, '0')}`,
        text,
      });
    }
  }
  return { cycle, instructions };
};

function annotationsOf(
  { annotations }: cpu.InstructionBlock,
  row: number,
  textOf: (string: number) => string,
): { readonly text: string }[] {
  const found: { text: string }[] = [];
  for (let at = cpu.firstOf(annotations, row); annotations.row[at] === row; at++)
    found.push({ text: textOf(annotations.string[at]!) });
  return found;
}
