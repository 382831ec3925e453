/** Searches the instructions born in a segment. What an instruction is called is looked at once for each distinct one. */
import type { Trace } from '../../reader/index.js';
import {
  BlockEnd,
  birthTick,
  endOf,
  type InstructionBlock,
  Known,
  psOf,
  rowNumber,
} from '../blocks/block.js';
import { instructionBlocks } from '../blocks/instruction-blocks.js';
import type { CpuCore } from '../cpu/cores.js';
import { disassemble } from '../cpu/riscv/disassemble.js';
import type { FoundEvent } from './event-search.js';
import type { Pattern } from './pattern.js';
import type { SearchCall, SearchRange } from './search-call.js';

/** An instruction that matches. */
export interface FoundInstruction {
  readonly kind: 'instruction';
  readonly core: string;
  /** Its birth, in ps; null: before the trace. */
  readonly timePs: bigint | null;
  /** Its number in the trace; -1: not known. */
  readonly row: number;
  readonly id: number;
  readonly pc: bigint | null;
  /** Disassembly; where there is none, the annotation. */
  readonly text: string;
  /** The annotation that matches; null: what matches is the disassembly or the address. */
  readonly annotation: string | null;
  readonly end: 'in flight' | 'retired' | 'squashed' | 'lost';
}

export type Found = FoundInstruction | FoundEvent;

/** What is remembered of distinct instructions, at most. */
const MAX_KNOWN = 1_000_000;
const ENDS = {
  [BlockEnd.IN_FLIGHT]: 'in flight',
  [BlockEnd.RETIRED]: 'retired',
  [BlockEnd.SQUASHED]: 'squashed',
  [BlockEnd.LOST]: 'lost',
} as const;

export class InstructionSearch {
  /** By address and machine code: whether it matches. */
  private readonly known = new Map<string, boolean>();

  constructor(
    private readonly trace: Trace,
    private readonly core: CpuCore,
    private readonly pattern: Pattern,
  ) {}

  /** What is found among the instructions born in a range, block by block, in order of birth. */
  async *search(
    range: SearchRange,
    { signal, pause, progress }: SearchCall,
  ): AsyncGenerator<readonly FoundInstruction[]> {
    const { trace, core } = this;
    const { from, to } = range;
    const end = to ?? trace.totalTimePs;
    const bounds = to === null ? { from } : { from, to };
    for await (const block of instructionBlocks(trace, core, bounds, { signal, stages: 'range' })) {
      await pause?.();
      if (end > from && block.basePs > from)
        progress?.(Math.min(1, Number(block.basePs - from) / Number(end - from)));
      yield await this.inBlock(block, range);
    }
  }

  private async inBlock(block: InstructionBlock, { from, to }: SearchRange): Promise<FoundInstruction[]> {
    const statics = this.matchingStatics(block);
    const annotated = await this.matchingAnnotations(block);
    const found: FoundInstruction[] = [];
    for (let row = 0; row < block.count; row++) {
      const annotation = annotated.get(row) ?? null;
      if (statics[block.statics[row]] === 0 && annotation === null) continue;
      const birth = birthTick(block, row);
      const timePs = birth < 0 ? null : psOf(block, birth);
      if (timePs === null ? from > 0n : timePs < from || (to !== null && timePs >= to)) continue;
      found.push(this.describe(block, row, timePs, annotation));
    }
    return found;
  }

  /** 1 for each distinct instruction of the block that matches. */
  private matchingStatics({ staticTable }: InstructionBlock): Uint8Array {
    const { pcLo, pcHi, bits, known } = staticTable;
    const { pattern, core } = this;
    return Uint8Array.from(pcLo, (low, index) => {
      const hasPc = (known[index] & Known.PC) !== 0;
      if (pattern.kind === 'pc') {
        const pc = pcOf(low, pcHi[index]);
        return hasPc && pc >= pattern.first && pc <= pattern.last ? 1 : 0;
      }
      if (pattern.kind !== 'text' || core.xlen === null || (known[index] & Known.BITS) === 0) return 0;
      const key = `${hasPc ? `${pcHi[index]} ${low}` : ''} ${bits[index]}`;
      let matches = this.known.get(key);
      if (matches === undefined) {
        if (this.known.size >= MAX_KNOWN) this.known.clear();
        matches = pattern.text.test(this.disassembly(staticTable, index) ?? '');
        this.known.set(key, matches);
      }
      return matches ? 1 : 0;
    });
  }

  /** By row, its first annotation that matches. */
  private async matchingAnnotations({ annotations }: InstructionBlock): Promise<Map<number, string>> {
    const found = new Map<number, string>();
    const { pattern, trace } = this;
    if (pattern.kind !== 'text' || annotations.row.length === 0) return found;
    await trace.strings.load(new Set(annotations.string));
    const matches = new Map<number, string | null>();
    annotations.string.forEach((string, index) => {
      let text = matches.get(string);
      if (text === undefined) {
        const whole = trace.strings.peek(string);
        text = whole !== undefined && pattern.text.test(whole) ? whole : null;
        matches.set(string, text);
      }
      const row = annotations.row[index];
      if (text !== null && !found.has(row)) found.set(row, text);
    });
    return found;
  }

  private describe(
    block: InstructionBlock,
    row: number,
    timePs: bigint | null,
    annotation: string | null,
  ): FoundInstruction {
    const { staticTable, statics, id } = block;
    const index = statics[row];
    const hasPc = (staticTable.known[index] & Known.PC) !== 0;
    return {
      kind: 'instruction',
      core: this.core.name,
      timePs,
      row: rowNumber(block, row),
      id: id[row],
      pc: hasPc ? pcOf(staticTable.pcLo[index], staticTable.pcHi[index]) : null,
      text: this.disassembly(staticTable, index) ?? annotation ?? '',
      annotation,
      end: ENDS[endOf(block, row)],
    };
  }

  /** Null where the machine code is not known or not RISC-V's. */
  private disassembly(
    { pcLo, pcHi, bits, known }: InstructionBlock['staticTable'],
    index: number,
  ): string | null {
    const { xlen } = this.core;
    if (xlen === null || (known[index] & Known.BITS) === 0 || bits[index] === 0) return null;
    const pc = (known[index] & Known.PC) === 0 ? undefined : pcOf(pcLo[index], pcHi[index]);
    return disassemble(bits[index], { xlen, pc });
  }
}

const pcOf = (low: number, high: number): bigint => (BigInt(high) << 32n) | BigInt(low);
