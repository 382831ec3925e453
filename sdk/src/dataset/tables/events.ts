/** The table `events`, divided by kind: one row for each event, with the fields of its payload as columns. */
import type { FrameCursor } from '../../format/frame.js';
import type { EventDef } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import type { Destination, PartFiles } from '../files/part-files.js';
import { NumberColumn, WordColumn } from '../parquet/columns.js';
import { createFieldFiles, type PayloadField, setField } from '../raw/payload-columns.js';
import type { Cycles, RawSink } from '../raw/raw-pass.js';
import { type CountedUnit, PartitionNames } from '../raw/units.js';

/** The events of one kind. */
class EventTable {
  readonly files: PartFiles;
  private readonly cycle = new NumberColumn('cycle');
  private readonly time = new WordColumn('time_ps');
  private readonly fields: readonly PayloadField[];

  constructor(
    to: Destination,
    trace: Trace,
    core: string,
    def: EventDef,
    private readonly cycles: Cycles,
  ) {
    const of = { table: 'events', core, key: def.name };
    const { files, fields } = createFieldFiles(to, trace, of, def.fields, [this.cycle, this.time]);
    this.files = files;
    this.fields = fields;
  }

  add(cursor: FrameCursor, view: DataView): void {
    const { rows } = this.files;
    const row = rows.begin();
    this.cycle.set(row, this.cycles.now);
    this.time.setWords(row, cursor.timeLo, cursor.timeHi);
    for (const field of this.fields) {
      const at = cursor.payloadOffset + field.offset;
      setField(
        field,
        row,
        lowOf(view, at, field.bytes),
        field.bytes === 8 ? view.getUint32(at + 4, true) : 0,
      );
    }
    rows.endRow();
  }
}

function lowOf(view: DataView, at: number, bytes: number): number {
  if (bytes === 1) return view.getUint8(at);
  return bytes === 2 ? view.getUint16(at, true) : view.getUint32(at, true);
}

export class EventsSink implements RawSink {
  private view: DataView = new DataView(new ArrayBuffer(0));
  private bytes: Uint8Array | null = null;

  private constructor(private readonly tables: ReadonlyMap<number, EventTable>) {}

  static create(to: Destination, trace: Trace, units: readonly CountedUnit[]): EventsSink {
    const tables = new Map<number, EventTable>();
    for (const { unit, cycles } of units) {
      const cores = new PartitionNames(unit.name);
      for (const def of unit.events)
        tables.set(def.eventTypeId, new EventTable(to, trace, cores.of(def), def, cycles));
    }
    return new EventsSink(tables);
  }

  event(cursor: FrameCursor): void {
    const { bytes } = cursor;
    if (bytes !== this.bytes) {
      this.bytes = bytes;
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    this.tables.get(cursor.eventType)?.add(cursor, this.view);
  }

  async rotate(): Promise<void> {
    for (const { files } of this.tables.values()) await files.rotate();
  }

  async finish(): Promise<void> {
    for (const { files } of this.tables.values()) await files.finish();
  }
}
