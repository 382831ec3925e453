/** The table `events`, divided by kind: one row for each event, with the fields of its payload as columns. */
import type { FrameCursor } from '../../format/frame.js';
import { type EventDef, FieldType } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import { type Destination, PartFiles } from '../files/part-files.js';
import { type PayloadColumn, payloadColumns, selectFields, setField } from '../raw/payload-columns.js';
import type { Cycles, RawSink } from '../raw/raw-pass.js';
import { TextTable } from '../raw/text-table.js';
import { type CountedUnit, PartitionNames } from '../raw/units.js';

const FIXED = ['event', 'cycle', 'time_ps'];

/** The events of one kind. */
class EventTable {
  private constructor(
    private readonly columns: readonly PayloadColumn[],
    readonly files: PartFiles,
    private readonly texts: TextTable | null,
    private readonly cycles: Cycles,
  ) {}

  static async create(
    to: Destination,
    trace: Trace,
    core: string,
    def: EventDef,
    cycles: Cycles,
  ): Promise<EventTable> {
    const columns = payloadColumns(trace.schema, def.fields, FIXED);
    const texts = columns.some(({ isString }) => isString)
      ? new TextTable(trace, to.connection, to.scratchName())
      : null;
    const files = await PartFiles.create(
      to,
      { table: 'events', core, key: def.name },
      {
        names: ['cycle', 'time_ps', ...columns.map(({ column }) => column)],
        select: async (source) => {
          await texts?.make();
          return selectFields(source, ['cycle', 'time_ps'], columns, texts);
        },
      },
    );
    return new EventTable(columns, files, texts, cycles);
  }

  add(cursor: FrameCursor, view: DataView): void {
    const { rows } = this.files;
    const row = rows.begin();
    rows.columns[0].set(row, this.cycles.now);
    rows.columns[1].setWords(row, cursor.timeLo, cursor.timeHi);
    for (let index = 0; index < this.columns.length; index++) {
      const column = this.columns[index];
      const at = cursor.payloadOffset + column.offset;
      const lo = lowOf(view, at, column.bytes);
      setField(
        rows.columns[index + 2],
        row,
        column,
        lo,
        column.bytes === 8 ? view.getUint32(at + 4, true) : 0,
      );
      if (column.type === FieldType.STRING_REF) this.texts?.want(lo);
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

  static async create(to: Destination, trace: Trace, units: readonly CountedUnit[]): Promise<EventsSink> {
    const tables = new Map<number, EventTable>();
    for (const { unit, cycles } of units) {
      const cores = new PartitionNames(unit.name);
      for (const def of unit.events)
        tables.set(def.eventTypeId, await EventTable.create(to, trace, cores.of(def), def, cycles));
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
