/** The columns of `instructions` that the core's stages give: when an instruction first entered each, and the cycles it spent there. */
import {
  BlockEnd,
  endOf,
  type InstructionBlock,
  LONG_STAY,
  stagesBegin,
  stayTicks,
} from '../../semantics/blocks/block.js';
import type { CycleOfTick } from '../../semantics/blocks/cycles.js';
import { type ColumnNames, plainName } from '../files/names.js';
import { NumberColumn } from '../parquet/columns.js';

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
    const entered = this.entered.map(({ values }) => values);
    const spent = this.spent.map(({ values }) => values);
    const { stageStart, stageTicks, path, pathStart, pathStages } = block;
    for (let i = 0; i < count; i++) {
      const row = first + i;
      const at = to + i;
      const endOfStages = stageStart[row + 1];
      let step = pathStart[path[row]];
      let tick = stagesBegin(block, row);
      let stage = -1;
      let since = 0;
      for (let entry = stageStart[row]; entry < endOfStages; entry++, step++) {
        const ticks = stageTicks[entry];
        tick += ticks === LONG_STAY ? stayTicks(block, entry) : ticks;
        const now = cycle(tick);
        if (stage >= 0) spent[stage][at] += now - since;
        stage = pathStages[step];
        since = now;
        if (stage < 0 || !Number.isNaN(entered[stage][at])) continue;
        entered[stage][at] = now;
        spent[stage][at] = 0;
      }
      if (stage < 0) continue;
      // It may be there still.
      spent[stage][at] +=
        endOf(block, row) === BlockEnd.IN_FLIGHT ? Number.NaN : cycle(block.end[row]) - since;
    }
  }
}
