/** The table `stalls`: one row for each stall event. */
import type { Trace } from '../../reader/index.js';
import type { CpuCore } from '../../semantics/cpu/index.js';
import type { Connection, Engine } from '../engine/duckdb.js';
import { TableWriter } from '../engine/table-writer.js';
import { caseOf } from './instructions.js';

/** The query whose rows are the table; null: the core reports no stalls. */
export async function writeStalls(
  engine: Engine,
  connection: Connection,
  trace: Trace,
  core: CpuCore,
): Promise<string | null> {
  const event = core.events.get('stall');
  if (!event) return null;
  const rows = await TableWriter.create(engine, connection, 'stall_rows', ['cycle', 'reason']);
  const [cycle, reason] = rows.columns;
  const period = core.periodPs > 0n ? core.periodPs : 1n;
  for await (const stall of trace.events(undefined, undefined, [event.def.eventTypeId])) {
    cycle.set(rows.row, Number(stall.timePs / period));
    const value = stall.field('reason');
    if (value === undefined || value === null) reason.setNull(rows.row);
    else reason.set(rows.row, Number(value));
    rows.endRow();
  }
  rows.close();
  const labels = event.fields.get('reason')?.labels ?? null;
  return `SELECT cycle, ${caseOf('reason', labels)} AS reason FROM stall_rows`;
}
