/** The table `instructions`: one row for each instruction, in order of birth. */
import type { Trace } from '../../reader/index.js';
import {
  BlockEnd,
  BlockFlag,
  type CpuCore,
  endOf,
  firstOf,
  type InstructionBlock,
  lowerBound,
  NO_PRODUCER,
  rowNumber,
  sideTick,
  stageOf,
  stagesBegin,
  stayTicks,
} from '../../semantics/cpu/index.js';
import { named } from '../engine/duckdb.js';
import { ListColumn } from '../engine/list-column.js';
import { caseOf } from '../files/labels.js';
import { ColumnNames, plainName } from '../files/names.js';
import { type Destination, PartFiles } from '../files/part-files.js';
import { Statics } from './statics.js';
import { type CycleOfTick, cyclesOf } from './ticks.js';

const FIXED = [
  'seq',
  'id',
  'thread',
  'static',
  'birth_cycle',
  'end_cycle',
  'outcome',
  'flush_reason',
  'flush_cycle',
  'stalls',
];
/** What the file has instead of some of them. */
const COLUMNS = [...FIXED, 'pc', 'bits', 'text', 'class'];
const [SEQ, ID, THREAD, STATIC, BIRTH, END, OUTCOME, FLUSH, FLUSHED_AT, STALLS] = FIXED.keys();
const OUTCOMES = {
  values: [
    { value: BlockEnd.IN_FLIGHT, name: 'in_flight' },
    { value: BlockEnd.RETIRED, name: 'retired' },
    { value: BlockEnd.SQUASHED, name: 'squashed' },
    { value: BlockEnd.LOST, name: 'lost' },
  ],
};

/** What waits in these lists is in the order in which it happened. */
const lists = (): [ListColumn, ListColumn] => [
  new ListColumn('dependencies', [
    { name: 'seq', type: 'number' },
    { name: 'type', type: 'text' },
    { name: 'cycle', type: 'number' },
  ]),
  new ListColumn('annotations', [
    { name: 'cycle', type: 'number' },
    { name: 'text', type: 'text' },
  ]),
];

export class InstructionsTable {
  private readonly entered: Float64Array;
  private readonly spent: Float64Array;
  /** Tallies for the table `traces`. */
  readonly ends = [0, 0, 0, 0];
  private total = 0;
  /** The next entries of the present block. */
  private dependency = 0;
  private annotation = 0;

  private constructor(
    private readonly core: CpuCore,
    private readonly trace: Trace,
    private readonly files: PartFiles,
    private readonly dependencies: ListColumn,
    private readonly annotations: ListColumn,
    private readonly statics: Statics,
  ) {
    this.entered = new Float64Array(core.stages.length);
    this.spent = new Float64Array(core.stages.length);
  }

  static async create(
    to: Destination,
    trace: Trace,
    name: string,
    core: CpuCore,
  ): Promise<InstructionsTable> {
    const names = new ColumnNames([...COLUMNS, 'dependencies', 'annotations']);
    const stages = core.stages
      .map(plainName)
      .flatMap((stage) => [names.add(`${stage}_cycle`), names.add(`${stage}_cycles`)]);
    const [dependencies, annotations] = lists();
    const statics = new Statics(to.scratchName());
    const reasons = core.events.get('flush')?.fields.get('reason')?.labels ?? null;
    const files = await PartFiles.create(
      to,
      { table: 'instructions', core: name },
      {
        names: [...FIXED, ...stages],
        lists: [dependencies, annotations],
        select: async (source) => {
          await statics.write(to.engine, to.connection, core);
          return (
            `SELECT r.seq, r.id, r.thread, s.pc, s.bits, s."text", s.class::VARCHAR AS class, r.birth_cycle, r.end_cycle, ` +
            `${caseOf('r.outcome', OUTCOMES)} AS outcome, ${caseOf('r.flush_reason', reasons)} AS flush_reason, r.flush_cycle, r.stalls` +
            `${stages.map((column) => `, r.${named(column)}`).join('')}, r.dependencies, r.annotations ` +
            `FROM ${source} r LEFT JOIN ${statics.table} s ON r.static = s.static`
          );
        },
      },
    );
    return new InstructionsTable(core, trace, files, dependencies, annotations, statics);
  }

  get count(): number {
    return this.total;
  }

  async add(block: InstructionBlock): Promise<void> {
    await this.trace.strings.load(new Set(block.annotations.string));
    this.rows(block);
    if (!this.files.isFull && !this.statics.isFull) return;
    await this.files.next();
    this.statics.restart();
  }

  finish(): Promise<void> {
    return this.files.finish();
  }

