/** The table `cycles`: one row for each cycle of a core that the trace has a frame of, with how full its buffers were. */
import type { StorageDef } from '../../format/types.js';
import type { StorageState } from '../../state/storage-state.js';
import { named } from '../engine/duckdb.js';
import { ColumnNames } from '../files/names.js';
import { type Destination, PartFiles } from '../files/part-files.js';
import type { Cycles, RawSink } from '../raw/raw-pass.js';
import type { CountedUnit } from '../raw/units.js';

const FIXED = ['cycle', 'cycles', 'retired'];

export class CyclesSink implements RawSink {
  /** Of the row to come; -1: none. */
  private at = -1;
  private readonly occupied: Float64Array;

  private constructor(
    private readonly buffers: readonly StorageDef[],
    private readonly cycles: Cycles,
    private readonly files: PartFiles,
  ) {
    this.occupied = new Float64Array(buffers.length);
  }

  /**
   * null: the unit is no core.
   * @param retired a table of the scratch database with the cycle of each retired instruction; null: the core has no instructions
   */
  static async create(
    to: Destination,
    { unit, cycles }: CountedUnit,
    retired: string | null,
  ): Promise<CyclesSink | null> {
    if (!unit.core || !unit.hasCycles) return null;
    const { buffers } = unit.core;
    const names = new ColumnNames(FIXED);
    const columns = buffers.map(({ name }) => names.add(`${name}_taken`));
    const count = retired === null ? 'NULL::BIGINT' : 'coalesce(e.n, 0)';
    const join =
      retired === null
        ? ''
        : ` LEFT JOIN (SELECT cycle, count(*) AS n FROM ${retired} GROUP BY cycle) e ON r.cycle = e.cycle`;
    const files = await PartFiles.create(
      to,
      { table: 'cycles', core: unit.name },
      {
        names: ['cycle', 'cycles', ...columns],
        select: (source) =>
          `SELECT r.cycle, r.cycles, ${count} AS retired${columns.map((name) => `, r.${named(name)}`).join('')} FROM ${source} r${join}`,
      },
    );
    return new CyclesSink(buffers, cycles, files);
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
    if (this.at >= 0) this.row(-1);
    this.at = -1;
  }

  rotate(): Promise<void> {
    return this.files.rotate();
  }

  finish(): Promise<void> {
    if (this.at >= 0) this.row(1);
    return this.files.finish();
  }

  /** @param cycles until the next one; -1: not known */
  private row(cycles: number): void {
    const { rows } = this.files;
    const row = rows.begin();
    rows.columns[0].set(row, this.at);
    if (cycles < 0) rows.columns[1].setNull(row);
    else rows.columns[1].set(row, cycles);
    for (let index = 0; index < this.occupied.length; index++)
      rows.columns[index + 2].set(row, this.occupied[index]);
    rows.endRow();
  }
}
