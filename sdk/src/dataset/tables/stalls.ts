/** The table `stalls`: one row for each stall event of a core. */
import type { FrameCursor } from '../../format/frame.js';
import { fieldSize } from '../../format/types.js';
import type { CoreEvent } from '../../semantics/cpu/index.js';
import { caseOf } from '../files/labels.js';
import { type Destination, PartFiles } from '../files/part-files.js';
import type { Cycles, RawSink } from '../raw/raw-pass.js';
import type { CountedUnit } from '../raw/units.js';

export class StallsSink implements RawSink {
  private constructor(
    private readonly of: CoreEvent,
    private readonly cycles: Cycles,
    private readonly files: PartFiles,
  ) {}

  /** null: the unit reports no stalls. */
  static async create(to: Destination, { unit, cycles }: CountedUnit): Promise<StallsSink | null> {
    const event = unit.core?.events.get('stall');
    if (!event) return null;
    const labels = event.fields.get('reason')?.labels ?? null;
    const files = await PartFiles.create(
      to,
      { table: 'stalls', core: unit.name },
      {
        names: ['cycle', 'reason', 'id'],
        select: (source) => `SELECT cycle, ${caseOf('reason', labels)} AS reason, id FROM ${source}`,
      },
    );
    return new StallsSink(event, cycles, files);
  }

  event(cursor: FrameCursor): void {
    if (cursor.eventType !== this.of.def.eventTypeId) return;
    const { rows } = this.files;
    const row = rows.begin();
    rows.columns[0].set(row, this.cycles.now);
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
    const target = this.files.rows.columns[column];
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
