/** The table `cycles`: one row for each cycle of a core that the trace has a frame of, with how full its buffers were. */
import type { StorageDef } from '../../format/types.js';
import type { StorageState } from '../../state/storage-state.js';
import { ColumnNames } from '../files/names.js';
import { type Destination, PartFiles } from '../files/part-files.js';
import { NumberColumn } from '../parquet/columns.js';
import type { Cycles, RawSink } from '../raw/raw-pass.js';
import type { CountedUnit } from '../raw/units.js';
import type { RetiredCounts } from './retired.js';

const FIXED = ['cycle', 'cycles', 'retired'];

export class CyclesSink implements RawSink {
  /** Of the row to come; -1: none. */
  private at = -1;
  private readonly occupied: Float64Array;
  private readonly columns: readonly NumberColumn[];
  private readonly files: PartFiles;

  private constructor(
    to: Destination,
    core: string,
    private readonly buffers: readonly StorageDef[],
    private readonly cycles: Cycles,
    private readonly retired: RetiredCounts | null,
  ) {
    this.occupied = new Float64Array(buffers.length);
    const names = new ColumnNames(FIXED);
    const taken = buffers.map(({ name }) => names.add(`${name}_taken`));
    this.columns = [...FIXED, ...taken].map((name) => new NumberColumn(name));
    this.files = new PartFiles(to, { table: 'cycles', core }, this.columns);
  }

  /**
   * null: the unit is not a core.
   * @param retired instructions in each cycle; null: the core has no instructions
   */
  static create(
    to: Destination,
    { unit, cycles }: CountedUnit,
    retired: RetiredCounts | null,
  ): CyclesSink | null {
    if (!unit.core || !unit.hasCycles) return null;
    return new CyclesSink(to, unit.name, unit.core.buffers, cycles, retired);
  }

  settle(state: StorageState, isFrame: boolean): void {
    if (!isFrame) return;
    const { now } = this.cycles;
    if (now !== this.at) {
      if (this.at >= 0) this.row(now - this.at);
      this.at = now;
    }
    this.buffers.forEach(({ storageId }, index) => {
      this.occupied[index] = state.occupancy(storageId);
    });
  }

  gap(): void {
    if (this.at >= 0) this.row(Number.NaN);
    this.at = -1;
  }

  rotate(): Promise<void> {
    return this.files.rotate();
  }

  finish(): Promise<void> {
    if (this.at >= 0) this.row(1);
    return this.files.finish();
  }

  /** @param cycles until the next one; NaN: not known */
  private row(cycles: number): void {
    const { columns, retired, occupied } = this;
    const { rows } = this.files;
    const row = rows.begin();
    columns[0].set(row, this.at);
    columns[1].set(row, cycles);
    columns[2].set(row, retired?.at(this.at) ?? Number.NaN);
    for (let index = 0; index < occupied.length; index++) columns[index + 3].set(row, occupied[index]);
    rows.endRow();
  }
}