  private rows(block: InstructionBlock): void {
    const cycle = cyclesOf(block, this.core.periodPs);
    const numbers = this.statics.numbersOf(block);
    const { rows } = this.files;
    let [stall, flush] = [0, 0];
    this.dependency = 0;
    this.annotation = 0;
    for (let row = 0; row < block.count; row++) {
      const at = rows.begin();
      const { columns } = rows;
      const flags = block.flags[row];
      const end = endOf(block, row);
      this.ends[end]++;
      const number = rowNumber(block, row);
      if (number < 0) columns[SEQ].setNull(at);
      else columns[SEQ].set(at, number);
      columns[ID].set(at, block.id[row]);
      if (flags & BlockFlag.HAS_THREAD && block.thread) columns[THREAD].set(at, block.thread[row]);
      else columns[THREAD].setNull(at);
      columns[STATIC].set(at, numbers[block.statics[row]]);
      if (flags & BlockFlag.BIRTH_UNKNOWN) columns[BIRTH].setNull(at);
      else columns[BIRTH].set(at, cycle(block.birth[row]));
      if (end === BlockEnd.IN_FLIGHT) columns[END].setNull(at);
      else columns[END].set(at, cycle(block.end[row]));
      columns[OUTCOME].set(at, end);
      if (flags & BlockFlag.FLUSHED) {
        flush = firstOf(block.flushes, row);
        if (block.flushes.reason) columns[FLUSH].set(at, block.flushes.reason[flush]);
        else columns[FLUSH].setNull(at);
        columns[FLUSHED_AT].set(at, cycle(sideTick(block, block.flushes, flush)));
      } else {
        columns[FLUSH].setNull(at);
        columns[FLUSHED_AT].setNull(at);
      }
      const firstStall = stall;
      while (stall < block.stalls.row.length && block.stalls.row[stall] === row) stall++;
      columns[STALLS].set(at, stall - firstStall);
      this.addStages(block, row, end, cycle, at);
      this.addDependencies(block, row, cycle, at);
      this.addAnnotations(block, row, cycle, at);
      rows.endRow();
      this.total++;
    }
  }

  private addDependencies(block: InstructionBlock, row: number, cycle: CycleOfTick, at: number): void {
    const { dependencies: list } = block;
    const types = this.core.events.get('dependency')?.fields.get('dep_type')?.labels?.values ?? [];
    for (; this.dependency < list.row.length && list.row[this.dependency] === row; this.dependency++) {
      const entry = this.dependencies.add(at);
      const producer = producerNumber(block, this.dependency);
      if (producer < 0) this.dependencies.setNull(0, entry);
      else this.dependencies.setNumber(0, entry, producer);
      const type = list.type?.[this.dependency];
      const label = types.find(({ value }) => value === type)?.name;
      this.dependencies.setText(1, entry, label ?? (type === undefined ? null : String(type)));
      this.dependencies.setNumber(2, entry, cycle(sideTick(block, list, this.dependency)));
    }
  }

  private addAnnotations(block: InstructionBlock, row: number, cycle: CycleOfTick, at: number): void {
    const { annotations: list } = block;
    for (; this.annotation < list.row.length && list.row[this.annotation] === row; this.annotation++) {
      const entry = this.annotations.add(at);
      const reference = list.string[this.annotation];
      this.annotations.setNumber(0, entry, cycle(sideTick(block, list, this.annotation)));
      this.annotations.setText(1, entry, this.trace.strings.peek(reference) ?? `#${reference}`);
    }
  }

  private addStages(
    block: InstructionBlock,
    row: number,
    end: BlockEnd,
    cycle: (tick: number) => number,
    at: number,
  ): void {
    const { entered, spent } = this;
    const { rows } = this.files;
    entered.fill(-1);
    spent.fill(0);
    const first = block.stageStart[row];
    const count = block.stageStart[row + 1] - first;
    let tick = stagesBegin(block, row);
    let previous = -1;
    let since = 0;
    for (let i = 0; i < count; i++) {
      tick += stayTicks(block, first + i);
      const now = cycle(tick);
      if (previous >= 0) spent[previous] += now - since;
      previous = stageOf(block, row, i);
      since = now;
      if (previous >= 0 && entered[previous] < 0) entered[previous] = now;
    }
    const isOpen = end === BlockEnd.IN_FLIGHT;
    if (previous >= 0 && !isOpen) spent[previous] += cycle(block.end[row]) - since;
    for (let stage = 0; stage < entered.length; stage++) {
      const column = FIXED.length + stage * 2;
      if (entered[stage] < 0) {
        rows.columns[column].setNull(at);
        rows.columns[column + 1].setNull(at);
        continue;
      }
      rows.columns[column].set(at, entered[stage]);
      if (isOpen && stage === previous) rows.columns[column + 1].setNull(at);
      else rows.columns[column + 1].set(at, spent[stage]);
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
