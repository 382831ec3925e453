/** One instruction as a row of the timeline: what is in which cycle. */
import { type CpuCore, NO_STAGE } from '../cpu/cores.js';
import { instructionText } from '../cpu/instruction-text.js';
import { type Instruction, InstructionEnd, type StageEntry } from '../cpu/lifecycle.js';
import { NO_LETTER } from './letters.js';

/** What a cell shows; also what it is coloured by. */
export type CellKind = 'empty' | 'stage' | 'held' | 'waiting' | 'unknown' | 'squashed' | 'retired' | 'lost';

/** Neighbouring cycles that look the same. */
export interface Cells {
  /** A character for each. */
  readonly text: string;
  readonly kind: CellKind;
  /** Index of the stage, for `stage` and `held`; -1 for none. */
  readonly stage: number;
}

export const MARKS = {
  waiting: '.',
  unknown: '?',
  squashed: 'x',
  retired: '|',
  lost: '!',
} as const;

/** All made here: objects of one shape. */
const cellsOf = (text: string, kind: CellKind, stage = -1): Cells => ({ text, kind, stage });
const mark = (kind: keyof typeof MARKS): Cells => cellsOf(MARKS[kind], kind);
const EMPTY = cellsOf(' ', 'empty');

interface StageStart {
  readonly cycle: number;
  readonly stage: number;
}

/** The cycles of a timeline. */
export interface TimelineSpan {
  /** Cycle that counts as 0. */
  readonly origin: bigint;
  readonly cycles: number;
  /** Cycle (relative) at which the trace ends: nothing is known from there on. */
  readonly knownUntil: number;
}

/** Cycles are numbers relative to the start of the timeline: what lies before is negative. */
export class TimelineRow {
  readonly text: string;
  readonly isSquashed: boolean;
  /** First and last cycle with something to show. */
  readonly first: number;
  readonly last: number;
  private readonly starts: readonly StageStart[];
  private readonly flushCycle: number;
  private readonly endCycle: number;
  /** Cycles at which it begins to look otherwise, besides those of `starts`. */
  private readonly changes: readonly number[];

  constructor(
    core: CpuCore,
    readonly instruction: Instruction,
    { origin, cycles, knownUntil }: TimelineSpan,
    private readonly letters: readonly string[],
  ) {
    const { birthPs, stages, flush, end, endPs } = instruction;
    const cycle = (timePs: bigint): number => Number(timePs / core.periodPs - origin);
    this.text = instructionText(core, instruction);
    this.isSquashed = flush !== null;
    // What is long in flight may have entered thousands of stages; only those it is in during the timeline are looked at.
    const firstShown = Math.max(0, countBefore(stages, origin * core.periodPs) - 1);
    const behindShown = countBefore(stages, (origin + BigInt(cycles)) * core.periodPs);
    this.starts = stages
      .slice(firstShown, behindShown)
      .map(({ stage, timePs }) => ({ stage, cycle: cycle(timePs) }));
    this.first = birthPs === null ? Number.NEGATIVE_INFINITY : cycle(birthPs);
    this.flushCycle = flush ? cycle(flush.timePs) : Number.POSITIVE_INFINITY;
    const last = stages.at(-1);
    const entered = last && last.stage !== NO_STAGE ? cycle(last.timePs) : Number.NEGATIVE_INFINITY;
    const ended = endPs === null ? Number.POSITIVE_INFINITY : cycle(endPs);
    // Some models clear in the very cycle in which the last stage is entered: the mark then follows it.
    this.endCycle = end === InstructionEnd.RETIRED ? Math.max(ended, entered + 1) : ended;
    this.last = Math.min(this.flushCycle, this.endCycle, knownUntil - 1);
    const marks = [this.last, this.flushCycle, this.endCycle];
    this.changes = [this.first, ...marks, ...marks.map((at) => at + 1)];
  }

  /** Nothing is known of it but that it is there. */
  get isSilent(): boolean {
    const { birthPs, stages, flush, endPs } = this.instruction;
    return birthPs === null && stages.length === 0 && flush === null && endPs === null;
  }

  /** The cells of cycles `from` to `to` (exclusive). */
  cells(from: number, to: number): Cells[] {
    const { starts } = this;
    const cells: Cells[] = [];
    let next = 0;
    for (let cycle = from; cycle < to; ) {
      while (next < starts.length && starts[next].cycle <= cycle) next++;
      const start = next > 0 ? starts[next - 1] : undefined;
      const end = this.unchangedUntil(
        cycle,
        start,
        next < starts.length ? Math.min(starts[next].cycle, to) : to,
      );
      const { text, kind, stage } = this.cell(cycle, start);
      cells.push(cellsOf(text.repeat(end - cycle), kind, stage));
      cycle = end;
    }
    return cells;
  }

  /** The first cycle after `cycle` that may look otherwise; at most `end`. */
  private unchangedUntil(cycle: number, start: StageStart | undefined, end: number): number {
    let until = start?.cycle === cycle ? cycle + 1 : end;
    for (const change of this.changes) if (change > cycle && change < until) until = change;
    return until;
  }

  private cell(cycle: number, start: StageStart | undefined): Cells {
    if (cycle < this.first || (cycle > this.last && cycle !== this.endMark)) return EMPTY;
    if (cycle === this.flushCycle) return mark('squashed');
    if (cycle === this.endCycle) return this.endCell();
    if (!start) return mark(this.instruction.birthPs === null ? 'unknown' : 'waiting');
    if (start.stage === NO_STAGE) return mark('waiting');
    const letter = this.letters[start.stage] ?? NO_LETTER;
    const entered = start.cycle === cycle;
    return cellsOf(entered ? letter : letter.toLowerCase(), entered ? 'stage' : 'held', start.stage);
  }

  /** Where the end is marked even though the trace ends there. */
  private get endMark(): number {
    return this.flushCycle === Number.POSITIVE_INFINITY ? this.endCycle : this.flushCycle;
  }

  private endCell(): Cells {
    if (this.instruction.end === InstructionEnd.LOST) return mark('lost');
    return this.isSquashed ? EMPTY : mark('retired');
  }
}

/** Of entries in the order of time, how many lie before one. */
function countBefore(entries: readonly StageEntry[], timePs: bigint): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (entries[middle].timePs < timePs) low = middle + 1;
    else high = middle;
  }
  return low;
}
