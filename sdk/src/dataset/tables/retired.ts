/** The cycles in which instructions retired, in the scratch database: what the table `cycles` counts. */
import { BlockEnd, type CpuCore, endOf, type InstructionBlock } from '../../semantics/cpu/index.js';
import { TableWriter } from '../engine/table-writer.js';
import type { Destination } from '../files/part-files.js';
import { cyclesOf } from './ticks.js';

export class RetiredTable {
  private constructor(
    private readonly core: CpuCore,
    private readonly rows: TableWriter,
  ) {}

  static async create(to: Destination, core: CpuCore): Promise<RetiredTable> {
    return new RetiredTable(
      core,
      await TableWriter.create(to.engine, to.connection, to.scratchName(), ['cycle']),
    );
  }

  get table(): string {
    return this.rows.table;
  }

  add(block: InstructionBlock): void {
    const cycle = cyclesOf(block, this.core.periodPs);
    for (let row = 0; row < block.count; row++) {
      if (endOf(block, row) !== BlockEnd.RETIRED) continue;
      const at = this.rows.begin();
      this.rows.columns[0].set(at, cycle(block.end[row]));
      this.rows.endRow();
    }
  }

  close(): this {
    this.rows.close();
    return this;
  }
}
