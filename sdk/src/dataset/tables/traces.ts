/** The table `traces`: one row that says what the trace of a core is. */
import type { Trace } from '../../reader/index.js';
import { BlockEnd, type CpuCore } from '../../semantics/cpu/index.js';
import { type Connection, named, quoted } from '../engine/duckdb.js';
import type { InstructionsTable } from './instructions.js';

/** The query whose row is the table. Tags are columns. */
export async function writeTraceRow(
  connection: Connection,
  trace: Trace,
  core: CpuCore,
  file: string,
  instructions: InstructionsTable | null,
  tags: Readonly<Record<string, string>>,
): Promise<string> {
  const cycles = core.periodPs > 0n ? (trace.totalTimePs / core.periodPs + 1n).toString() : 'NULL';
  const ends = instructions?.ends;
  const count = (end: BlockEnd): string => (ends ? String(ends[end]) : 'NULL');
  const dut = trace.dut.map(([key, value]) => `{k: ${quoted(key)}, v: ${quoted(value)}}`).join(', ');
  const columns = [
    `${quoted(file)} AS file`,
    `${core.isa === undefined ? 'NULL' : quoted(core.isa)}::VARCHAR AS isa`,
    `${core.periodPs > 0n ? core.periodPs : 'NULL'}::BIGINT AS period_ps`,
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
