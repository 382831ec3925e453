/** The table `traces`: one row that says what the trace of a core, a network or another scope is. */
import type { Trace } from '../../reader/index.js';
import { BlockEnd } from '../../semantics/cpu/index.js';
import { type Connection, named, quoted } from '../engine/duckdb.js';
import type { Unit } from '../raw/units.js';

/** The query whose row is the table. Tags are columns. */
export async function writeTraceRow(
  connection: Connection,
  trace: Trace,
  { kind, core, periodPs, hasCycles }: Unit,
  file: string,
  ends: readonly number[] | null,
  tags: Readonly<Record<string, string>>,
): Promise<string> {
  const cycles = hasCycles ? (trace.totalTimePs / periodPs + 1n).toString() : 'NULL';
  const count = (end: BlockEnd): string => (ends ? String(ends[end]) : 'NULL');
  const dut = trace.dut.map(([key, value]) => `{k: ${quoted(key)}, v: ${quoted(value)}}`).join(', ');
  const columns = [
    `${quoted(file)} AS file`,
    `${quoted(kind)} AS kind`,
    `${core?.isa === undefined ? 'NULL' : quoted(core.isa)}::VARCHAR AS isa`,
    `${hasCycles ? periodPs : 'NULL'}::BIGINT AS period_ps`,
    `${trace.totalTimePs}::BIGINT AS total_time_ps`,
    `${cycles}::BIGINT AS cycles`,
    `${count(BlockEnd.RETIRED)}::BIGINT AS retired`,
    `${count(BlockEnd.SQUASHED)}::BIGINT AS squashed`,
    `${count(BlockEnd.LOST)}::BIGINT AS lost`,
    `${count(BlockEnd.IN_FLIGHT)}::BIGINT AS in_flight`,
    `${trace.isComplete} AS is_complete`,
    `map_from_entries([${dut}]::STRUCT(k VARCHAR, v VARCHAR)[]) AS dut`,
    ...Object.entries(tags).map(([key, value]) => `${quoted(value)} AS ${named(key)}`),
  ];
  const query = `SELECT ${columns.join(', ')}`;
  await connection.prepare(query); // a wrong name is an error before anything is written
  return query;
}
