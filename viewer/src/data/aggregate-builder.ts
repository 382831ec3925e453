/** What a block adds to the sums over the whole trace. */
import { type AggregatePart, type AggregateShape, Column, columnsOf } from '../model/aggregates.js';
import { NO_STAGE, NoteKind, type RowBlock, RowFlag, UNKNOWN } from '../model/blocks.js';

/**
 * Births, retired, squashed: instructions. Flushes: cycles in which something was squashed. Stages: instruction cycles spent in each.
 * Reasons: cycles with at least one stall of that reason.
 * @param reasonOf index of a stall reason by its name
 * @param lastCycle end of the trace, until which instructions in flight last
 */
export function aggregate(
  block: RowBlock,
  shape: AggregateShape,
  reasonOf: (name: string) => number,
  lastCycle: number,
): AggregatePart {
  const sums = new BucketSums(block, shape, lastCycle);
  const { baseCycle, birth, end, flags } = block;
  for (let row = 0; row < block.count; row++) {
    const isOver = end[row] !== UNKNOWN;
    const over = isOver ? baseCycle + end[row]! : lastCycle;
    if (!(flags[row]! & RowFlag.BORN_BEFORE)) sums.count(baseCycle + birth[row]!, Column.BORN);
    if (isOver && flags[row]! & RowFlag.SQUASHED) sums.count(over, Column.SQUASHED);
    else if (isOver && flags[row]! & RowFlag.RETIRED) sums.count(over, Column.RETIRED);
    addStages(block, row, over, sums, shape.stages);
  }
  addFlushes(block, sums);
  addStalls(block, sums, (name) => Column.STAGES + shape.stages + reasonOf(name));
  return sums.part;
}

class BucketSums {
  readonly part: AggregatePart;
  private readonly columns: number;
  private readonly width: number;

  constructor(block: RowBlock, shape: AggregateShape, lastCycle: number) {
    this.columns = columnsOf(shape);
    this.width = shape.bucketCycles;
    const bucket = (cycle: number): number =>
      Math.max(0, Math.min(Math.floor(cycle / this.width), shape.buckets - 1));
    const first = bucket(block.baseCycle);
    const count = bucket(lastCycleOf(block, lastCycle)) - first + 1;
    this.part = { first, values: new Float64Array(this.columns * count) };
  }

  /** What lies outside the trace is not counted. */
  count(cycle: number, column: number, amount = 1): void {
    const index = (Math.floor(cycle / this.width) - this.part.first) * this.columns + column;
    if (index >= 0 && index < this.part.values.length) this.part.values[index]! += amount;
  }

  /** Counts each cycle of `[from, to)`. */
  span(from: number, to: number, column: number): void {
    for (let cycle = from; cycle < to; ) {
      const until = Math.min(to, (Math.floor(cycle / this.width) + 1) * this.width);
      this.count(cycle, column, until - cycle);
      cycle = until;
    }
  }
}

function lastCycleOf({ baseCycle, count, end, stalls }: RowBlock, lastCycle: number): number {
  let last = baseCycle + (stalls.cycle.at(-1) ?? 0);
  for (let row = 0; row < count; row++) {
    const over = end[row] === UNKNOWN ? lastCycle : baseCycle + end[row]!;
    if (over > last) last = over;
  }
  return last;
}

function addStages(
  { baseCycle, stage, stageCycle, stageStart }: RowBlock,
  row: number,
  over: number,
  sums: BucketSums,
  stages: number,
): void {
  const last = stageStart[row + 1]!;
  for (let i = stageStart[row]!; i < last; i++) {
    const index = stage[i]!;
    if (index === NO_STAGE || index >= stages) continue;
    const to = i + 1 < last ? baseCycle + stageCycle[i + 1]! : over;
    sums.span(baseCycle + stageCycle[i]!, to, Column.STAGES + index);
  }
}

function addFlushes({ baseCycle, notes }: RowBlock, sums: BucketSums): void {
  const cycles = new Set<number>();
  notes.kind.forEach((kind, index) => {
    if (kind === NoteKind.FLUSH) cycles.add(notes.cycle[index]!);
  });
  for (const cycle of cycles) sums.count(baseCycle + cycle, Column.FLUSHES);
}

function addStalls(
  { baseCycle, stalls, names }: RowBlock,
  sums: BucketSums,
  columnOf: (name: string) => number,
): void {
  /** Column -> cycle counted last: a reason counts once in a cycle. */
  const counted = new Map<number, number>();
  const columns = names.map(() => -1);
  stalls.reason.forEach((name, index) => {
    const cycle = stalls.cycle[index]!;
    if (columns[name] === -1) columns[name] = columnOf(names[name]!);
    const column = columns[name]!;
    if (counted.get(column) === cycle) return;
    counted.set(column, cycle);
    sums.count(baseCycle + cycle, column);
  });
}
