/** The table `counters`: one row for each counter and window. */
import type { Trace } from '../../reader/index.js';
import { type CpuCore, counters } from '../../semantics/cpu/index.js';
import type { Connection } from '../engine/duckdb.js';

const MAX_POINTS = 65_536;

/** The query whose rows are the table; null: there are none. */
export async function writeCounters(
  connection: Connection,
  trace: Trace,
  core: CpuCore,
  window: number,
): Promise<string | null> {
  if (core.counters.length === 0 || core.periodPs === 0n || trace.totalTimePs === 0n) return null;
  const cycles = Number(trace.totalTimePs / core.periodPs) + 1;
  const points = Math.min(MAX_POINTS, Math.max(1, Math.ceil(cycles / window)));
  await connection.run(
    'CREATE TABLE counter_rows (counter VARCHAR, from_cycle BIGINT, to_cycle BIGINT, delta BIGINT, "value" BIGINT)',
  );
  const appender = await connection.createAppender('counter_rows');
  for (const report of await counters(trace, { core, points })) {
    for (const point of report.series ?? []) {
      appender.appendVarchar(report.label);
      appender.appendBigInt(point.fromPs / core.periodPs);
      appender.appendBigInt((point.toPs + core.periodPs - 1n) / core.periodPs);
      appender.appendBigInt(BigInt.asIntN(64, point.delta));
      appender.appendBigInt(BigInt.asIntN(64, point.value));
      appender.endRow();
    }
  }
  appender.closeSync();
  return 'SELECT * FROM counter_rows ORDER BY from_cycle, counter';
}
