/** The table `traces`: one row that says what the trace of a core, a network or another scope is. */
import { UscopeError } from '../../base/errors.js';
import { SessionStatus } from '../../format/session-chunk.js';
import type { Trace } from '../../reader/index.js';
import { BlockEnd } from '../../semantics/blocks/block.js';
import { ColumnNames, plainName } from '../files/names.js';
import { type Destination, PartFiles } from '../files/part-files.js';
import { BooleanColumn, type Column, NumberColumn, TextColumn, WordColumn } from '../parquet/columns.js';
import { MapColumn } from '../parquet/list-column.js';
import type { Unit } from '../raw/units.js';

const STATUS_NAMES: Readonly<Record<SessionStatus, string>> = {
  [SessionStatus.OPEN]: 'unfinished',
  [SessionStatus.CLOSED]: 'closed',
  [SessionStatus.CLIENT_LOST]: 'client_lost',
  [SessionStatus.RECOVERED]: 'recovered',
  [SessionStatus.RING]: 'ring',
};

/** The columns of a table's only row. */
class Row {
  readonly columns: Column[] = [];
  private readonly values: (() => void)[] = [];

  /** Sets the values: the table has begun the row. */
  fill(): void {
    for (const set of this.values) set();
  }

  text(name: string, value: string | null | undefined): void {
    const column = new TextColumn(name);
    this.add(column, () => column.setText(0, value ?? null));
  }

  number(name: string, value: number | null | undefined): void {
    const column = new NumberColumn(name);
    this.add(column, () => column.set(0, value ?? Number.NaN));
  }

  /** Of 64 bits. */
  word(name: string, value: bigint | null | undefined): void {
    const column = new WordColumn(name);
    this.add(column, () => {
      if (value === null || value === undefined) column.setNull(0);
      else column.setWords(0, Number(value & 0xffff_ffffn), Number((value >> 32n) & 0xffff_ffffn));
    });
  }

  truth(name: string, value: boolean): void {
    const column = new BooleanColumn(name);
    this.add(column, () => column.set(0, Number(value)));
  }

  map(name: string, entries: Iterable<readonly [string, string]>): void {
    const column = new MapColumn(name);
    this.add(column, () => column.setMap(0, entries));
  }

  private add(column: Column, set: () => void): void {
    if (this.columns.some(({ name }) => name === column.name))
      throw new UscopeError(
        'DATASET_NAME',
        `the table traces would have two columns "${column.name}": give the tag another name`,
      );
    this.columns.push(column);
    this.values.push(set);
  }
}

/** Tags and DUT properties are columns, and maps too: questions about any run may name those. @throws UscopeError DATASET_NAME for a tag with the name of a column */
export async function writeTraceRow(
  to: Destination,
  trace: Trace,
  { name, kind, core, periodPs, hasCycles }: Unit,
  file: string,
  ends: readonly number[] | null,
  tags: Readonly<Record<string, string>>,
): Promise<void> {
  const row = new Row();
  const count = (end: BlockEnd): number | null => ends?.[end] ?? null;
  row.text('file', file);
  row.text('kind', kind);
  row.text('isa', core?.isa);
  row.word('period_ps', hasCycles ? periodPs : null);
  row.word('total_time_ps', trace.totalTimePs);
  row.word('cycles', hasCycles ? trace.totalTimePs / periodPs + 1n : null);
  row.number('retired', count(BlockEnd.RETIRED));
  row.number('squashed', count(BlockEnd.SQUASHED));
  row.number('lost', count(BlockEnd.LOST));
  row.number('in_flight', count(BlockEnd.IN_FLIGHT));
  row.truth('is_complete', trace.isComplete);
  addSession(row, trace);
  row.map('dut', trace.dut);
  row.map('tags', Object.entries(tags));
  addDut(row, trace.dut);
  for (const [key, value] of Object.entries(tags)) row.text(key, value);
  const files = new PartFiles(to, { table: 'traces', core: name }, row.columns);
  files.rows.begin();
  row.fill();
  files.rows.endRow();
  await files.finish();
}

/** What the table at the end of `uscope run` says of the trace; NULL where no session wrote it. */
function addSession(row: Row, { session }: Trace): void {
  const id = session?.runId.some((byte) => byte !== 0) ? Buffer.from(session.runId).toString('hex') : null;
  row.text('run_id', id);
  row.text('status', session ? (STATUS_NAMES[session.status] ?? String(session.status)) : null);
  row.word('started_ms', session?.startTimeMs);
  row.word('ended_ms', session && session.endTimeMs > 0n ? session.endTimeMs : null);
  row.word('lost_items', session?.lost);
  row.word('rejected_items', session?.rejected);
}

/** No other column begins as they do. */
function addDut(row: Row, dut: Trace['dut']): void {
  const names = new ColumnNames(['dut']);
  for (const [key, value] of dut) row.text(names.add(`dut_${plainName(key).replace(/^dut_/, '')}`), value);
}
