/** The table `instructions`: one row for each instruction, in order of birth. */
import type { Trace } from '../../reader/index.js';
import {
  BlockEnd,
  BlockFlag,
  endOf,
  type InstructionBlock,
  lowerBound,
  NO_PRODUCER,
  rowNumber,
  sideTick,
} from '../../semantics/blocks/block.js';
import { type CycleOfTick, cyclesOf } from '../../semantics/blocks/cycles.js';
import type { CpuCore } from '../../semantics/cpu/index.js';
import { ColumnNames } from '../files/names.js';
import { type Destination, PartFiles } from '../files/part-files.js';
import { type CodeColumn, NumberColumn } from '../parquet/columns.js';
import { ListColumn } from '../parquet/list-column.js';
import { labelColumn, stringColumn } from '../raw/text-columns.js';
import { outcomeOf } from './blocks-with-gaps.js';
import { StageColumns } from './stage-columns.js';
import { StaticColumns } from './static-columns.js';

const OUTCOMES = {
  values: [
    { value: BlockEnd.IN_FLIGHT, name: 'in_flight' },
    { value: BlockEnd.RETIRED, name: 'retired' },
    { value: BlockEnd.SQUASHED, name: 'squashed' },
    { value: BlockEnd.LOST, name: 'lost' },
  ],
};
/** The values of all columns of that many rows fit a processor's cache: they are set several times. */
const BATCH_ROWS = 512;
const number = (name: string): NumberColumn => new NumberColumn(name);

export class InstructionsTable {
  private readonly seq = number('seq');
  private readonly id = number('id');
  private readonly thread = number('thread');
  private readonly statics: StaticColumns;
  private readonly birth = number('birth_cycle');
  private readonly end = number('end_cycle');
  private readonly outcome = labelColumn('outcome', OUTCOMES);
  private readonly flushReason: CodeColumn;
  private readonly flushed = number('flush_cycle');
  private readonly stalls = number('stalls');
  private readonly stages: StageColumns;
  private readonly producer = number('seq');
  private readonly dependencyType: CodeColumn;
  private readonly dependencyCycle = number('cycle');
  /** What is in these lists is in the order in which it happened. */
  private readonly dependencies: ListColumn;
  private readonly annotationCycle = number('cycle');
  private readonly annotation: CodeColumn;
  private readonly annotations: ListColumn;
  private readonly files: PartFiles;
  /** The next entries of the present block. */
  private readonly next = { dependency: 0, annotation: 0, stall: 0, flush: 0 };

  constructor(
    to: Destination,
    trace: Trace,
    name: string,
    private readonly core: CpuCore,
  ) {
    const labels = (event: 'flush' | 'dependency', field: string) =>
      core.events.get(event)?.fields.get(field)?.labels ?? null;
    this.statics = new StaticColumns(core.xlen);
    this.flushReason = labelColumn('flush_reason', labels('flush', 'reason'));
    this.dependencyType = labelColumn('type', labels('dependency', 'dep_type'));
    this.dependencies = new ListColumn('dependencies', [
      this.producer,
      this.dependencyType,
      this.dependencyCycle,
    ]);
    this.annotation = stringColumn('text', trace);
    this.annotations = new ListColumn('annotations', [this.annotationCycle, this.annotation]);
    const fixed = [
      ...[this.seq, this.id, this.thread, ...this.statics.columns, this.birth, this.end, this.outcome],
      ...[this.flushReason, this.flushed, this.stalls],
    ];
    const lists = [this.dependencies, this.annotations];
    this.stages = new StageColumns(core.stages, new ColumnNames([...fixed, ...lists].map((one) => one.name)));
    const columns = [...fixed, ...this.stages.columns, ...lists];
    this.files = new PartFiles(to, { table: 'instructions', core: name }, columns);
  }

  async add(block: InstructionBlock): Promise<void> {
    const cycle = cyclesOf(block, this.core.periodPs);
    this.statics.begin(block);
    Object.assign(this.next, { dependency: 0, annotation: 0, stall: 0, flush: 0 });
    const { rows } = this.files;
    for (let first = 0; first < block.count; ) {
      const count = rows.beginRows(block.count - first);
      for (let done = 0; done < count; done += BATCH_ROWS) {
        const batch = Math.min(BATCH_ROWS, count - done);
        this.addRows(block, first + done, batch, rows.row + done, cycle);
      }
      rows.endRows(count);
      first += count;
    }
    await this.files.rotate();
  }

  finish(): Promise<void> {
    return this.files.finish();
  }

