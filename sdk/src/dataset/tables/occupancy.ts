/** The table `occupancy`: one row for each buffer of a core and number of its slots that were taken, with the cycles that ended so. */
import type { StorageDef } from '../../format/types.js';
import type { StorageState } from '../../state/storage-state.js';
import { type Destination, PartFiles } from '../files/part-files.js';
import { NumberColumn } from '../parquet/columns.js';
import type { Cycles, RawSink } from '../raw/raw-pass.js';
import { nameColumn } from '../raw/text-columns.js';
import type { CountedUnit } from '../raw/units.js';

export class OccupancySink implements RawSink {
  /** By buffer, then by slots taken. */
  private readonly cyclesAt: readonly Float64Array[];
  /** Slots of each buffer taken since `since`; -1: not known. */
  private readonly taken: Int32Array;
  private since = 0;
  /** Nothing is known between a gap and what follows it. */
  private isKnown = false;

  private readonly columns;
  private readonly files: PartFiles;

  private constructor(
    to: Destination,
    core: string,
    private readonly buffers: readonly StorageDef[],
    private readonly cycles: Cycles,
    /** Number of cycles of the whole trace. */
    private readonly total: number,
  ) {
    const names = nameColumn(
      'buffer',
      buffers.map(({ name }) => name),
    );
    this.columns = [names, ...['slots', 'taken', 'cycles'].map((column) => new NumberColumn(column))];
    this.files = new PartFiles(to, { table: 'occupancy', core }, this.columns);
    this.cyclesAt = buffers.map(({ numSlots }) => new Float64Array(numSlots + 1));
    this.taken = new Int32Array(buffers.length);
  }

  /** null: the unit has no buffers, or no cycles. */
  static create(to: Destination, { unit, cycles }: CountedUnit, total: number): OccupancySink | null {
    const buffers = unit.core?.buffers ?? [];
    if (buffers.length === 0 || !unit.hasCycles) return null;
    return new OccupancySink(to, unit.name, buffers, cycles, total);
  }

  begin(state: StorageState, isResumed: boolean): void {
    if (!isResumed) return;
    // Before its first frame, a trace is as its first checkpoint says.
    if (this.since > 0) this.since = this.cycles.now;
    this.take(state);
    this.isKnown = true;
  }

  settle(state: StorageState): void {
    const { now } = this.cycles;
    if (now > this.since) this.account(now);
    this.take(state);
  }

  gap(): void {
    if (this.isKnown) this.account(this.cycles.now + 1);
    this.since = this.cycles.now + 1;
    this.isKnown = false;
  }

  rotate(): Promise<void> {
    return this.files.rotate();
  }

  finish(): Promise<void> {
    if (this.isKnown) this.account(this.total);
    this.buffers.forEach(({ numSlots }, index) => {
      this.cyclesAt[index].forEach((cycles, taken) => {
        if (cycles > 0) this.row(index, numSlots, taken, cycles);
      });
    });
    return this.files.finish();
  }

  private take(state: StorageState): void {
    for (let index = 0; index < this.buffers.length; index++)
      this.taken[index] = state.occupancy(this.buffers[index].storageId);
  }

  /** The cycles from `since` on ended with what was taken last. */
  private account(until: number): void {
    const { cyclesAt, taken, since } = this;
    if (until <= since) return;
    for (let index = 0; index < taken.length; index++) cyclesAt[index][taken[index]] += until - since;
    this.since = until;
  }

  private row(buffer: number, slots: number, taken: number, cycles: number): void {
    const { rows } = this.files;
    const at = rows.begin();
    this.columns[0].set(at, buffer);
    this.columns[1].set(at, slots);
    this.columns[2].set(at, taken);
    this.columns[3].set(at, cycles);
    rows.endRow();
  }
}
