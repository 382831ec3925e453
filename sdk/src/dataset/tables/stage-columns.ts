/** The columns of `instructions` that the core's stages give: when an instruction first entered each, and the cycles it spent there. */
import {
  BlockEnd,
  endOf,
  type InstructionBlock,
  stageOf,
  stagesBegin,
  stayTicks,
} from '../../semantics/cpu/index.js';
import { type ColumnNames, plainName } from '../files/names.js';
import { NumberColumn } from '../parquet/columns.js';
import type { CycleOfTick } from './ticks.js';

export class StageColumns {
  private readonly entered: readonly NumberColumn[];
  private readonly spent: readonly NumberColumn[];
  readonly columns: readonly NumberColumn[];

  constructor(stages: readonly string[], names: ColumnNames) {
    const column = (name: string): NumberColumn => new NumberColumn(names.add(name));
    const pairs = stages
      .map(plainName)
      .map((stage) => [column(`${stage}_cycle`), column(`${stage}_cycles`)] as const);
    this.entered = pairs.map(([entered]) => entered);
    this.spent = pairs.map(([, spent]) => spent);
    this.columns = pairs.flat();
  }

  add(block: InstructionBlock, first: number, count: number, to: number, cycle: CycleOfTick): void {
    for (const { values } of this.columns) values.fill(Number.NaN, to, to + count);
    for (let i = 0; i < count; i++) this.addRow(block, first + i, to + i, cycle);
  }

  private addRow(block: InstructionBlock, row: number, at: number, cycle: CycleOfTick): void {
    const first = block.stageStart[row];
    const count = block.stageStart[row + 1] - first;
    let tick = stagesBegin(block, row);
    let stage = -1;
    let since = 0;
    for (let i = 0; i < count; i++) {
      tick += stayTicks(block, first + i);
      const now = cycle(tick);
      if (stage >= 0) this.spent[stage].values[at] += now - since;
      stage = stageOf(block, row, i);
      since = now;
      if (stage >= 0) this.enter(stage, at, now);
    }
    if (stage < 0) return;
    // It is still there.
    if (endOf(block, row) === BlockEnd.IN_FLIGHT) this.spent[stage].setNull(at);
    else this.spent[stage].values[at] += cycle(block.end[row]) - since;
  }

  private enter(stage: number, at: number, now: number): void {
    const { values } = this.entered[stage];
    if (!Number.isNaN(values[at])) return;
    values[at] = now;
    this.spent[stage].values[at] = 0;
  }
}
