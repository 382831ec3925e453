/** The table `stages`: one row for each visit of an instruction to a stage. */
import {
  BlockEnd,
  endOf,
  type InstructionBlock,
  rowNumber,
  stageOf,
  stagesBegin,
  stageValueOf,
  stayTicks,
} from '../../semantics/blocks/block.js';
import { cyclesOf } from '../../semantics/blocks/cycles.js';
import { type CpuCore, NO_STAGE } from '../../semantics/cpu/index.js';
import { type Destination, PartFiles } from '../files/part-files.js';
import { CodeColumn, NumberColumn } from '../parquet/columns.js';
import { LabelDictionary } from '../parquet/dictionary.js';

/** Values that are not a stage of the core are its number plus this. */
const FOREIGN = 0x1_0000;

export class StagesTable {
  private readonly columns;
  readonly files: PartFiles;

  constructor(
    to: Destination,
    name: string,
    private readonly core: CpuCore,
  ) {
    const { stages } = core;
    const labels = new LabelDictionary((code) =>
      code >= FOREIGN ? String(code - FOREIGN) : (stages[code] ?? String(code)),
    );
    this.columns = [
      ...['seq', 'id', 'visit'].map((column) => new NumberColumn(column)),
      new CodeColumn('stage', labels),
      ...['from_cycle', 'cycles'].map((column) => new NumberColumn(column)),
    ];
    this.files = new PartFiles(to, { table: 'stages', core: name }, this.columns);
  }

  add(block: InstructionBlock): void {
    const cycle = cyclesOf(block, this.core.periodPs);
    const { columns } = this;
    const { rows } = this.files;
    for (let row = 0; row < block.count; row++) {
      const first = block.stageStart[row];
      const count = block.stageStart[row + 1] - first;
      const number = rowNumber(block, row);
      const isOpen = endOf(block, row) === BlockEnd.IN_FLIGHT;
      // Delays of one whose birth is not known count from the block's beginning.
      let tick = stagesBegin(block, row);
      let visit = 0;
      for (let entry = 0; entry < count; entry++) {
        tick += stayTicks(block, first + entry);
        const stage = stageOf(block, row, entry);
        if (stage === NO_STAGE) continue;
        const from = cycle(tick);
        const isLast = entry === count - 1;
        const to = isLast
          ? isOpen
            ? Number.NaN
            : cycle(block.end[row])
          : cycle(tick + stayTicks(block, first + entry + 1));
        const at = rows.begin();
        columns[0].set(at, number < 0 ? Number.NaN : number);
        columns[1].set(at, block.id[row]);
        columns[2].set(at, visit++);
        columns[3].set(at, stage < 0 ? FOREIGN + stageValueOf(block, row, entry) : stage);
        columns[4].set(at, from);
        columns[5].set(at, to - from);
        rows.endRow();
      }
    }
  }
}
