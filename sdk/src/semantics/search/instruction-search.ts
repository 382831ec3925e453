/** Searches the instructions of a core for those for which all terms hold. */
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
import { ALL_SEGMENTS } from '../blocks/options.js';
import type { CpuCore } from '../cpu/cores.js';
import { EventCondition } from './event-condition.js';
import type { FoundEvent } from './event-search.js';
import type { EventTerm, Pattern } from './pattern.js';
import { ReasonCondition } from './reason-condition.js';
import {
  AddressCondition,
  disassemblyOf,
  pcOf,
  RetiredCondition,
  type RowCondition,
  SequenceCondition,
  TextCondition,
} from './row-conditions.js';
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
  /** The annotation that matches; null: what matches is the disassembly, or something else than a text. */
  readonly annotation: string | null;
  /** `unknown`: not ended as far as was looked. */
  readonly end: 'in flight' | 'unknown' | 'retired' | 'squashed' | 'lost';
}

export type Found = FoundInstruction | FoundEvent;

const ENDS = {
  [BlockEnd.IN_FLIGHT]: 'in flight',
  [BlockEnd.RETIRED]: 'retired',
  [BlockEnd.SQUASHED]: 'squashed',
  [BlockEnd.LOST]: 'lost',
} as const;

export class InstructionSearch {
  private readonly texts: readonly TextCondition[];
  private readonly retired: readonly RetiredCondition[];
  /** In the order in which they are asked: those that look at events come last. */
  private readonly conditions: readonly RowCondition[];
  /** Rows must have their numbers, at any cost. */
  private readonly isNumbered: boolean;

  /** @param scopes of the cores asked for; null: any. @throws UscopeError READER_NAME: an event that the trace does not have */
  constructor(
    private readonly trace: Trace,
    private readonly core: CpuCore,
    { terms }: Pattern,
    scopes: readonly number[] | null,
  ) {
    const numbers = terms.filter(({ kind }) => kind === 'seq' || kind === 'retired');
    this.isNumbered = numbers.length > 0;
    this.texts = terms.flatMap((term) =>
      term.kind === 'text' ? [new TextCondition(trace, core, term)] : [],
    );
    this.retired = terms.flatMap((term) =>
      term.kind === 'retired' ? [new RetiredCondition(term, core)] : [],
    );
    this.conditions = [
      ...this.retired,
      ...terms.flatMap((term) => (term.kind === 'seq' ? [new SequenceCondition(term, core)] : [])),
      ...terms.flatMap((term) => (term.kind === 'pc' ? [new AddressCondition(term)] : [])),
      ...this.texts,
      ...terms.flatMap((term) => (term.kind === 'event' ? [this.eventCondition(term, scopes)] : [])),
    ];
  }

  /** What is found among the instructions born in a range, block by block, in order of birth. */
  async *search(
    range: SearchRange,
    { signal, pause, progress }: SearchCall,
  ): AsyncGenerator<readonly FoundInstruction[]> {
    const { trace, core } = this;
    const { from, to } = range;
    const end = to ?? trace.totalTimePs;
    // Retired ones are counted from the first one on, none left out that ends long after the range.
    const isCounting = this.retired.length > 0;
    const begin = isCounting ? 0n : from;
    const bounds = to === null ? { from: begin } : { from: begin, to };
    const numbering = this.isNumbered ? 'always' : 'cheap';
    for await (const block of instructionBlocks(trace, core, bounds, {
      signal,
      numbering,
      stages: 'range',
      lookahead: isCounting ? ALL_SEGMENTS : undefined,
    })) {
      await pause?.();
      if (end > begin && block.basePs > begin)
        progress?.(Math.min(1, Number(block.basePs - begin) / Number(end - begin)));
      yield await this.inBlock(block, range);
      if (this.retired.some(({ isOver }) => isOver)) return;
    }
  }

  private eventCondition(term: EventTerm, scopes: readonly number[] | null): RowCondition {
    // Made in any case: it says what is wrong with the term.
    const condition = new EventCondition(this.trace, term, this.core, scopes);
    return ReasonCondition.of(this.core, term) ?? condition;
  }

  private async inBlock(block: InstructionBlock, { from, to }: SearchRange): Promise<FoundInstruction[]> {
    const rows = new Uint8Array(block.count).fill(1);
    for (const condition of this.conditions) {
      if (!(condition instanceof RetiredCondition) && !rows.includes(1)) return [];
      await condition.keep(block, rows);
    }
    const found: FoundInstruction[] = [];
    for (let row = rows.indexOf(1); row >= 0; row = rows.indexOf(1, row + 1)) {
      const birth = birthTick(block, row);
      const timePs = birth < 0 ? null : psOf(block, birth);
      if (timePs === null ? from > 0n : timePs < from || (to !== null && timePs >= to)) continue;
      found.push(this.describe(block, row, timePs));
    }
    return found;
  }

  private describe(block: InstructionBlock, row: number, timePs: bigint | null): FoundInstruction {
    const { staticTable, statics, id } = block;
    const index = statics[row];
    const hasPc = (staticTable.known[index] & Known.PC) !== 0;
    const annotation = this.texts
      .map(({ annotated }) => annotated.get(row))
      .find((text) => text !== undefined);
    return {
      kind: 'instruction',
      core: this.core.name,
      timePs,
      row: rowNumber(block, row),
      id: id[row],
      pc: hasPc ? pcOf(staticTable.pcLo[index], staticTable.pcHi[index]) : null,
      text: disassemblyOf(this.core, staticTable, index) ?? annotation ?? '',
      annotation: annotation ?? null,
      end:
        endOf(block, row) === BlockEnd.IN_FLIGHT && !block.reachesEnd ? 'unknown' : ENDS[endOf(block, row)],
    };
  }
}
