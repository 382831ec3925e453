/** The table `traces`: one row that says what the trace of a core, a network or another scope is. */
import { SessionStatus } from '../../format/session-chunk.js';
import type { Trace } from '../../reader/index.js';
import { BlockEnd } from '../../semantics/cpu/index.js';
import { type Connection, named, quoted } from '../engine/duckdb.js';
import { ColumnNames, plainName } from '../files/names.js';
import type { Unit } from '../raw/units.js';

const STATUS_NAMES: Readonly<Record<SessionStatus, string>> = {
  [SessionStatus.OPEN]: 'unfinished',
  [SessionStatus.CLOSED]: 'closed',
  [SessionStatus.CLIENT_LOST]: 'client_lost',
  [SessionStatus.RECOVERED]: 'recovered',
  [SessionStatus.RING]: 'ring',
};

/** The query whose row is the table. Tags and DUT properties are columns, and maps too: questions about any run may name those. */
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
    ...sessionColumns(trace),
    `${mapOf(trace.dut)} AS dut`,
    `${mapOf(Object.entries(tags))} AS tags`,
    ...dutColumns(trace.dut),
    ...Object.entries(tags).map(([key, value]) => `${quoted(value)} AS ${named(key)}`),
  ];
  const query = `SELECT ${columns.join(', ')}`;
  await connection.prepare(query); // a wrong name is an error before anything is written
  return query;
}

/** What the table at the end of `uscope run` says of the trace; NULL where no session wrote it. */
function sessionColumns({ session }: Trace): string[] {
  const id = session?.runId.some((byte) => byte !== 0) ? Buffer.from(session.runId).toString('hex') : null;
  const number = (value: bigint | undefined): string => `${value ?? 'NULL'}::BIGINT`;
  return [
    `${id === null ? 'NULL' : quoted(id)}::VARCHAR AS run_id`,
    `${session ? quoted(STATUS_NAMES[session.status] ?? String(session.status)) : 'NULL'}::VARCHAR AS status`,
    `${number(session?.startTimeMs)} AS started_ms`,
    `${number(session && session.endTimeMs > 0n ? session.endTimeMs : undefined)} AS ended_ms`,
    `${number(session?.lost)} AS lost_items`,
    `${number(session?.rejected)} AS rejected_items`,
  ];
}

/** No other column begins as they do. */
function dutColumns(dut: Trace['dut']): string[] {
  const names = new ColumnNames(['dut']);
  return dut.map(([key, value]) => {
    const column = names.add(`dut_${plainName(key).replace(/^dut_/, '')}`);
    return `${quoted(value)} AS ${named(column)}`;
  });
}

function mapOf(entries: Iterable<readonly [string, string]>): string {
  const pairs = [...new Map(entries)].map(([key, value]) => `{k: ${quoted(key)}, v: ${quoted(value)}}`);
  return `map_from_entries([${pairs.join(', ')}]::STRUCT(k VARCHAR, v VARCHAR)[])`;
}
