/** The table `instructions`: one row for each instruction, in order of birth. */
import type { EnumDef } from '../../format/types.js';
import {
  BlockEnd,
  BlockFlag,
  type CpuCore,
  endOf,
  firstOf,
  type InstructionBlock,
  rowNumber,
  stageOf,
  stagesBegin,
  stayTicks,
} from '../../semantics/cpu/index.js';
import { type Connection, type Engine, named, quoted } from '../engine/duckdb.js';
import { TableWriter } from '../engine/table-writer.js';
import { cyclesOf } from './cycles.js';
import { Statics } from './statics.js';

const FIXED = [
  'seq',
  'id',
  'thread',
  'static',
  'birth_cycle',
  'end_cycle',
  'outcome',
  'flush_reason',
  'stalls',
];
const [SEQ, ID, THREAD, STATIC, BIRTH, END, OUTCOME, FLUSH, STALLS] = FIXED.keys();
const OUTCOMES = {
  values: [
    { value: BlockEnd.IN_FLIGHT, name: 'in_flight' },
    { value: BlockEnd.RETIRED, name: 'retired' },
    { value: BlockEnd.SQUASHED, name: 'squashed' },
    { value: BlockEnd.LOST, name: 'lost' },
  ],
};

/** Name of a column for a stage. */
export const stageColumn = (stage: string): string =>
  stage
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^(?=[0-9])|^$/, 's');

export class InstructionsTable {
  private readonly statics = new Statics();
  private readonly entered: Float64Array;
  private readonly spent: Float64Array;
  /** Tallies for the table `traces`. */
  readonly ends = [0, 0, 0, 0];

  private constructor(
    private readonly engine: Engine,
    private readonly connection: Connection,
    private readonly core: CpuCore,
    private readonly rows: TableWriter,
  ) {
    this.entered = new Float64Array(core.stages.length);
    this.spent = new Float64Array(core.stages.length);
  }

  static async create(engine: Engine, connection: Connection, core: CpuCore): Promise<InstructionsTable> {
    const stages = core.stages.map(stageColumn);
    const names = stages.flatMap((stage) => [`${stage}_cycle`, `${stage}_cycles`]);
    const rows = await TableWriter.create(engine, connection, 'instruction_rows', [...FIXED, ...names]);
    return new InstructionsTable(engine, connection, core, rows);
  }

  get count(): number {
    return this.rows.total + this.rows.row;
  }

  add(block: InstructionBlock): void {
    const cycle = cyclesOf(block, this.core.periodPs);
    const numbers = this.statics.numbersOf(block);
    let [stall, flush] = [0, 0];
    for (let row = 0; row < block.count; row++) {
      const { columns, row: at } = this.rows;
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
      if (flags & BlockFlag.FLUSHED && block.flushes.reason) {
        flush = firstOf(block.flushes, row);
        columns[FLUSH].set(at, block.flushes.reason[flush]);
      } else columns[FLUSH].setNull(at);
      const firstStall = stall;
      while (stall < block.stalls.row.length && block.stalls.row[stall] === row) stall++;
      columns[STALLS].set(at, stall - firstStall);
      this.addStages(block, row, end, cycle, at);
      this.rows.endRow();
    }
  }

  private addStages(
    block: InstructionBlock,
    row: number,
    end: BlockEnd,
    cycle: (tick: number) => number,
    at: number,
  ): void {
    const { entered, spent, rows } = this;
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

  /** The query whose rows are the table. */
  async finish(): Promise<string> {
    this.rows.close();
    await this.statics.write(this.engine, this.connection, this.core);
    const labels = this.core.events.get('flush')?.fields.get('reason')?.labels ?? null;
    const stages = this.core.stages
      .map(stageColumn)
      .flatMap((stage) => [`${stage}_cycle`, `${stage}_cycles`])
      .map((name) => `, r.${named(name)}`)
      .join('');
    return (
      `SELECT r.seq, r.id, r.thread, s.pc, s.bits, s."text", s.class::VARCHAR AS class, r.birth_cycle, r.end_cycle, ` +
      `${caseOf('r.outcome', OUTCOMES)} AS outcome, ` +
      `${caseOf('r.flush_reason', labels)} AS flush_reason, r.stalls${stages} ` +
      'FROM instruction_rows r LEFT JOIN statics s ON r.static = s.static'
    );
  }
}

/** Labels instead of the numbers of a column. */
export function caseOf(column: string, labels: Pick<EnumDef, 'values'> | null): string {
  if (labels === null || labels.values.length === 0) return `${column}::VARCHAR`;
  const cases = labels.values.map(({ value, name }) => `WHEN ${value} THEN ${quoted(name)}`).join(' ');
  return `CASE ${column} ${cases} ELSE ${column}::VARCHAR END`;
}
