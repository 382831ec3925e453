/** Sums of one block, cycle by cycle. */
import { NOWHERE, NoteKind, type RowBlock, RowFlag, UNKNOWN } from '../../model/blocks.js';
import { Column, columnsOf, reasonColumn, type SumsShape } from '../../model/sums.js';

/** Running totals: number i of a column is the sum of the cycles before `first` + i. A column without anything is null. */
export interface BlockSums {
  readonly block: RowBlock;
  readonly first: number;
  readonly cycles: number;
  readonly totals: readonly (Float64Array | null)[];
  /** Cycles in which some of its instructions were squashed, rising. Those of another block may be the same. */
  readonly flushes: Float64Array;
}

/**
 * Births, retired, squashed: instructions. Stages, in flight: instructions, in each cycle.
 * Reasons: cycles with at least one stall of that reason.
 * @param reasonOf index of a stall reason by its name
 * @param until cycle from which nothing is counted
 */
export function sumsOf(
  block: RowBlock,
  shape: SumsShape,
  reasonOf: (name: string) => number,
  until: number,
): BlockSums {
  const counter = new Counter(block, shape, until);
  const { baseCycle, birth, end, flags } = block;
  for (let row = 0; row < block.count; row++) {
    const isOver = end[row] !== UNKNOWN;
    const over = isOver ? baseCycle + end[row]! : until;
    if (!(flags[row]! & RowFlag.BORN_BEFORE)) counter.count(baseCycle + birth[row]!, Column.BORN);
    if (isOver && flags[row]! & RowFlag.SQUASHED) counter.count(over, Column.SQUASHED);
    else if (isOver && flags[row]! & RowFlag.RETIRED) counter.count(over, Column.RETIRED);
    counter.span(baseCycle + birth[row]!, over, Column.IN_FLIGHT);
    addStages(block, row, over, counter, shape.stages);
  }
  addStalls(block, counter, (name) => reasonColumn(shape, reasonOf(name)));
  return counter.finish(block);
}

class Counter {
  private readonly first: number;
  private readonly cycles: number;
  private readonly counts: (Float64Array | null)[];
  /** By how much a column of spans changes in each cycle. */
  private readonly changes: (Float64Array | null)[];

  constructor({ baseCycle }: RowBlock, shape: SumsShape, until: number) {
    this.first = baseCycle;
    this.cycles = Math.max(1, until - baseCycle);
    this.counts = new Array(columnsOf(shape)).fill(null);
    this.changes = new Array(columnsOf(shape)).fill(null);
  }

  /** What lies outside is not counted. */
  count(cycle: number, column: number): void {
    const at = cycle - this.first;
    if (at < 0 || at >= this.cycles) return;
    this.counts[column] ??= new Float64Array(this.cycles + 1);
    this.counts[column]![at + 1]! += 1;
  }

  /** Counts each cycle of `[from, to)`. */
  span(from: number, to: number, column: number): void {
    const a = Math.max(0, from - this.first);
    const b = Math.min(this.cycles, to - this.first);
    if (b <= a) return;
    this.changes[column] ??= new Float64Array(this.cycles + 1);
    const changes = this.changes[column]!;
    changes[a]! += 1;
    changes[b]! -= 1;
  }

  finish(block: RowBlock): BlockSums {
    const { first, cycles, counts, changes } = this;
    const totals = counts.map((column, index) => {
      if (column) return running(column);
      const spans = changes[index];
      return spans ? running(shifted(running(spans))) : null;
    });
    return { block, first, cycles, totals, flushes: flushesOf(block) };
  }
}

function running(values: Float64Array): Float64Array {
  for (let i = 1; i < values.length; i++) values[i]! += values[i - 1]!;
  return values;
}

/** What happens in a cycle belongs to the total after it. */
function shifted(values: Float64Array): Float64Array {
  values.copyWithin(1, 0, values.length - 1);
  values[0] = 0;
  return values;
}

function addStages(
  { baseCycle, stage, stageCycle, stageStart }: RowBlock,
  row: number,
  over: number,
  counter: Counter,
  stages: number,
): void {
  const last = stageStart[row + 1]!;
  for (let i = stageStart[row]!; i < last; i++) {
    const index = stage[i]!;
    // The last numbers are not stages.
    if (index >= Math.min(stages, NOWHERE)) continue;
    const to = i + 1 < last ? baseCycle + stageCycle[i + 1]! : over;
    counter.span(baseCycle + stageCycle[i]!, to, Column.STAGES + index);
  }
}

function flushesOf({ baseCycle, notes }: RowBlock): Float64Array {
  const cycles = new Set<number>();
  notes.kind.forEach((kind, index) => {
    if (kind === NoteKind.FLUSH) cycles.add(baseCycle + notes.cycle[index]!);
  });
  return Float64Array.from(cycles).sort();
}

function addStalls(
  { baseCycle, stalls, names }: RowBlock,
  counter: Counter,
  columnOf: (name: string) => number,
): void {
  /** Column -> cycle counted last: a reason counts once in a cycle. */
  const counted = new Map<number, number>();
  const columns = names.map(() => -1);
  const once = (column: number, cycle: number): void => {
    if (counted.get(column) === cycle) return;
    counted.set(column, cycle);
    counter.count(baseCycle + cycle, column);
  };
  stalls.reason.forEach((name, index) => {
    const cycle = stalls.cycle[index]!;
    if (columns[name] === -1) columns[name] = columnOf(names[name]!);
    once(columns[name]!, cycle);
    once(Column.STALLED, cycle);
  });
}
