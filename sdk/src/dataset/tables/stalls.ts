/** The table `stalls`: one row for each stall event of a core. */
import type { FrameCursor } from '../../format/frame.js';
import { fieldSize } from '../../format/types.js';
import type { CoreEvent } from '../../semantics/cpu/index.js';
import { type Destination, PartFiles } from '../files/part-files.js';
import { NumberColumn } from '../parquet/columns.js';
import type { Cycles, RawSink } from '../raw/raw-pass.js';
import { labelColumn } from '../raw/text-columns.js';
import type { CountedUnit } from '../raw/units.js';

export class StallsSink implements RawSink {
  private readonly columns;
  private readonly files: PartFiles;

  private constructor(
    to: Destination,
    core: string,
    private readonly of: CoreEvent,
    private readonly cycles: Cycles,
  ) {
    const reason = labelColumn('reason', of.fields.get('reason')?.labels ?? null);
    this.columns = [new NumberColumn('cycle'), reason, new NumberColumn('id')];
    this.files = new PartFiles(to, { table: 'stalls', core }, this.columns);
  }

  /** null: the unit reports no stalls. */
  static create(to: Destination, { unit, cycles }: CountedUnit): StallsSink | null {
    const event = unit.core?.events.get('stall');
    return event ? new StallsSink(to, unit.name, event, cycles) : null;
  }

  event(cursor: FrameCursor): void {
    if (cursor.eventType !== this.of.def.eventTypeId) return;
    const { rows } = this.files;
    const row = rows.begin();
    this.columns[0].set(row, this.cycles.now);
    this.set(1, 'reason', cursor, row);
    this.set(2, 'entity_id', cursor, row);
    rows.endRow();
  }

  rotate(): Promise<void> {
    return this.files.rotate();
  }

  finish(): Promise<void> {
    return this.files.finish();
  }

  private set(column: number, name: string, { bytes, payloadOffset }: FrameCursor, row: number): void {
    const field = this.of.fields.get(name);
    const target = this.columns[column];
    if (!field) {
      target.setNull(row);
      return;
    }
    let value = 0;
    for (let i = Math.min(fieldSize(field.type), 4) - 1; i >= 0; i--)
      value = value * 256 + bytes[payloadOffset + field.offset + i];
    target.set(row, value);
  }
}
