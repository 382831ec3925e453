/** The table `gaps`: one row for each damaged segment, which the other tables lack. */
import type { Trace } from '../../reader/index.js';
import type { Connection } from '../engine/duckdb.js';
import type { Gap } from '../raw/gaps.js';

/** The query whose rows are the table. */
export async function gapsQuery(
  connection: Connection,
  trace: Trace,
  periodPs: bigint,
  gaps: readonly Gap[],
): Promise<string> {
  await connection.run(
    'CREATE OR REPLACE TABLE gap_rows (segment BIGINT, from_cycle BIGINT, to_cycle BIGINT, code VARCHAR, detail VARCHAR)',
  );
  const appender = await connection.createAppender('gap_rows');
  for (const { segment, error } of gaps) {
    const place = await trace.segment(segment).catch(() => null);
    appender.appendBigInt(BigInt(segment));
    for (const time of [place?.timeStartPs, place?.timeEndPs]) {
      if (time === undefined) appender.appendNull();
      else appender.appendBigInt(BigInt.asIntN(64, time / periodPs));
    }
    appender.appendVarchar(error.code);
    appender.appendVarchar(error.detail);
    appender.endRow();
  }
  appender.closeSync();
  return 'SELECT * FROM gap_rows';
}
