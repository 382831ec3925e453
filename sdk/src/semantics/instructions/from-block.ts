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
import {
  type Annotation,
  type Dependency,
  type Instruction,
  InstructionEnd,
  type StageEntry,
  type Trap,
} from '../cpu/lifecycle.js';
import { labelOf } from '../cpu/tracker.js';

const ENDS: Record<BlockEnd, InstructionEnd> = {
  [BlockEnd.IN_FLIGHT]: InstructionEnd.IN_FLIGHT,
  [BlockEnd.RETIRED]: InstructionEnd.RETIRED,
  [BlockEnd.SQUASHED]: InstructionEnd.SQUASHED,
  [BlockEnd.LOST]: InstructionEnd.LOST,
};

export class InstructionsOfBlock {
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
      end: ENDS[end],
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
    const { type } = dependencies;
    return this.entries(dependencies, row, (at) => ({
      timePs: this.when(dependencies, at),
      ...this.producer(at),
      type: type && this.label('dependency', 'dep_type', type[at]),
    }));
  }

  private producer(at: number): Pick<Dependency, 'on' | 'seq' | 'pc'> {
    const { block } = this;
    const { producer, foreign } = block.dependencies;
    const row = producer[at];
    const place = lowerBound(foreign.at, at);
    if (foreign.at[place] !== at) {
      return { on: block.id[row], seq: numbered(rowNumber(block, row)), pc: this.pcOf(block.statics[row]) };
    }
    const isNumbered = row !== NO_PRODUCER && block.firstRow >= 0;
    return {
      on: foreign.on[place],
      seq: isNumbered ? BigInt(block.firstRow + row) : null,
      pc: foreign.known[place] & Known.PC ? joined(foreign.pcHi[place], foreign.pcLo[place]) : null,
    };
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
    const made: T[] = [];
    if (side.row.length === 0) return made;
    for (let at = lowerBound(side.row, row); side.row[at] === row; at++) made.push(make(at));
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
