/** Makes instructions, one object each, of the rows of a block. */
import type { Trace } from '../../reader/index.js';
import {
  BlockEnd,
  BlockFlag,
  birthTick,
  endOf,
  firstOf,
  type InstructionBlock,
  Known,
  lowerBound,
  NO_PRODUCER,
  psOf,
  type Reasons,
  rowNumber,
  type SideColumns,
  sideTick,
  stageCount,
  stageOf,
  stagesBegin,
  stageValueOf,
  stayTicks,
} from '../blocks/block.js';
import type { CoreEventName, CpuCore } from '../cpu/cores.js';
import { labelOf } from '../cpu/cores.js';
import {
  type Annotation,
  type Dependency,
  type Instruction,
  InstructionEnd,
  type StageEntry,
  type Trap,
} from '../cpu/lifecycle.js';

const ENDS: Record<BlockEnd, InstructionEnd> = {
  [BlockEnd.IN_FLIGHT]: InstructionEnd.IN_FLIGHT,
  [BlockEnd.RETIRED]: InstructionEnd.RETIRED,
  [BlockEnd.SQUASHED]: InstructionEnd.SQUASHED,
  [BlockEnd.LOST]: InstructionEnd.LOST,
};

export class InstructionsOfBlock {
  /** By side columns: where the entries of the next row begin. */
  private readonly places = new Map<SideColumns, number>();

  constructor(
    private readonly trace: Trace,
    private readonly core: CpuCore,
    private readonly block: InstructionBlock,
  ) {}

  /** Fetches the strings that annotations name; before `at`. */
  load(): Promise<void> {
    return this.trace.strings.load(new Set(this.block.annotations.string));
  }

  /** @param stages instead of its own, for callers that look at the columns themselves */
  at(row: number, stages: readonly StageEntry[] = this.stages(row)): Instruction {
    const { block } = this;
    const flags = block.flags[row];
    const { bits, known } = block.staticTable;
    const one = block.statics[row];
    const birth = birthTick(block, row);
    const end = endOf(block, row);
    return {
      id: block.id[row],
      seq: numbered(rowNumber(block, row)),
      pc: this.pcOf(one),
      bits: known[one] & Known.BITS ? bits[one] : null,
      isCompressed: flags & BlockFlag.COMPRESSED_KNOWN ? (flags & BlockFlag.COMPRESSED) !== 0 : null,
      thread: flags & BlockFlag.HAS_THREAD && block.thread ? block.thread[row] : null,
      birthPs: birth < 0 ? null : psOf(block, birth),
      stages,
      stalls: this.stalls(row),
      annotations: this.annotations(row),
      dependencies: this.dependencies(row),
      flush: this.flush(row),
      trap: this.trap(row),
      end: end === BlockEnd.IN_FLIGHT && !block.reachesEnd ? InstructionEnd.UNKNOWN : ENDS[end],
      endPs: end === BlockEnd.IN_FLIGHT ? null : psOf(block, block.end[row]),
      isAbridged: (flags & BlockFlag.ABRIDGED) !== 0,
    };
  }

  private pcOf(one: number): bigint | null {
    const { pcLo, pcHi, known } = this.block.staticTable;
    return known[one] & Known.PC ? joined(pcHi[one], pcLo[one]) : null;
  }

  private stages(row: number): StageEntry[] {
    const { block, core } = this;
    const entries: StageEntry[] = [];
    const first = block.stageStart[row];
    let tick = stagesBegin(block, row);
    for (let i = 0; i < stageCount(block, row); i++) {
      tick += stayTicks(block, first + i);
      const stage = stageOf(block, row, i);
      const name = core.stages[stage] ?? this.label('stage_transition', 'stage', stageValueOf(block, row, i));
      entries.push({ stage, name, timePs: psOf(block, tick) });
    }
    return entries;
  }

  private stalls(row: number): Instruction['stalls'] {
    const { stalls } = this.block;
    return this.entries(stalls, row, (at) => ({
      timePs: this.when(stalls, at),
      reason: this.reason('stall', stalls, at) ?? '',
    }));
  }

  private annotations(row: number): Annotation[] {
    const { annotations } = this.block;
    const { strings } = this.trace;
    return this.entries(annotations, row, (at) => {
      const string = annotations.string[at];
      return {
        timePs: this.when(annotations, at),
        text: strings.peek(string) ?? `#${string}`,
        kind: annotations.kind?.[at] ?? null,
      };
    });
  }

  private dependencies(row: number): Dependency[] {
    const { dependencies } = this.block;
    return this.entries(dependencies, row, (at) => this.dependency(at));
  }

  private dependency(at: number): Dependency {
    const { block } = this;
    const { dependencies } = block;
    const { producer, foreign } = dependencies;
    const row = producer[at];
    const timePs = this.when(dependencies, at);
    const type = dependencies.type && this.label('dependency', 'dep_type', dependencies.type[at]);
    const place = lowerBound(foreign.at, at);
    if (foreign.at[place] !== at) {
      const seq = numbered(rowNumber(block, row));
      return { timePs, on: block.id[row], seq, pc: this.pcOf(block.statics[row]), type };
    }
    const isNumbered = row !== NO_PRODUCER && block.firstRow >= 0;
    const seq = isNumbered ? BigInt(block.firstRow + row) : null;
    const pc = foreign.known[place] & Known.PC ? joined(foreign.pcHi[place], foreign.pcLo[place]) : null;
    return { timePs, on: foreign.on[place], seq, pc, type };
  }

  private flush(row: number): Instruction['flush'] {
    const { block } = this;
    if ((block.flags[row] & BlockFlag.FLUSHED) === 0) return null;
    const at = firstOf(block.flushes, row);
    return {
      timePs: this.when(block.flushes, at),
      reason: this.reason('flush', block.flushes, at),
    };
  }

  private trap(row: number): Trap | null {
    const { traps } = this.block;
    const at = firstOf(traps, row);
    if (traps.row[at] !== row) return null;
    const value = (index: number): bigint | null =>
      traps.known[at] & (1 << index)
        ? joined(traps.words[at * 6 + index * 2 + 1], traps.words[at * 6 + index * 2])
        : null;
    return {
      timePs: this.when(traps, at),
      cause: value(0),
      tval: value(1),
      target: value(2),
    };
  }

  private entries<T>(side: SideColumns, row: number, make: (at: number) => T): T[] {
    const { row: rows } = side;
    if (rows.length === 0) return [];
    // Mostly the rows are asked for in their order: then those of this one follow those of the one before.
    let at = this.places.get(side) ?? 0;
    if ((at > 0 && rows[at - 1] >= row) || rows[at] < row) at = lowerBound(rows, row);
    if (rows[at] !== row) {
      this.places.set(side, at);
      return [];
    }
    const made: T[] = [];
    for (; rows[at] === row; at++) made.push(make(at));
    this.places.set(side, at);
    return made;
  }

  private when(side: SideColumns, at: number): bigint {
    return psOf(this.block, sideTick(this.block, side, at));
  }

  private reason(event: 'stall' | 'flush', { reason }: Reasons, at: number): string | null {
    return reason && this.label(event, 'reason', reason[at]);
  }

  private label(event: CoreEventName, field: string, value: number): string {
    return labelOf(this.core.events.get(event)?.fields.get(field)?.labels ?? null, value);
  }
}

function numbered(number: number): bigint | null {
  return number < 0 ? null : BigInt(number);
}

function joined(hi: number, lo: number): bigint {
  return (BigInt(hi) << 32n) | BigInt(lo);
}
