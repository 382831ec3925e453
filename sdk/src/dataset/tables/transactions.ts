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
import { ColumnNames, plainName } from '../files/names.js';
import { type Destination, PartFiles } from '../files/part-files.js';
import { CodeColumn, type FlatColumn, NumberColumn, WordColumn } from '../parquet/columns.js';
import { LabelDictionary } from '../parquet/dictionary.js';
import { type Gap, stretchesOf } from '../raw/gaps.js';
import { labelColumn } from '../raw/text-columns.js';

const OUTCOMES = {
  values: [
    { value: TransactionBlockEnd.IN_FLIGHT, name: 'in_flight' },
    { value: TransactionBlockEnd.COMPLETED, name: 'completed' },
    { value: TransactionBlockEnd.LOST, name: 'lost' },
  ],
};

const number = (name: string): NumberColumn => new NumberColumn(name);

export class TransactionsTable {
  private readonly columns;
  private readonly stages: readonly (readonly [entered: NumberColumn, spent: NumberColumn])[];
  readonly files: PartFiles;

  constructor(
    to: Destination,
    core: string,
    private readonly network: NocNetwork,
    private readonly periodPs: bigint,
  ) {
    const { stages, transactions } = network;
    const opcodes = new LabelDictionary((code) => transactions?.opcodeLabel(code) ?? String(code));
    this.columns = {
      id: number('id'),
      opcode: new CodeColumn('opcode', opcodes),
      addr: new WordColumn('addr', true),
      ...{ len: number('len'), size: number('size'), src: number('src_port'), dst: number('dst_port') },
      ...{
        birth: number('birth_cycle'),
        end: number('end_cycle'),
        outcome: labelColumn('outcome', OUTCOMES),
      },
      sides: ['beats', 'retries', 'timeouts', 'arbitrations', 'handoffs'].map(number),
    };
    const { sides, ...plain } = this.columns;
    const fixed: FlatColumn[] = [...Object.values(plain), ...sides];
    const names = new ColumnNames(fixed.map(({ name }) => name));
    this.stages = stages
      .map(plainName)
      .map((stage) => [number(names.add(`${stage}_cycle`)), number(names.add(`${stage}_cycles`))]);
    this.files = new PartFiles(to, { table: 'transactions', core }, [...fixed, ...this.stages.flat()]);
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
      columns.id.set(at, block.id[row]);
      const known = block.known[row];
      const set = (column: FlatColumn, mask: number, values: ArrayLike<number>): void =>
        column.set(at, known & mask ? values[row] : Number.NaN);
      set(columns.opcode, TransactionField.OPCODE, block.opcode);
      if (known & TransactionField.ADDR) columns.addr.setWords(at, block.addrLo[row], block.addrHi[row]);
      else columns.addr.setNull(at);
      set(columns.len, TransactionField.LEN, block.len);
      set(columns.size, TransactionField.SIZE, block.size);
      set(columns.src, TransactionField.SRC_PORT, block.srcPort);
      set(columns.dst, TransactionField.DST_PORT, block.dstPort);
      columns.birth.set(at, flags & TransactionFlag.BIRTH_UNKNOWN ? Number.NaN : cycle(block.birth[row]));
      const end = block.end[row] < 0 ? Number.NaN : cycle(block.end[row]);
      columns.end.set(at, end);
      columns.outcome.set(at, outcome);
      sides.forEach((side, index) => {
        const from = next[index];
        while (next[index] < side.row.length && side.row[next[index]] === row) next[index]++;
        columns.sides[index].set(at, next[index] - from);
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
    for (const [entered, spent] of this.stages) {
      entered.setNull(at);
      spent.setNull(at);
    }
    let index = first;
    for (; index < stages.row.length && stages.row[index] === row; index++) {
      const stage = stages.stage[index];
      if (stage < 0) continue;
      const [entered, spent] = this.stages[stage];
      const from = cycle(stages.time[index]);
      const isLast = stages.row[index + 1] !== row;
      const to = isLast ? end : cycle(stages.time[index + 1]);
      const isFirst = Number.isNaN(entered.values[at]);
      if (isFirst) entered.set(at, from);
      spent.set(at, (isFirst ? 0 : spent.values[at]) + to - from);
    }
    return index;
  }
}