  /** Column after column: rows of a block from `first` on, to those of the page from `to` on. */
  private addRows(
    block: InstructionBlock,
    first: number,
    count: number,
    to: number,
    cycle: CycleOfTick,
  ): void {
    this.addNumbers(block, first, count, to);
    this.addEnds(block, first, count, to, cycle);
    this.statics.add(block, first, count, to);
    this.stages.add(block, first, count, to, cycle);
    this.addStalls(block, first, count, to);
    this.addFlushes(block, first, count, to, cycle);
    this.addDependencies(block, first, count, to, cycle);
    this.addAnnotations(block, first, count, to, cycle);
  }

  private addNumbers(block: InstructionBlock, first: number, count: number, to: number): void {
    const { thread, flags, id } = block;
    const [seqs, ids, threads] = [this.seq.values, this.id.values, this.thread.values];
    for (let i = 0; i < count; i++) {
      const seq = rowNumber(block, first + i);
      seqs[to + i] = seq < 0 ? Number.NaN : seq;
      ids[to + i] = id[first + i];
    }
    threads.fill(Number.NaN, to, to + count);
    if (!thread) return;
    for (let i = 0; i < count; i++)
      if (flags[first + i] & BlockFlag.HAS_THREAD) threads[to + i] = thread[first + i];
  }

  private addEnds(
    block: InstructionBlock,
    first: number,
    count: number,
    to: number,
    cycle: CycleOfTick,
  ): void {
    const { flags, birth, end } = block;
    const [births, ends, outcomes] = [this.birth.values, this.end.values, this.outcome.values];
    for (let i = 0; i < count; i++) {
      const row = first + i;
      const outcome = outcomeOf(block, row);
      births[to + i] = flags[row] & BlockFlag.BIRTH_UNKNOWN ? Number.NaN : cycle(birth[row]);
      ends[to + i] = endOf(block, row) === BlockEnd.IN_FLIGHT ? Number.NaN : cycle(end[row]);
      outcomes[to + i] = outcome;
    }
  }

  private addStalls({ stalls }: InstructionBlock, first: number, count: number, to: number): void {
    const { values } = this.stalls;
    values.fill(0, to, to + count);
    for (; this.next.stall < stalls.row.length; this.next.stall++) {
      const row = stalls.row[this.next.stall] - first;
      if (row >= count) break;
      values[to + row]++;
    }
  }

  private addFlushes(
    block: InstructionBlock,
    first: number,
    count: number,
    to: number,
    cycle: CycleOfTick,
  ): void {
    const { flushes } = block;
    const [reasons, cycles] = [this.flushReason.values, this.flushed.values];
    reasons.fill(Number.NaN, to, to + count);
    cycles.fill(Number.NaN, to, to + count);
    for (; this.next.flush < flushes.row.length; this.next.flush++) {
      const row = flushes.row[this.next.flush] - first;
      if (row >= count) break;
      if (flushes.reason) reasons[to + row] = flushes.reason[this.next.flush];
      cycles[to + row] = cycle(sideTick(block, flushes, this.next.flush));
    }
  }

  private addDependencies(
    block: InstructionBlock,
    first: number,
    count: number,
    to: number,
    cycle: CycleOfTick,
  ): void {
    const { dependencies: list } = block;
    for (; this.next.dependency < list.row.length; this.next.dependency++) {
      const row = list.row[this.next.dependency] - first;
      if (row >= count) break;
      const entry = this.dependencies.add(to + row);
      const producer = producerNumber(block, this.next.dependency);
      this.producer.values[entry] = producer < 0 ? Number.NaN : producer;
      this.dependencyType.values[entry] = list.type ? list.type[this.next.dependency] : Number.NaN;
      this.dependencyCycle.values[entry] = cycle(sideTick(block, list, this.next.dependency));
    }
  }

  private addAnnotations(
    block: InstructionBlock,
    first: number,
    count: number,
    to: number,
    cycle: CycleOfTick,
  ): void {
    const { annotations: list } = block;
    for (; this.next.annotation < list.row.length; this.next.annotation++) {
      const row = list.row[this.next.annotation] - first;
      if (row >= count) break;
      const entry = this.annotations.add(to + row);
      this.annotationCycle.values[entry] = cycle(sideTick(block, list, this.next.annotation));
      this.annotation.values[entry] = list.string[this.next.annotation];
    }
  }
}

/** Number of the producer of a dependency in the whole trace; -1: not known. */
function producerNumber(block: InstructionBlock, index: number): number {
  const { dependencies, firstRow } = block;
  const producer = dependencies.producer[index];
  const { at } = dependencies.foreign;
  const isForeign = at[lowerBound(at, index)] === index;
  if (!isForeign) return rowNumber(block, producer);
  return firstRow < 0 || producer === NO_PRODUCER ? -1 : firstRow + producer;
}
