/** The table `transactions`: one row for each transaction of a network. */
import { isDamage } from '../../base/errors.js';
import type { Trace } from '../../reader/index.js';
import {
  type NocNetwork,
  type TransactionBlock,
  TransactionBlockEnd,
  TransactionField,
  TransactionFlag,
  transactionBlocks,
} from '../../semantics/noc/index.js';
import { labelColumn } from '../files/labels.js';
import { ColumnNames, plainName } from '../files/names.js';
import { type Destination, PartFiles } from '../files/part-files.js';
import { CodeColumn, type FlatColumn, NumberColumn, WordColumn } from '../parquet/columns.js';
import { LabelDictionary } from '../parquet/dictionary.js';
import { type Gap, stretchesOf } from '../raw/gaps.js';

const FIXED = [
  'id',
  'opcode',
  'addr',
  'len',
  'size',
  'src_port',
  'dst_port',
  'birth_cycle',
  'end_cycle',
  'outcome',
  'beats',
  'retries',
  'timeouts',
  'arbitrations',
  'handoffs',
];
const [
  ID,
  OPCODE,
  ADDR,
  LEN,
  SIZE,
  SRC,
  DST,
  BIRTH,
  END,
  OUTCOME,
  BEATS,
  RETRIES,
  TIMEOUTS,
  ARBITRATIONS,
  HANDOFFS,
] = FIXED.keys();
const OUTCOMES = {
  values: [
    { value: TransactionBlockEnd.IN_FLIGHT, name: 'in_flight' },
    { value: TransactionBlockEnd.COMPLETED, name: 'completed' },
    { value: TransactionBlockEnd.LOST, name: 'lost' },
  ],
};

export class TransactionsTable {
  private readonly entered: Float64Array;
  private readonly spent: Float64Array;

  private readonly columns: readonly FlatColumn[];
  readonly files: PartFiles;

  constructor(
    to: Destination,
    core: string,
    private readonly network: NocNetwork,
    private readonly periodPs: bigint,
  ) {
    this.entered = new Float64Array(network.stages.length);
    this.spent = new Float64Array(network.stages.length);
    const names = new ColumnNames(FIXED);
    const stages = network.stages.flatMap((stage) => [
      names.add(`${plainName(stage)}_cycle`),
      names.add(`${plainName(stage)}_cycles`),
    ]);
    this.columns = [...FIXED.map((name) => columnOf(name, network)), ...stages.map(numberColumn)];
    this.files = new PartFiles(to, { table: 'transactions', core }, this.columns);
  }

  /** All of the trace, in the stretches between its gaps. */
  async write(trace: Trace, gaps: readonly Gap[]): Promise<void> {
    if (!this.network.transactions) {
      await this.files.finish();
      return;
    }
    const damaged = new Set(gaps.map(({ segment }) => segment));
    for (const { first, end } of stretchesOf(trace, damaged)) await this.stretch(trace, first, end);
    await this.files.finish();
  }

  private async stretch(trace: Trace, first: number, end: number): Promise<void> {
    const isWhole = first === 0 && end === trace.segmentCount;
    const range = isWhole
      ? {}
      : {
          // The segment before may end in this instant: it is not to be touched.
          from: first === 0 ? 0n : (await trace.segment(first)).timeStartPs + 1n,
          to: end < trace.segmentCount ? (await trace.segment(end)).timeStartPs : undefined,
        };
    const options = isWhole ? {} : { lookback: 0, lookahead: 0 };
    try {
      for await (const block of transactionBlocks(trace, this.network, range, options)) {
        this.add(block);
        await this.files.rotate();
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
  }

  private add(block: TransactionBlock): void {
    const { columns } = this;
    const { rows } = this.files;
    const base = block.basePs;
    const cycle = (ps: number): number => Number((base + BigInt(ps)) / this.periodPs);
    const sides = [block.beats, block.retries, block.timeouts, block.arbitrations, block.handoffs];
    const next = sides.map(() => 0);
    let stage = 0;
    for (let row = 0; row < block.count; row++) {
      const at = rows.begin();
      const flags = block.flags[row];
      const isKnown = (flags & TransactionFlag.END_MASK) !== TransactionBlockEnd.UNKNOWN;
      // Where damage hides the end.
      const outcome = isKnown ? flags & TransactionFlag.END_MASK : TransactionBlockEnd.LOST;
      columns[ID].set(at, block.id[row]);
      const known = block.known[row];
      const set = (column: number, mask: number, values: ArrayLike<number>): void => {
        if (known & mask) columns[column].set(at, values[row]);
        else columns[column].setNull(at);
      };
      set(OPCODE, TransactionField.OPCODE, block.opcode);
      if (known & TransactionField.ADDR) columns[ADDR].setWords(at, block.addrLo[row], block.addrHi[row]);
      else columns[ADDR].setNull(at);
      set(LEN, TransactionField.LEN, block.len);
      set(SIZE, TransactionField.SIZE, block.size);
      set(SRC, TransactionField.SRC_PORT, block.srcPort);
      set(DST, TransactionField.DST_PORT, block.dstPort);
      if (flags & TransactionFlag.BIRTH_UNKNOWN) columns[BIRTH].setNull(at);
      else columns[BIRTH].set(at, cycle(block.birth[row]));
      const end = block.end[row] < 0 ? -1 : cycle(block.end[row]);
      if (end < 0) columns[END].setNull(at);
      else columns[END].set(at, end);
      columns[OUTCOME].set(at, outcome);
      sides.forEach((side, index) => {
        const from = next[index];
        while (next[index] < side.row.length && side.row[next[index]] === row) next[index]++;
        columns[[BEATS, RETRIES, TIMEOUTS, ARBITRATIONS, HANDOFFS][index]].set(at, next[index] - from);
      });
      stage = this.addStages(block, row, stage, cycle, end, at);
      rows.endRow();
    }
  }

  /** @returns where the stages of the next row begin */
  private addStages(
    { stages }: TransactionBlock,
    row: number,
    first: number,
    cycle: (ps: number) => number,
    end: number,
    at: number,
  ): number {
    const { entered, spent } = this;
    entered.fill(-1);
    spent.fill(0);
    let index = first;
    for (; index < stages.row.length && stages.row[index] === row; index++) {
      const stage = stages.stage[index];
      if (stage < 0) continue;
      const from = cycle(stages.time[index]);
      const isLast = stages.row[index + 1] !== row;
      const to = isLast ? end : cycle(stages.time[index + 1]);
      if (entered[stage] < 0) entered[stage] = from;
      spent[stage] = to < 0 ? Number.NaN : spent[stage] + to - from;
    }
    entered.forEach((from, stage) => {
      const { columns } = this;
      const column = FIXED.length + stage * 2;
      if (from < 0) columns[column].setNull(at);
      else columns[column].set(at, from);
      if (from < 0 || Number.isNaN(spent[stage])) columns[column + 1].setNull(at);
      else columns[column + 1].set(at, spent[stage]);
    });
    return index;
  }
}

const numberColumn = (name: string): NumberColumn => new NumberColumn(name);

function columnOf(name: string, { transactions }: NocNetwork): FlatColumn {
  if (name === 'addr') return new WordColumn(name, true);
  if (name === 'outcome') return labelColumn(name, OUTCOMES);
  if (name !== 'opcode') return numberColumn(name);
  const labels = new LabelDictionary((code) => transactions?.opcodeLabel(code) ?? String(code));
  return new CodeColumn(name, labels);
}
