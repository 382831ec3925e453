/** The table `counters`: one row for each counter and window of cycles in which something happened. */
import type { StorageDef } from '../../format/types.js';
import { isCounterStorage } from '../../format/types.js';
import type { StorageState } from '../../state/storage-state.js';
import { type Destination, PartFiles } from '../files/part-files.js';
import { NumberColumn, WordColumn } from '../parquet/columns.js';
import type { Cycles, RawSink } from '../raw/raw-pass.js';
import { nameColumn } from '../raw/text-columns.js';
import type { CountedUnit } from '../raw/units.js';

/** The counters of one unit. */
export class CountersSink implements RawSink {
  /** Number of the present window; -1: none has begun. */
  private at = -1;
  /** Low and high word of each counter's value where the window began, and now. */
  private readonly before: Uint32Array;
  private readonly now: Uint32Array;
  /** The window began in a gap, or ends in one. */
  private isBeforeKnown = true;
  private hasGap = false;
  /** The window in which the walk began, at the start or after a gap. */
  private resumed = -1;
  private readonly columns;
  private readonly files: PartFiles;

  private constructor(
    to: Destination,
    core: string,
    private readonly defs: readonly StorageDef[],
    private readonly window: number,
    private readonly cycles: Cycles,
  ) {
    this.columns = [
      nameColumn(
        'counter',
        defs.map(({ name }) => name),
      ),
      ...['from_cycle', 'to_cycle'].map((column) => new NumberColumn(column)),
      new WordColumn('delta'),
      new WordColumn('value', true),
    ];
    this.files = new PartFiles(to, { table: 'counters', core }, this.columns);
    this.before = new Uint32Array(defs.length * 2);
    this.now = new Uint32Array(defs.length * 2);
  }

  /** null: the unit has no counters, or no cycles. */
  static create(to: Destination, { unit, cycles }: CountedUnit, window: number): CountersSink | null {
    const defs = unit.storages.filter(isCounterStorage);
    if (defs.length === 0 || !unit.hasCycles) return null;
    return new CountersSink(to, unit.name, defs, window, cycles);
  }

  begin(state: StorageState, isResumed: boolean): void {
    if (!isResumed) return;
    if (this.hasGap && this.at >= 0 && this.windowNow() !== this.at) {
      this.rows(false);
      this.at = -1;
    }
    // A window that begins in a gap begins with values that nobody knows. One with a gap inside has both ends.
    if (this.at < 0) {
      this.isBeforeKnown = !this.hasGap;
      this.resumed = this.windowNow();
      this.take(state, this.before);
    }
    this.take(state, this.now);
    this.hasGap = false;
  }

  settle(state: StorageState, isFrame: boolean): void {
    if (!isFrame) return;
    const window = this.windowNow();
    if (window !== this.at) {
      if (this.at >= 0) {
        this.rows(true);
        this.isBeforeKnown = true;
        this.before.set(this.now);
      } else if (window !== this.resumed) this.isBeforeKnown = true;
      this.at = window;
    }
    this.take(state, this.now);
  }

  gap(): void {
    this.hasGap = true;
  }

  rotate(): Promise<void> {
    return this.files.rotate();
  }

  finish(): Promise<void> {
    if (this.at >= 0) this.rows(!this.hasGap);
    return this.files.finish();
  }

  private windowNow(): number {
    return Math.floor(this.cycles.now / this.window);
  }

  private take({ layout, cells }: StorageState, values: Uint32Array): void {
    this.defs.forEach(({ storageId }, index) => {
      const cell = layout.cellBase[storageId] * 2;
      values[index * 2] = cells[cell];
      values[index * 2 + 1] = cells[cell + 1];
    });
  }

  private rows(isValueKnown: boolean): void {
    const { now, before, columns, at, window } = this;
    const { rows } = this.files;
    for (let index = 0; index < this.defs.length; index++) {
      const row = rows.begin();
      columns[0].set(row, index);
      columns[1].set(row, at * window);
      columns[2].set(row, (at + 1) * window);
      const [lo, hi] = [now[index * 2], now[index * 2 + 1]];
      const [lo0, hi0] = [before[index * 2], before[index * 2 + 1]];
      if (isValueKnown && this.isBeforeKnown)
        columns[3].setWords(row, lo - lo0, hi - hi0 - (lo < lo0 ? 1 : 0));
      else columns[3].setNull(row);
      if (isValueKnown) columns[4].setWords(row, lo, hi);
      else columns[4].setNull(row);
      rows.endRow();
    }
  }
}
